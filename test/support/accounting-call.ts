/** Inference calls by the hundred, each with what its client saw of it; clients that leave when they are told to. */
import { Agent, type IncomingMessage, request as startRequest } from 'node:http';

export interface CallPlan {
	readonly format: 'chat' | 'messages';
	readonly model: string;
	readonly isStreamed?: boolean;
	/** The question; ignored where `messages` is in `extra`. */
	readonly text?: string;
	readonly capTokens?: number;
	/** Further members of the body. */
	readonly extra?: Readonly<Record<string, unknown>>;
	/** The client leaves so long after it began. */
	readonly leaveAfterMs?: number;
	/** The client leaves as soon as this is true of the text that has arrived. */
	readonly leaveWhen?: (text: string) => boolean;
}

export interface Seen {
	readonly plan: CallPlan;
	/** 0: no answer. */
	readonly status: number;
	/** Of the answer, where there was one. */
	readonly requestId: string | undefined;
	readonly upstreamId: string | undefined;
	readonly headers: Readonly<Record<string, string | string[] | undefined>>;
	readonly text: string;
	/** The answer's last byte arrived. */
	readonly isWhole: boolean;
	/** The client left before that. */
	readonly hasLeft: boolean;
	readonly durationMs: number;
	/** When the client left or the answer was over, by `performance.now()`. */
	readonly endedMs: number;
}

export interface Caller {
	readonly token: string;
	readonly agent: Agent;
}

export function createCaller(token: string): Caller {
	return { token, agent: new Agent({ keepAlive: true }) };
}

/** Never rejects. */
export function callGateway(url: string, caller: Caller, plan: CallPlan): Promise<Seen> {
	const startedMs = performance.now();
	return new Promise((resolve) => {
		let response: IncomingMessage | undefined;
		let text = '';
		let hasLeft = false;
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
				isWhole: isWhole && !hasLeft,
				hasLeft,
				durationMs: endedMs - startedMs,
				endedMs,
			});
		};
		const request = startRequest(`${url}${plan.format === 'chat' ? '/v1/chat/completions' : '/v1/messages'}`, {
			method: 'POST',
			agent: caller.agent,
			headers: { authorization: `Bearer ${caller.token}`, 'content-type': 'application/json' },
		});
		const leave = (): void => {
			if (hasLeft) return;
			hasLeft = true;
			request.destroy();
			finish(false);
		};
		request.on('error', () => finish(false));
		request.on('response', (incoming) => {
			response = incoming;
			incoming.setEncoding('utf8');
			incoming.on('data', (piece: string) => {
				if (hasLeft) return;
				text += piece;
				if (plan.leaveWhen?.(text) === true) leave();
			});
			incoming.on('end', () => finish(true));
			incoming.on('error', () => finish(false));
			incoming.on('close', () => finish(false));
		});
		if (plan.leaveAfterMs !== undefined) timer = setTimeout(leave, plan.leaveAfterMs);
		request.end(bodyOf(plan));
	});
}

export function bodyOf({ format, model, isStreamed = false, text = 'Say hello.', capTokens = 2000, extra }: CallPlan): string {
	const cap = format === 'chat' && /^(?:o\d|gpt-5)/.test(model) ? 'max_completion_tokens' : 'max_tokens';
	return JSON.stringify({ model, [cap]: capTokens, stream: isStreamed, messages: [{ role: 'user', content: text }], ...extra });
}

/** The text that a client of a stream could have shown so far. */
export function deliveredText(format: CallPlan['format'], stream: string): string {
	let text = '';
	for (const line of stream.split('\n')) {
		if (!line.startsWith('data: {') || !line.endsWith('}')) continue;
		const event = JSON.parse(line.slice('data: '.length)) as {
			choices?: { delta?: { content?: string | null } }[];
			delta?: { text?: string };
		};
		text += (format === 'chat' ? event.choices?.[0]?.delta?.content : event.delta?.text) ?? '';
	}
	return text;
}

function fieldOf(value: string | string[] | undefined): string | undefined {
	return Array.isArray(value) ? value[0] : value;
}
