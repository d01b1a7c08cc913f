/** Non-streaming responses and errors of a provider whose format differs from the client's. */
import { describe, expect, test } from 'vitest';
import {
	errorOf,
	GatewayBench,
	HandStream,
	jsonResponse,
	readStream,
	sseResponse,
	textOf,
} from '../../../../test/support/gateway-bench.ts';

const callers = { chat: '/v1/chat/completions', messages: '/v1/messages' } as const;
const ask = (
	bench: GatewayBench,
	caller: keyof typeof callers,
	model: string,
	more: object = {},
	headers = {},
): ReturnType<GatewayBench['ask']> =>
	bench.ask(callers[caller], JSON.stringify({ model, max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], ...more }), headers);

const sentBody = (bench: GatewayBench, index = 0): string => {
	const body = bench.sent[index]?.body;
	if (!Buffer.isBuffer(body)) throw new Error('nothing was sent');
	return body.toString();
};

const googleError = (code: number, status: string, details: readonly object[]): string =>
	JSON.stringify([{ error: { code, message: 'Told by Google', status, details } }]);

describe.each(['chat', 'messages'] as const)('Gemini’s errors for a client of %s', (caller) => {
	test('a rejected key is an upstream error, although it arrives as a 400 and in a list', async () => {
		const bench = new GatewayBench();
		bench.respond = () => jsonResponse(400, googleError(400, 'INVALID_ARGUMENT', [{ reason: 'API_KEY_INVALID' }]));
		const response = await ask(bench, caller, 'gemini-3-pro');
		expect([
			response.status,
			response.record?.code,
			response.headers['x-should-retry'],
			response.headers['x-gateway-upstream-status'],
		]).toEqual([502, 'provider_key_rejected', 'false', '400']);
		expect(errorOf(response).error).toMatchObject({ type: 'api_error', message: 'Told by Google' });
	});

	test('the wait in the body becomes a header field, in whole seconds', async () => {
		const bench = new GatewayBench();
		bench.respond = () => jsonResponse(429, googleError(429, 'RESOURCE_EXHAUSTED', [{ retryDelay: '34.4s' }]));
		const response = await ask(bench, caller, 'gemini-3-pro');
		expect([response.status, response.headers['retry-after'], response.headers['x-should-retry']]).toEqual([429, '35', undefined]);
		expect(errorOf(response).error).toMatchObject({ type: 'rate_limit_error', message: 'Told by Google' });
	});

	test('a quota that is exhausted for the day is not worth a retry', async () => {
		const bench = new GatewayBench();
		const details = [{ violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier' }] }];
		bench.respond = () => jsonResponse(429, googleError(429, 'RESOURCE_EXHAUSTED', details));
		expect((await ask(bench, caller, 'gemini-3-pro')).headers['x-should-retry']).toBe('false');
	});
});

describe.each([
	['chat', 'claude-sonnet-4-5', 'sk-ant-secret-key-0001'],
	['chat', 'gemini-3-pro', 'gemini-secret-key'],
	['messages', 'gpt-5', 'sk-proj-secret-key-abcd'],
	['messages', 'gemini-3-pro', 'gemini-secret-key'],
] as const)('an error of the provider for a client of %s from %s', (caller, model, secret) => {
	const failing = async (status: number, message: string) => {
		const bench = new GatewayBench();
		bench.respond = () => jsonResponse(status, JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message } }));
		return ask(bench, caller, model);
	};

	test.each([500, 502, 503, 504, 520, 529])('of status %i is 502 with the provider’s text', async (status) => {
		const response = await failing(status, 'Told by the vendor');
		expect([response.status, response.record?.code, response.headers['x-gateway-upstream-status']]).toEqual([
			502,
			'provider_failed',
			String(status),
		]);
		expect(errorOf(response).error).toMatchObject({ message: 'Told by the vendor' });
	});

	test.each([401, 403])('of status %i keeps its text and shows nothing of the key', async (status) => {
		const response = await failing(
			status,
			`Bad key: ${secret}, which begins ${secret.slice(0, 9)}**** or ${secret.slice(0, 9)}...${secret.slice(-4)}`,
		);
		expect([response.status, response.headers['x-should-retry']]).toEqual([502, 'false']);
		expect(errorOf(response).error).toMatchObject({ type: 'api_error', message: 'Bad key: ***, which begins *** or ***' });
	});

	test.each([
		['application/json', { error: 'Said by a proxy' }],
		['application/json', { detail: 'Said by a proxy' }],
		['application/json', { message: 'Said by a proxy' }],
		['application/json', { error: { detail: 'Said by a proxy' } }],
		['text/plain; charset=utf-8', 'Said by a proxy\n'],
	])('keeps the message of a server in front of it as %s %j', async (mediaType, reported) => {
		for (const status of [401, 429, 503]) {
			const bench = new GatewayBench();
			const body = typeof reported === 'string' ? reported : JSON.stringify(reported);
			bench.respond = () => ({ ...jsonResponse(status, body), headers: { 'content-type': mediaType } });
			expect(errorOf(await ask(bench, caller, model)).error).toMatchObject({ message: 'Said by a proxy' });
		}
	});

	test('shows nothing of the key in a stream', async () => {
		for (const path of Object.values(callers)) {
			const bench = new GatewayBench();
			const upstream = new HandStream();
			bench.respond = () => sseResponse(upstream);
			const body = { model, max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'hi' }] };
			const { reader } = readStream(await bench.ask(path, JSON.stringify(body)));
			const error = { type: 'overloaded_error', code: 503, message: `Told: ${secret}` };
			const isMessages = model.startsWith('claude');
			upstream.write(`${isMessages ? 'event: error\n' : ''}data: ${JSON.stringify({ ...(isMessages && { type: 'error' }), error })}\n\n`);
			upstream.sink?.end();
			expect([reader.text.includes('Told: ***'), reader.text.includes(secret)]).toEqual([true, false]);
		}
	});

	test('shows nothing of the key with status 200', async () => {
		for (const path of Object.values(callers)) {
			const bench = new GatewayBench();
			bench.respond = () => jsonResponse(200, JSON.stringify({ type: 'error', error: { message: `Told: ${secret}` } }));
			const response = await bench.ask(path, JSON.stringify({ model, max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }));
			expect(textOf(response)).not.toContain(secret);
		}
	});

	test('extracts no message from a page', async () => {
		const bench = new GatewayBench();
		bench.respond = () => ({ ...jsonResponse(503, '<html>no</html>'), headers: { 'content-type': 'text/html' } });
		expect(textOf(await ask(bench, caller, model))).not.toContain('html');
	});
});

