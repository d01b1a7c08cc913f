/** Provider faults under translation: clients get a complete response or an error in their own format, and never a false end. */

import { beforeAll, describe, expect, it } from 'vitest';
import { compatibleGemini, compatibleServer } from './compatible-providers.ts';
import { describeOwn, send, useSubject } from './subject.ts';

const pairs = [
	['chat', 'claude-sonnet-4-5'],
	['chat', 'gemini-2.5-flash'],
	['chat', 'compat/gemini-2.5-flash'],
	['messages', 'gpt-4o'],
	['messages', 'provider_d/gpt-4o'],
	['messages', 'gemini-2.5-flash'],
	['messages', 'compat/gemini-2.5-flash'],
	['responses', 'claude-sonnet-4-5'],
	['responses', 'gemini-2.5-flash'],
	['responses', 'compat/gemini-2.5-flash'],
	['responses', 'server/gpt-4o'],
	['chat', 'gpt-5-pro'],
	['messages', 'gpt-5-pro'],
] as const;

type Caller = 'chat' | 'messages' | 'responses';
const paths: Readonly<Record<Caller, string>> = {
	chat: '/v1/chat/completions',
	messages: '/v1/messages',
	responses: '/v1/responses',
};

interface Reported {
	readonly status: number;
	readonly headers: Headers;
	/** End of a stream. */
	readonly ending: 'done' | 'error' | 'cut' | 'whole';
	readonly text: string;
}

const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const toolsOf: Readonly<Record<Caller, unknown>> = {
	chat: [{ type: 'function', function: { name: 'get_weather', parameters: schema } }],
	messages: [{ name: 'get_weather', input_schema: schema }],
	responses: [{ type: 'function', name: 'get_weather', parameters: schema }],
};

/** Finish reasons and texts of a model or a filter that stopped. */
const reasonsOf: Readonly<Record<Caller, RegExp>> = {
	chat: /"finish_reason":"content_filter"|"refusal":"[^"]/,
	messages: /"stop_reason":"refusal"/,
	responses: /"reason":"content_filter"|"refusal":"[^"]/,
};

/** Faults in the middle of streams. */
const breaks = ['stall-2', 'cut-after-2', 'cut-mid-event-2', 'end-after-2', 'error-mid-stream-2', 'malformed-json'];
/** Faults without a response, and the status by the contract's table. */
const failures: readonly (readonly [fault: string, status: number])[] = [
	['html-200', 502],
	['wrong-content-type', 502],
	['redirect', 502],
	['reset', 502],
	['hang', 504],
	['500', 502],
	['503', 502],
	['401', 502],
	['429', 429],
	['429-quota', 429],
];

const otherFaults = [
	'empty',
	'missing-index',
	'empty-ids',
	'tokens-100-duplicate-message-start',
	'usage-missing',
	'refusal',
	'content-filter',
];
/** Names the vendor's model, because the gateway recognizes a model that only the Responses API serves by its whole name. */
const responsesOnly = Object.fromEntries(
	[...breaks.map((fault) => `tokens-100-${fault}`), ...failures.map(([fault]) => fault), ...otherFaults].map((fault) => [
		`gpt-5-pro-sim-${fault}`,
		{ model: 'gpt-5-pro' },
	]),
);

