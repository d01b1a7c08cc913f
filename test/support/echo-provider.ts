/** Provider that responds with the last user message, and records each request unchanged. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface ObservedRequest {
	readonly line: string;
	/** Names and values alternately. */
	readonly rawHeaders: readonly string[];
	readonly body: string;
}

export interface EchoProvider {
	readonly origin: string;
	readonly seen: ObservedRequest[];
	close(): Promise<void>;
}

interface ChatRequest {
	readonly messages: readonly { readonly content: string }[];
}

/** Serves chat completions and messages without streaming. Closed at the end of the test. */
export async function startEchoProvider(): Promise<EchoProvider> {
	const seen: ObservedRequest[] = [];
	const server = createServer((request, response) => {
		const pieces: Buffer[] = [];
		request.on('data', (piece: Buffer) => pieces.push(piece));
		request.on('end', () => {
			const body = Buffer.concat(pieces).toString();
			seen.push({ line: `${request.method} ${request.url}`, rawHeaders: request.rawHeaders, body });
			const text = (JSON.parse(body) as ChatRequest).messages.at(-1)?.content;
			response.writeHead(200, { 'content-type': 'application/json' });
			response.end(JSON.stringify(request.url?.includes('/messages') === true ? messageOf(text) : completionOf(text)));
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const close = async (): Promise<void> => {
		server.closeAllConnections();
		await new Promise((resolve) => server.close(resolve));
	};
	onTestFinished(close);
	return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, close };
}

function completionOf(content: unknown): object {
	return {
		id: 'chatcmpl-1',
		object: 'chat.completion',
		created: 1,
		model: 'echo',
		choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
		usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
	};
}

function messageOf(text: unknown): object {
	return {
		id: 'msg_1',
		type: 'message',
		role: 'assistant',
		model: 'echo',
		content: [{ type: 'text', text }],
		stop_reason: 'end_turn',
		stop_sequence: null,
		usage: { input_tokens: 1, output_tokens: 1 },
	};
}