test('a success with text that resembles a masked key stays unchanged', async () => {
	const bench = new GatewayBench();
	const message = { role: 'assistant', content: 'export KEY=sk-... or sk-proj-****' };
	const body = JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }], error: null });
	bench.respond = () => jsonResponse(200, body);
	expect(textOf(await ask(bench, 'chat', 'gpt-5'))).toBe(body);
});

test('the path selects Gemini’s method, and no field or query of the client is forwarded', async () => {
	const bench = new GatewayBench();
	await ask(bench, 'messages', 'gemini-3-pro', {}, { 'anthropic-beta': 'a', 'anthropic-version': '2023-06-01' });
	await ask(bench, 'chat', 'gemini-3-pro', { stream: true });
	expect(bench.sent.map(({ origin, target }) => origin + target)).toEqual([
		'https://c.test/v1beta/models/gemini-3-pro:generateContent',
		'https://c.test/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse',
	]);
	expect(Object.keys(bench.sent[0]?.headers ?? {}).toSorted()).toEqual(['accept-encoding', 'content-type', 'user-agent', 'x-goog-api-key']);
	expect(JSON.parse(sentBody(bench, 1))).toEqual({
		contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
		generationConfig: { maxOutputTokens: 9 },
	});
});

describe('integers that a double cannot hold keep their digits', () => {
	const big = '12345678901234567890';

	test('in arguments of a non-streaming response', async () => {
		const bench = new GatewayBench();
		bench.respond = () =>
			jsonResponse(
				200,
				`{"type":"message","id":"msg_1","content":[{"type":"tool_use","id":"a","name":"f","input":{"n":${big}}}],"stop_reason":"tool_use"}`,
			);
		expect(textOf(await ask(bench, 'chat', 'claude-sonnet-4-5'))).toContain(`"arguments":"{\\"n\\":${big}}"`);
		bench.respond = () =>
			jsonResponse(200, `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"n":${big}}}}]},"finishReason":"STOP"}]}`);
		expect(textOf(await ask(bench, 'messages', 'gemini-3-pro'))).toContain(`"input":{"n":${big}}`);
		expect(textOf(await ask(bench, 'chat', 'gemini-3-pro'))).toContain(`"arguments":"{\\"n\\":${big}}"`);
	});

	test.each(['gpt-5', 'gemini-2.5-pro'])('in the history that goes to %s', async (model) => {
		const bench = new GatewayBench();
		const body = `{"model":"${model}","max_tokens":9,"messages":[{"role":"user","content":"hi"},
			{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"n":${big},"m":-${big},"small":7,"text":"1234567890123456"}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}]}`;
		await bench.ask(callers.messages, body);
		expect(sentBody(bench).replaceAll('\\', '')).toContain(`{"n":${big},"m":-${big},"small":7,"text":"1234567890123456"}`);
	});
});

test('a cap for a budget is written where Gemini reads it', async () => {
	const bench = new GatewayBench({
		budgets: {
			isEnabled: true,
			warningThresholdPercent: 80,
			hardLimitPercent: 100,
			reservation: 'worst_case',
			onStreamOver: 'extend',
			unknownPrice: 'allow',
			defaultRate: { inputUsd: '10.00', outputUsd: '50.00' },
		},
	});
	await bench.ask(callers.chat, '{"model":"gemini-2.5-pro","temperature":1,"messages":[{"role":"user","content":"hi"}]}');
	expect(JSON.parse(sentBody(bench))).toMatchObject({ generationConfig: { temperature: 1, maxOutputTokens: 65_536 } });
	await bench.ask(callers.chat, '{"model":"gemini-2.5-pro","messages":[{"role":"user","content":"hi"}]}');
	expect(JSON.parse(sentBody(bench, 1))).toMatchObject({ generationConfig: { maxOutputTokens: 65_536 } });
});
