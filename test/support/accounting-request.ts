/** Inference requests by the hundred, each with its client's observations; clients can disconnect at given points. */
import { Agent, type IncomingMessage, request as startRequest } from 'node:http';

export interface RequestPlan {
	readonly format: 'chat' | 'completions' | 'embeddings' | 'messages' | 'responses';
	readonly model: string;
	readonly isStreaming?: boolean;
	/** Question; ignored if `extra` contains another one. */
	readonly text?: string;
	readonly capTokens?: number;
	/** Additional members of the body. */
	readonly extra?: Readonly<Record<string, unknown>>;
	/** Delay after which the client disconnects. */
	readonly disconnectAfterMs?: number;
	/** Condition on the received text, upon which the client disconnects. */
	readonly disconnectWhen?: (text: string) => boolean;
}

export interface Seen {
	readonly plan: RequestPlan;
	/** Status; 0 without a response. */
	readonly status: number;
	/** Request id of the response, if there was one. */
	readonly requestId: string | undefined;
	readonly upstreamId: string | undefined;
	readonly headers: Readonly<Record<string, string | string[] | undefined>>;
	readonly text: string;
	/** True if the response's last byte arrived. */
	readonly isWhole: boolean;
	/** True if the client disconnected before that. */
	readonly hasDisconnected: boolean;
	readonly durationMs: number;
	/** Time of the disconnect or the end of the response, by `performance.now()`. */
	readonly endedMs: number;
}

export interface Caller {
	readonly token: string;
	readonly agent: Agent;
}

export function createCaller(token: string): Caller {
	return { token, agent: new Agent({ keepAlive: true }) };
}

const paths: Readonly<Record<RequestPlan['format'], string>> = {
	chat: '/v1/chat/completions',
	completions: '/v1/completions',
	embeddings: '/v1/embeddings',
	messages: '/v1/messages',
	responses: '/v1/responses',
};

/** Sends a request. Never rejects. */
export function callGateway(url: string, caller: Caller, plan: RequestPlan): Promise<Seen> {
	const startedMs = performance.now();
	return new Promise((resolve) => {
		let response: IncomingMessage | undefined;
		let text = '';
		let hasDisconnected = false;
		let timer: NodeJS.Timeout | undefined;
		const finish = (isWhole: boolean): void => {
			clearTimeout(timer);
			const endedMs = performance.now();
			const headers = response?.headers ?? {};
			resolve({
				plan,
				status: response?.statusCode ?? 0,
				requestId: fieldOf(headers['x-request-id']),
				upstreamId: fieldOf(headers['x-gateway-upstream-request-id']),
				headers,
				text,
				isWhole: isWhole && !hasDisconnected,
				hasDisconnected,
				durationMs: endedMs - startedMs,
				endedMs,
			});
		};
		const request = startRequest(`${url}${paths[plan.format]}`, {
			method: 'POST',
			agent: caller.agent,
			headers: { authorization: `Bearer ${caller.token}`, 'content-type': 'application/json' },
		});
		const leave = (): void => {
			if (hasDisconnected) return;
			hasDisconnected = true;
			request.destroy();
			finish(false);
		};
		request.on('error', () => finish(false));
		request.on('response', (incoming) => {
			response = incoming;
			incoming.setEncoding('utf8');
			incoming.on('data', (piece: string) => {
				if (hasDisconnected) return;
				text += piece;
				if (plan.disconnectWhen?.(text) === true) leave();
			});
			incoming.on('end', () => finish(true));
			incoming.on('error', () => finish(false));
			incoming.on('close', () => finish(false));
		});
		if (plan.disconnectAfterMs !== undefined) timer = setTimeout(leave, plan.disconnectAfterMs);
		request.end(bodyOf(plan));
	});
}

export function bodyOf({ format, model, isStreaming = false, text = 'Say hello.', capTokens = 2000, extra }: RequestPlan): string {
	if (format === 'embeddings') return JSON.stringify({ model, input: text, ...extra });
	if (format === 'completions') return JSON.stringify({ model, max_tokens: capTokens, stream: isStreaming, prompt: text, ...extra });
	if (format === 'responses') return JSON.stringify({ model, max_output_tokens: capTokens, stream: isStreaming, input: text, ...extra });
	const cap = format === 'chat' && /^(?:o\d|gpt-5)/.test(model) ? 'max_completion_tokens' : 'max_tokens';
	return JSON.stringify({ model, [cap]: capTokens, stream: isStreaming, messages: [{ role: 'user', content: text }], ...extra });
}

/** Text that a client of a stream could have displayed so far. */
export function deliveredText(format: RequestPlan['format'], stream: string): string {
	let text = '';
	for (const line of stream.split('\n')) {
		if (!line.startsWith('data: {') || !line.endsWith('}')) continue;
		const event = JSON.parse(line.slice('data: '.length)) as {
			choices?: { delta?: { content?: string | null } }[];
			delta?: { text?: string } | string;
		};
		const { delta } = event;
		text += (format === 'chat' ? event.choices?.[0]?.delta?.content : typeof delta === 'string' ? delta : delta?.text) ?? '';
	}
	return text;
}

function fieldOf(value: string | string[] | undefined): string | undefined {
	return Array.isArray(value) ? value[0] : value;
}
