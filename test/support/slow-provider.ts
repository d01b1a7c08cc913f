import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface LeisurelyProvider {
	readonly url: string;
	/** Number of requests received. */
	calls: number;
}

/** Provider of messages that uses almost no processor time. @param respondsAfterMs undefined: never. */
export async function startLeisurelyProvider(respondsAfterMs: number | undefined): Promise<LeisurelyProvider> {
	const content = [{ type: 'text', text: 'ok' }];
	const usage = { input_tokens: 1, output_tokens: 1 };
	const said = { id: 'm', type: 'message', role: 'assistant', model: 'x', content, stop_reason: 'end_turn', stop_sequence: null, usage };
	const httpResponse = JSON.stringify(said);
	const server = createServer((incoming, response) => {
		provider.calls += 1;
		incoming.resume();
		if (respondsAfterMs === undefined) return;
		const headers = { 'content-type': 'application/json', 'content-length': httpResponse.length };
		setTimeout(() => response.writeHead(200, headers).end(httpResponse), respondsAfterMs);
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	const provider = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls: 0 };
	return provider;
}
