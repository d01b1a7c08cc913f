/** Guardrails cannot be bypassed by splitting a text over parts, blocks or messages, or by repeating a member. */
import { describe, expect, it } from 'vitest';
import {
	errorOf,
	GatewayBench,
	HandStream,
	jsonResponse,
	readStream,
	sseResponse,
	summaryOf,
	textOf,
} from '../../../test/support/gateway-bench.ts';
import { callerPaths, guardrailsWith, piiRules } from '../../../test/support/guarded-gateway.ts';
import type { RuleAction } from '../../policy/guardrails/guardrail.ts';
import type { GuardrailSettings } from '../../policy/guardrails/guardrails.ts';

function settings(action: RuleAction, more: Partial<GuardrailSettings> = {}): GuardrailSettings {
	return guardrailsWith({ pii: piiRules(action), words: { entries: ['darkfish'], action }, ...more });
}

const { chat, messages } = callerPaths;
const part = (text: string): object => ({ type: 'text', text });
const halves = ['card 4111 1111 ', '1111 1111.'].map(part);
const inferenceRequest = (path: string, members: object): string =>
	JSON.stringify({ model: path === chat ? 'gpt-4o' : 'claude-x', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], ...members });

const requests: readonly (readonly [string, string, object])[] = [
	['parts of a user', chat, { messages: [{ role: 'user', content: halves }] }],
	['parts of a tool’s result', chat, { messages: [{ role: 'tool', tool_call_id: 't', content: halves }] }],
	['messages of a user', chat, { messages: ['card 4111 1111 ', '1111 1111.'].map((content) => ({ role: 'user', content })) }],
	['blocks of a user', messages, { messages: [{ role: 'user', content: halves }] }],
	['blocks of instructions', messages, { system: halves }],
	[
		'blocks of a tool’s result',
		messages,
		{ messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: halves }] }] },
	],
	[
		'blocks of an assistant around a tool call',
		messages,
		{ messages: [{ role: 'assistant', content: [halves[0], { type: 'tool_use', id: 't', name: 'f', input: {} }, halves[1]] }] },
	],
];

describe('a request', () => {
	it.each(requests)('with a card over two %s is blocked, or masked if configured', async (_name, path, members) => {
		const blocking = new GatewayBench({ guardrails: settings('block') });
		expect(summaryOf(await blocking.ask(path, inferenceRequest(path, members)))).toBe('400 guardrail_blocked');
		expect(blocking.sent).toEqual([]);
		const masking = new GatewayBench({ guardrails: settings('mask') });
		masking.respond = () => jsonResponse(200, '{}');
		await masking.ask(path, inferenceRequest(path, members));
		const sent = masking.sent[0]?.body;
		expect(Buffer.isBuffer(sent) && sent.toString()).toBe(
			inferenceRequest(path, members).replace('4111 1111 ', '[CARD]').replace('1111 1111.', '.'),
		);
	});

	it.each([chat, messages])('at %s leaves no part empty, which providers reject', async (path) => {
		const body = inferenceRequest(path, { messages: [{ role: 'user', content: ['card 4111 ', '1111 1111', ' 1111.'].map(part) }] });
		const masking = new GatewayBench({ guardrails: settings('mask') });
		masking.respond = () => jsonResponse(200, '{}');
		await masking.ask(path, body);
		const sent = masking.sent[0]?.body;
		expect(Buffer.isBuffer(sent) && sent.toString()).toBe(
			body.replace('4111 ', '[CARD]').replace('1111 1111', '[MASKED]').replace(' 1111.', '.'),
		);
	});

	const twice: readonly (readonly [string, string, string])[] = [
		[chat, '"messages":[{"role":"user","content":"darkfish","content":"hi"}]', 'messages[0].content'],
		[messages, '"messages":[{"role":"user","content":[{"type":"text","text":"hi","text":"jane@x.org"}]}]', 'messages[0].content[0].text'],
		[chat, '"messages":[{"role":"user","content":"hi"}],"response_format":{"a":{"b":1,"\\u0062":2}}', 'response_format.a.b'],
	];

	it.each(twice)('at %s that repeats a member is rejected under enforcement: %s', async (path, members, param) => {
		const body = `{"model":"${path === chat ? 'gpt-4o' : 'claude-x'}","max_tokens":9,${members}}`;
		const enforced = new GatewayBench({ guardrails: settings('mask') });
		const response = await enforced.ask(path, body);
		expect([summaryOf(response), errorOf(response)]).toEqual([
			'400 field_invalid',
			expect.objectContaining({ error: expect.objectContaining({ param }) as unknown }),
		]);
		const observed = new GatewayBench({ guardrails: { ...settings('mask'), isEnforced: false } });
		observed.respond = () => jsonResponse(200, '{}');
		await observed.ask(path, body);
		expect(observed.sent.map(({ body: sent }) => sent)).toEqual([Buffer.from(body)]);
	});
});

