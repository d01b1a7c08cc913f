import { describe, expect, it } from 'vitest';
import {
	chatBody,
	chatPath,
	GatewayBench,
	jsonResponse,
	messagesBody,
	messagesPath,
	summaryOf,
	textOf,
} from '../../../../test/support/gateway-bench.ts';

describe('the provider’s response', () => {
	const respondTo = async (status: number, body: string, headers = {}, path = chatPath) => {
		const bench = new GatewayBench();
		bench.respond = () => jsonResponse(status, body, headers);
		return bench.ask(path, path === chatPath ? chatBody : messagesBody);
	};

	it('names the provider, and nothing of its account', async () => {
		const bench = new GatewayBench();
		bench.respond = () => {
			bench.clock.advance(345);
			return jsonResponse(200, '{"id":"x"}', {
				'x-request-id': 'up-1',
				'retry-after': '59',
				'openai-organization': 'org',
				'set-cookie': ['a=b'],
				'x-ratelimit-limit-requests': '5',
			});
		};
		const response = await bench.ask(chatPath, chatBody);
		expect(textOf(response)).toBe('{"id":"x"}');
		expect(response.headers).toEqual({
			'content-type': 'application/json',
			'x-gateway-provider': 'provider_b',
			'x-gateway-model': 'gpt-5',
			'x-gateway-upstream-request-id': 'up-1',
			'server-timing': 'gateway;dur=0.0, upstream;dur=345.0',
		});
		expect(response.record).toMatchObject({
			clientId: 'client-1',
			team: 'team-1',
			provider: 'provider_b',
			model: 'gpt-5',
			upstreamStatus: 200,
			firstByteMs: 345,
			isStreaming: false,
			requestBytes: chatBody.length,
			inputTokens: Math.ceil(chatBody.length / 4),
			outputTokens: 0,
			// At 1.25 USD a million.
			costNanoUsd: BigInt(Math.ceil(chatBody.length / 4)) * 1250n,
			isEstimated: true,
		});
	});

	it.each([400, 402, 405, 409, 413, 418, 422])('%i passes unchanged: it is a client error', async (status) => {
		const response = await respondTo(status, '{"error": {"message":"m" }}');
		expect([response.status, textOf(response), response.headers['x-gateway-upstream-status']]).toEqual([
			status,
			'{"error": {"message":"m" }}',
			undefined,
		]);
	});

	it.each([
		[401, 'provider_key_rejected', 'false'],
		[403, 'provider_key_rejected', 'false'],
		[404, 'provider_model_unknown', 'false'],
		[500, 'provider_failed', undefined],
		[502, 'provider_failed', undefined],
		[503, 'provider_failed', undefined],
		[529, 'provider_failed', undefined],
	])('%i becomes 502 with the provider’s body', async (status, code, shouldRetry) => {
		for (const path of [chatPath, messagesPath]) {
			const response = await respondTo(status, '{"error":{"message":"m"}}', { 'retry-after': '7' }, path);
			expect([response.status, textOf(response), response.record?.code]).toEqual([502, '{"error":{"message":"m"}}', code]);
			expect(response.headers).toMatchObject({ 'x-gateway-upstream-status': String(status), 'retry-after': '7' });
			expect(response.headers['x-should-retry']).toBe(shouldRetry);
			const empty = await respondTo(status, '', {}, path);
			expect([summaryOf(empty), empty.headers['x-gateway-upstream-status']]).toEqual([`502 ${code}`, String(status)]);
		}
	});

	it('429 passes unchanged with its hints; a spending stop prevents retries', async () => {
		const limited = await respondTo(429, '{"error":{"code":"rate_limit_exceeded"}}', { 'retry-after': '31', 'retry-after-ms': '30500' });
		expect(limited).toMatchObject({ status: 429, headers: { 'retry-after': '31', 'retry-after-ms': '30500' } });
		expect([textOf(limited), limited.headers['x-should-retry']]).toEqual(['{"error":{"code":"rate_limit_exceeded"}}', undefined]);
		expect((await respondTo(429, '{"error":{"code":"insufficient_quota"}}')).headers['x-should-retry']).toBe('false');
		expect(
			(await respondTo(429, '{"error":{"details":{"error_code":"contract_spend_limit_reached"}}}', {}, messagesPath)).headers[
				'x-should-retry'
			],
		).toBe('false');
	});

	it('never shows the provider’s key, complete or masked, in any error', async () => {
		for (const status of [400, 401, 403, 404, 429, 500]) {
			const body = textOf(await respondTo(status, '{"m":"Incorrect API key provided: sk-proj-*********abcd or sk-proj-secret-key-abcd."}'));
			expect(body).toBe('{"m":"Incorrect API key provided: *** or ***."}');
		}
		const compressed = await respondTo(401, 'sk-proj-secret-key-abcd', { 'content-encoding': 'gzip' });
		expect([summaryOf(compressed), compressed.headers['content-encoding']]).toEqual(['502 provider_key_rejected', undefined]);
	});

	it.each([
		[200, '<html>', { 'content-type': 'text/html' }],
		[200, '<html>', {}],
		[200, '', {}],
		[200, '"text"', {}],
		[200, '{}', { 'content-type': 'text/event-stream' }],
		[200, '{}', { 'content-type': undefined }],
		[204, '', {}],
		[302, '', { location: 'http://127.0.0.1/' }],
	])('%i %j %j is no response', async (status, body, headers) => {
		const response = await respondTo(status, body, headers);
		expect(summaryOf(response)).toBe('502 provider_response_invalid');
		expect(response.headers).not.toHaveProperty('location');
	});

	it('keeps its encoding if it is compressed although not requested', async () => {
		const response = await respondTo(200, '\u001f', { 'content-encoding': 'gzip' });
		expect([response.status, response.headers['content-encoding'], textOf(response)]).toEqual([200, 'gzip', '\u001f']);
	});

	it('shows a model’s name in a form that a header field can contain', async () => {
		const bench = new GatewayBench();
		const texts = async (name: string) => (await bench.ask(chatPath, chatBody.replace('gpt-5', name))).headers['x-gateway-model'];
		expect(await texts('a\\r\\nset-cookie: x')).toBe('a%0D%0Aset-cookie%3A%20x');
		expect(await texts('模\\ud800')).toBe('%E6%A8%A1%EF%BF%BD');
	});
});
