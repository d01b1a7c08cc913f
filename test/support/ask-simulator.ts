import { createSimulator } from '../../simulator/simulator.ts';
import { streamOf } from '../../src/core/byte-stream.ts';
import { createTestClock } from './start-simulator.ts';

const { handle } = createSimulator({}, { clock: createTestClock(), setOutage: () => undefined });

/** Posts to a simulator without a server, with a key for every vendor. @returns the body. @throws Error for any status but 200. */
export async function askSimulator(path: string, body: object): Promise<string> {
	const bytes = Buffer.from(JSON.stringify(body));
	const response = await handle({
		id: 'r1',
		method: 'POST',
		path,
		query: '',
		headers: { authorization: 'Bearer k', 'api-key': 'k', 'x-api-key': 'k', 'x-goog-api-key': 'k', 'anthropic-version': '2023-06-01' },
		body: streamOf([bytes]),
		announcedLength: bytes.length,
		peerAddress: '127.0.0.1',
		arrivedMs: 0,
		onClientDisconnect: () => undefined,
	});
	if (response.status !== 200 || typeof response.body !== 'string') {
		throw new Error(`answered ${response.status}: ${JSON.stringify(response.body)}`);
	}
	return response.body;
}