describe('a non-streaming response', () => {
	const httpResponse = (path: string, content: unknown, more: object = {}): string =>
		JSON.stringify(path === chat ? { choices: [{ index: 0, message: { role: 'assistant', content }, ...more }] } : { content, ...more });

	async function requested(path: string, body: string, guardrails = settings('block')): Promise<string> {
		const bench = new GatewayBench({ guardrails });
		bench.respond = () => jsonResponse(200, body);
		const response = await bench.ask(path, inferenceRequest(path, {}));
		return response.status === 200 ? textOf(response) : summaryOf(response);
	}

	it.each([chat, messages])('at %s with a card over two parts is blocked, or masked if configured', async (path) => {
		const body = httpResponse(path, halves);
		expect(await requested(path, body)).toBe('400 guardrail_blocked');
		expect(await requested(path, body, settings('mask'))).toBe(body.replace('4111 1111 ', '[CARD]').replace('1111 1111.', '.'));
	});

	it.each([
		[messages, httpResponse(messages, [], { stop_details: { type: 'refusal', explanation: 'a darkfish' } })],
		[chat, httpResponse(chat, 'hi', { logprobs: { content: [{ token: 'dark' }, { token: 'fish' }] } })],
		[chat, httpResponse(chat, 'hi', { note: 'a darkfish' })],
		[chat, httpResponse(chat, 'hi').replace('"hi"', '"a darkfish","content":"hi"')],
		[messages, httpResponse(messages, [part('hi')]).replace('"hi"', '"hi","text":"also hi"')],
	])('at %s is blocked: %s', async (path, body) => {
		expect(await requested(path, body)).toBe('400 guardrail_blocked');
	});
});

const event = (reported: { type: string } & Record<string, unknown>): string =>
	`event: ${reported.type}\ndata: ${JSON.stringify(reported)}\n\n`;
const block = (index: number, content_block: object, ...deltas: readonly object[]): readonly string[] => [
	event({ type: 'content_block_start', index, content_block }),
	...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
	event({ type: 'content_block_stop', index }),
];
const textBlock = (index: number, ...pieces: readonly string[]): readonly string[] =>
	block(index, { type: 'text', text: '' }, ...pieces.map((text) => ({ type: 'text_delta', text })));
const toolBlock = (index: number): readonly string[] =>
	block(index, { type: 'tool_use', id: 't', name: 'f', input: {} }, { type: 'input_json_delta', partial_json: '{"a":1}' });
const thoughtBlock = (index: number, thinking: string): readonly string[] =>
	block(index, { type: 'thinking', thinking: '' }, { type: 'thinking_delta', thinking });
const beginning = event({ type: 'message_start', message: { content: [] } });
const ending = [event({ type: 'message_delta', delta: { stop_reason: 'end_turn' } }), event({ type: 'message_stop' })];

