/** Server in front of a test's handler and raw clients of it, which are closed at the end of the test. */
import { onTestFinished } from 'vitest';
import type { Handler } from '../../src/core/handler.ts';
import { RawClient } from './raw-client.ts';
import { type HttpServerOverrides, type StartedHttpServer, startHttpServer } from './start-http-server.ts';

export async function serve(handler: Handler, overrides?: HttpServerOverrides): Promise<StartedHttpServer> {
	const started = await startHttpServer(handler, overrides);
	onTestFinished(() => started.server.destroy());
	return started;
}

export function connectRaw({ port }: Pick<StartedHttpServer, 'port'>): RawClient {
	const raw = new RawClient(port);
	onTestFinished(() => raw.destroy());
	return raw;
}