describeOwn('faults on every pair of formats', 'our simulator', () => {
	const subject = useSubject((simulatorUrl) => ({
		gateway: { timeouts: { connect_ms: 1000, first_byte_ms: 1500, idle_ms: 1500, total_ms: 4000 } },
		providers: {
			compat: compatibleGemini(simulatorUrl),
			provider_b: { model_capabilities: responsesOnly },
			server: compatibleServer(simulatorUrl),
		},
	}));
	/** Responses that arrive only after a wait, requested at the same time. */
	const silent = new Map<string, Promise<Reported>>();
	beforeAll(async () => {
		await subject.current.simulator.change({ interval_ms: 0, first_byte_ms: 0 });
		for (const [caller, base] of pairs) {
			for (const fault of ['tokens-100-stall-2', 'hang']) {
				for (const stream of [true, false]) {
					const result = ask(caller, `${base}-sim-${fault}`, { stream });
					// Avoids an unhandled rejection; the test that awaits the promise reports it.
					result.catch(() => undefined);
					silent.set(keyOf(caller, `${base}-sim-${fault}`, stream), result);
				}
			}
		}
	});
	const requestFault = (caller: Caller, model: string, stream: boolean): Promise<Reported> =>
		silent.get(keyOf(caller, model, stream)) ?? ask(caller, model, { stream });

	async function ask(caller: Caller, model: string, more: object): Promise<Reported> {
		const content = 'What is the weather in Paris and Rome?';
		const asked =
			caller === 'responses' ? { max_output_tokens: 2000, input: content } : { max_tokens: 2000, messages: [{ role: 'user', content }] };
		const body = { model, ...asked, ...more };
		const response = await send(subject.current, paths[caller], { body });
		const text = await response.text();
		const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
		return { status: response.status, headers: response.headers, ending: isStream ? endingOf(caller, text) : 'whole', text };
	}

	describe.concurrent.each(pairs)('%s to %s', (caller, base) => {
		it.each(breaks)('%s', async (fault) => {
			const streamed = await requestFault(caller, `${base}-sim-tokens-100-${fault}`, true);
			expect([streamed.status, streamed.ending, streamed.text]).toEqual([200, 'error', expect.anything()]);
			const whole = await requestFault(caller, `${base}-sim-tokens-100-${fault}`, false);
			// Stream faults either do not affect a non-streaming response, or break it.
			if (whole.status === 200) expectResponse(caller, whole.text);
			else expectError(caller, whole);
		});

		it.each(failures)('%s is %i', async (fault, status) => {
			for (const stream of [false, true]) {
				const result = await requestFault(caller, `${base}-sim-${fault}`, stream);
				expect([result.status, result.ending]).toEqual([status, 'whole']);
				if (fault === 'reset') continue;
				expectError(caller, result);
				if (fault === '429-quota' && !base.startsWith('claude')) expect(result.headers.get('x-should-retry')).toBe('false');
				if (caller === 'responses' && status === 429) {
					const { error } = JSON.parse(result.text) as { error: { code: string } };
					expect(error.code).toBe(fault === '429' ? 'rate_limit_exceeded' : 'insufficient_quota');
				}
				if (fault === '429') expect(Number(result.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
			}
		});

		it('an empty response is an error', async () => {
			const whole = await ask(caller, `${base}-sim-empty`, {});
			expect(whole.status).toBe(502);
			const streamed = await ask(caller, `${base}-sim-empty`, { stream: true });
			expect([streamed.status, streamed.ending]).toEqual([200, 'error']);
		});

		it.each(['missing-index', 'empty-ids'])('%s: each tool call has its own index and id nevertheless', async (fault) => {
			for (const stream of [false, true]) {
				const { status, ending, text } = await ask(caller, `${base}-sim-${fault}`, { stream, tools: toolsOf[caller] });
				expect([status, ending]).toEqual([200, stream ? 'done' : 'whole']);
				expect(callsOf(caller, text, stream)).toEqual([{ city: 'Paris' }, { city: 'Rome' }]);
			}
		});

		it('a repeated beginning is not a second response', async () => {
			const { status, ending, text } = await ask(caller, `${base}-sim-tokens-100-duplicate-message-start`, { stream: true });
			expect(status).toBe(200);
			// Only Anthropic's stream distinguishes its beginning from the rest.
			expect(ending).toBe(base.startsWith('claude') ? 'error' : 'done');
			if (caller === 'messages') expect(text.match(/event: message_start/g)).toHaveLength(1);
		});

		it('missing usage does not break the response', async () => {
			const streamed = await ask(caller, `${base}-sim-usage-missing`, {
				stream: true,
				...(caller === 'chat' && { stream_options: { include_usage: true } }),
			});
			expect([streamed.status, streamed.ending]).toEqual([200, 'done']);
			// Input tokens are then the gateway's estimate.
			if (caller === 'messages') expect(streamed.text).toMatch(/"message_delta".*"input_tokens":[1-9]/);
			expectResponse(caller, (await ask(caller, `${base}-sim-usage-missing`, {})).text);
		});

		it.each(['refusal', 'content-filter'])('%s says why nothing was said', async (fault) => {
			// Skipped: Google's compatibility layer returns a `refusal` as plain text.
			if (fault === 'refusal' && base.startsWith('compat')) return;
			const reasons = reasonsOf[caller];
			const whole = await ask(caller, `${base}-sim-${fault}`, {});
			if (whole.status === 400) return;
			expect(whole.text).toMatch(reasons);
			const streamed = await ask(caller, `${base}-sim-${fault}`, { stream: true });
			expect([streamed.ending, streamed.text]).toEqual(['done', expect.stringMatching(reasons)]);
		});
	});
});

function keyOf(caller: Caller, model: string, isStreaming: boolean): string {
	return `${caller} ${model} ${isStreaming}`;
}

/** Beginnings of the last event of a complete stream, and of a failed one. */
const endings: Readonly<Record<Caller, { readonly done: RegExp; readonly error: RegExp }>> = {
	chat: { done: /^data: \[DONE\]$/, error: /^data: \{"error":\{/ },
	messages: { done: /^event: message_stop\n/, error: /^event: error\ndata: \{"type":"error"/ },
	responses: { done: /^event: response\.(?:completed|incomplete)\n/, error: /^event: (?:response\.failed\n|error\n)/ },
};

function endingOf(caller: Caller, text: string): Reported['ending'] {
	const events = text.split('\n\n').filter((event) => event !== '' && !event.startsWith(':'));
	const { done, error } = endings[caller];
	const last = events.at(-1) ?? '';
	const terminals = events.filter((event) => done.test(event)).length;
	if (done.test(last) && terminals === 1) return 'done';
	if (!error.test(last) || terminals > 0) return 'cut';
	// Some clients read only `error`, others only `response.failed`; without events before it there is no response to fail.
	const isNamed = caller !== 'responses' || events.filter((event) => event.startsWith('event: error\n')).length === 1;
	return isNamed && (caller !== 'responses' || hasLegalNumbers(events)) ? 'error' : 'cut';
}

/** True if the numbers of the events are 0, 1, 2 and so on. */
function hasLegalNumbers(events: readonly string[]): boolean {
	return events.every((event, index) => event.includes(`"sequence_number":${index},`) || event.includes(`"sequence_number":${index}}`));
}

function expectError(caller: Caller, { status, text }: Reported): void {
	expect(status).toBeGreaterThanOrEqual(400);
	const { error, type } = JSON.parse(text) as { error?: { message?: string }; type?: string };
	expect(error?.message).toEqual(expect.stringMatching(/./));
	if (caller === 'messages') expect(type).toBe('error');
	expect(text).not.toContain('simulator-key');
}

function expectResponse(caller: Caller, text: string): void {
	const response = JSON.parse(text) as Record<string, unknown>;
	const count: unknown = expect.any(Number);
	const expected: Readonly<Record<Caller, object>> = {
		chat: { object: 'chat.completion', choices: [{ index: 0, message: { role: 'assistant' } }] },
		messages: { type: 'message', role: 'assistant', usage: { input_tokens: count } },
		responses: { object: 'response', output: expect.any(Array) as unknown, usage: { input_tokens: count, output_tokens: count } },
	};
	expect(response).toMatchObject(expected[caller]);
}

interface Fragment {
	readonly index?: number;
	readonly id?: string;
	readonly function?: { readonly arguments?: string };
}

/** Inputs of the tool calls, in order; each must have a unique id. */
function callsOf(caller: Caller, text: string, isStream: boolean): unknown[] {
	const data = isStream
		? [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json ?? '') as never)
		: [JSON.parse(text) as never];
	const ids: string[] = [];
	const inputs: string[] = [];
	for (const one of data as readonly Record<string, never>[]) {
		if (caller === 'chat') {
			const [choice] = (one['choices'] ?? []) as { delta?: { tool_calls?: Fragment[] }; message?: { tool_calls?: Fragment[] } }[];
			for (const [at, call] of ((choice?.delta ?? choice?.message)?.tool_calls ?? []).entries()) {
				const index = isStream ? (call.index ?? -1) : at;
				if (call.id !== undefined) ids.push(call.id);
				inputs[index] = (inputs[index] ?? '') + (call.function?.arguments ?? '');
			}
		} else if (caller === 'responses') {
			const { output } = ((one['response'] ?? one) as { output?: readonly Item[] }) ?? {};
			const isLast = !isStream || one['type'] === 'response.completed';
			for (const item of isLast ? (output ?? []) : []) {
				if (item.type !== 'function_call') continue;
				ids.push(item.call_id);
				inputs.push(item.arguments);
			}
		} else {
			const { content_block: block, delta, content } = one as { content_block?: Block; delta?: Block; content?: Block[] };
			for (const use of [block, ...(content ?? [])]) {
				if (use?.type !== 'tool_use') continue;
				ids.push(use.id ?? '');
				inputs.push(isStream ? '' : JSON.stringify(use.input));
			}
			if (delta?.type === 'input_json_delta') inputs[inputs.length - 1] += delta.partial_json ?? '';
		}
	}
	expect(ids.every((id) => id !== '')).toBe(true);
	expect(new Set(ids).size).toBe(inputs.length);
	return inputs.map((input): unknown => JSON.parse(input));
}

interface Item {
	readonly type: string;
	readonly call_id: string;
	readonly arguments: string;
}

interface Block {
	readonly type?: string;
	readonly id?: string;
	readonly input?: unknown;
	readonly partial_json?: string;
}