describe('a stream', () => {
	async function streaming(
		path: string,
		guardrails: GuardrailSettings,
	): Promise<{ upstream: HandStream; read: () => string; bench: GatewayBench }> {
		const bench = new GatewayBench({ guardrails });
		const upstream = new HandStream();
		bench.respond = () => sseResponse(upstream);
		const { reader } = readStream(await bench.ask(path, inferenceRequest(path, { stream: true })));
		return { upstream, read: () => reader.text, bench };
	}

	async function all(path: string, guardrails: GuardrailSettings, events: readonly string[]): Promise<string> {
		const { upstream, read } = await streaming(path, guardrails);
		for (const one of events) if (!upstream.isCancelled) upstream.write(one);
		if (!upstream.isCancelled) upstream.sink?.end();
		return read();
	}

	const secret = '4111 1111 1111 1111';
	const between: readonly (readonly [string, readonly string[]])[] = [
		['nothing', []],
		['a tool call', toolBlock(1)],
		['a thought', thoughtBlock(1, 'so it is')],
	];

	it.each(between)('of blocks with a card over two of them and %s between: no character of it is delivered', async (_name, middle) => {
		for (let cut = 1; cut < secret.length; cut++) {
			const first = textBlock(0, 'the card is ', secret.slice(0, cut));
			const second = textBlock(2, secret.slice(cut), ' ok');
			const events = [beginning, ...first, ...middle, ...second, ...ending];
			const text = await all(messages, settings('block'), events);
			const clean = [beginning, ...first.slice(0, 2)].join('');
			expect([text.startsWith(clean), text.slice(clean.length)]).toEqual([
				true,
				expect.stringMatching(/^event: error\n.*guardrail_blocked/),
			]);
			const masked = await all(messages, settings('mask'), events);
			const expected = events.map((one) =>
				one.replace(JSON.stringify(secret.slice(0, cut)), '"[CARD]"').replace(JSON.stringify(secret.slice(cut)), '""'),
			);
			expect(masked.replaceAll('data:{', 'data: {')).toBe(expected.join(''));
		}
	});

	it('of blocks passes byte for byte if it is clean, and without delay if that is decided', async () => {
		const { upstream, read } = await streaming(messages, settings('block'));
		const sent: string[] = [];
		const send = (...events: readonly string[]): void => {
			for (const one of events) upstream.write(one);
			sent.push(...events);
		};
		send(beginning, ...thoughtBlock(0, 'A thought'), ...textBlock(1, 'All is well, ', 'and'));
		// The last word may continue.
		expect(read()).toBe(sent.slice(0, -2).join(''));
		send(...toolBlock(2));
		send(...textBlock(3, ' so on, ', 'and on.'));
		expect(read()).toContain(' so on');
		send(...ending);
		expect(read()).toBe(sent.join(''));
	});

	it('that is monitored is reported once', async () => {
		const { upstream, bench } = await streaming(messages, { ...settings('block'), isEnforced: false });
		for (const one of [beginning, ...textBlock(0, 'a dark'), ...textBlock(1, 'fish, really'), ...ending]) upstream.write(one);
		upstream.sink?.end();
		for (let round = 0; round < 20; round++) {
			bench.clock.advance(5);
			await new Promise((resolve) => setImmediate(resolve));
		}
		const reported = bench.log.lines.filter(({ event: name }) => name === 'guardrail assessment').map(({ fields }) => fields['count']);
		expect(reported).toEqual([1]);
	});

	const chunk = (choice: object, more: object = {}): string =>
		`data: ${JSON.stringify({ choices: [{ index: 0, ...choice }], ...more })}\n\n`;

	it.each([
		[chat, [chunk({ message: { role: 'assistant', content: 'a darkfish' } })]],
		[chat, [chunk({ text: 'a dark' }), chunk({ text: 'fish' })]],
		[
			chat,
			[chunk({ delta: {}, logprobs: { content: [{ token: 'dark' }] } }), chunk({ delta: {}, logprobs: { content: [{ token: 'fish' }] } })],
		],
		[chat, [chunk({ delta: {}, logprobs: { content: [{ token: 'a', top_logprobs: [{ token: 'darkfish' }] }] } })]],
		[chat, [chunk({ delta: {} }, { output_text: 'a darkfish' })]],
		[chat, [chunk({ delta: {}, note: ['a darkfish'] })]],
		[chat, ['data: {"choices":[{"index":0,"delta":{"content":"a darkfish","content":"hi"}}]}\n\n']],
		[messages, [event({ type: 'message_delta', delta: { stop_details: { explanation: 'a darkfish' } } })]],
		[messages, [event({ type: 'ping', note: 'a darkfish' })]],
		[messages, ['data: {"type":"content_block_delta","index":0,"delta":{"text":"hi"},"delta":{"text":"fish"}}\n\n']],
	])('at %s has its event withheld: %s', async (path, events) => {
		const text = await all(path, settings('block'), events);
		expect([text.includes('fish'), text.includes('guardrail_blocked')]).toEqual([false, true]);
	});
});
