/** Provider of embeddings and legacy completions in the formats of OpenAI and Gemini, on loopback. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** First numbers of the vector of each text; 32-bit floats hold them exactly. */
export const vector: readonly number[] = [0.5, -0.5, 0.5, -0.5];

export interface EmbeddingsProvider {
	readonly origin: string;
	/** Received requests: method, path and parsed body. */
	readonly seen: { readonly path: string; readonly body: Record<string, unknown> }[];
	close(): Promise<void>;
}

/** Below `/float`, `encoding_format` is ignored. */
export async function startEmbeddingsProvider(): Promise<EmbeddingsProvider> {
	const seen: EmbeddingsProvider['seen'] = [];
	const server = createServer((request, response) => {
		const pieces: Buffer[] = [];
		request.on('data', (piece: Buffer) => pieces.push(piece));
		request.on('end', () => {
			const body = JSON.parse(Buffer.concat(pieces).toString()) as Record<string, unknown>;
			const path = request.url ?? '';
			seen.push({ path, body });
			const isStream = body['stream'] === true;
			response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
			response.end(isStream ? completionEvents : JSON.stringify(responseTo(path, body)));
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return {
		origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		seen,
		async close() {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}

function responseTo(path: string, body: Record<string, unknown>): object {
	if (path.includes(':batchEmbedContents')) return { embeddings: (body['requests'] as unknown[]).map(() => ({ values: vector })) };
	if (path.includes('/completions')) return completion('Hello there.', 'stop', { usage: completionUsage });
	const { input, encoding_format: format } = body;
	const texts = Array.isArray(input) ? input : [input];
	const isPacked = format === 'base64' && !path.startsWith('/float');
	const embedding = isPacked ? Buffer.from(Float32Array.from(vector).buffer).toString('base64') : vector;
	const data = texts.map((_, index) => ({ object: 'embedding', index, embedding }));
	return { object: 'list', data, model: body['model'], usage: { prompt_tokens: 3 * texts.length, total_tokens: 3 * texts.length } };
}

const completionUsage = { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 };

function completion(text: string, finish_reason: string | null, more: object = {}): object {
	return { id: 'cmpl-1', object: 'text_completion', created: 1, choices: [{ text, index: 0, logprobs: null, finish_reason }], ...more };
}

const completionEvents = [
	completion('Hello ', null),
	completion('there.', 'stop'),
	{ ...completion('', null), choices: [], usage: completionUsage },
]
	.map((event) => `data: ${JSON.stringify(event)}\n\n`)
	.concat('data: [DONE]\n\n')
	.join('');
