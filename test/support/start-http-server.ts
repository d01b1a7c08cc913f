/** Product's HTTP server in front of a test's handler, on a free port. */
import type { Handler } from '../../src/core/handler.ts';
import {
	createHttpServer,
	defaultHttpServerLimits,
	type HttpServer,
	type HttpServerOptions,
} from '../../src/io/http1/server/http-server.ts';
import { createRequestIds } from '../../src/io/request-ids.ts';
import { systemClock } from '../../src/io/system-clock.ts';
import { createRecordingLog, type RecordingLog } from './recording-log.ts';

export interface StartedHttpServer {
	readonly server: HttpServer;
	readonly port: number;
	readonly origin: string;
	readonly log: RecordingLog;
	/** Fields of the request log lines so far. */
	requestLines(): Record<string, unknown>[];
}

export type HttpServerOverrides = Partial<Omit<HttpServerOptions, 'limits'>> & { limits?: Partial<HttpServerOptions['limits']> };

/** Defaults that a test changes to run with the other request parser. */
export const serverDefaults = { hasFastPath: true };

export async function startHttpServer(handler: Handler, overrides: HttpServerOverrides = {}): Promise<StartedHttpServer> {
	const log = createRecordingLog();
	const clock = overrides.clock ?? systemClock;
	const server = createHttpServer(handler, {
		listen: { host: '127.0.0.1', port: 0 },
		sweepMs: 20,
		clock,
		log,
		newRequestId: createRequestIds(clock),
		renderRejection: (rejection) => ({
			status: rejection.status,
			headers: { 'content-type': 'text/plain' },
			body: `${rejection.code}: ${rejection.message}`,
			record: { code: rejection.code },
		}),
		...serverDefaults,
		...overrides,
		limits: { ...defaultHttpServerLimits, ...overrides.limits },
	});
	const { port } = await server.start();
	return {
		server,
		port,
		origin: `http://127.0.0.1:${port}`,
		log,
		requestLines: () => log.lines.filter((line) => line.event === 'request').map((line) => ({ ...line.fields, level: line.level })),
	};
}
