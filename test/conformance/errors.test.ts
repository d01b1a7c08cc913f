/** Table of errors (Spec: Errors) as any HTTP client sees it. */
import { describe, expect, it } from 'vitest';
import { apiKey, shortTimeouts, useFaultySubject } from './faulty-subject.ts';
import { allFormats, type FormatUnderTest, type GatewayErrorBody } from './formats.ts';
import { describeOwn, send } from './subject.ts';

describeOwn('Spec: Errors', 'our simulator', () => {
	const subject = useFaultySubject();

	const ask = (format: FormatUnderTest, model: string, extra: object = {}, headers: Record<string, string> = {}): Promise<Response> =>
		send(subject.current, format.path, { headers, body: format.question(model, { ...extra }) });

	const expectGatewayError = async (response: Response, status: number, code: string, type: string): Promise<GatewayErrorBody> => {
		const httpResponse = (await response.json()) as GatewayErrorBody;
		expect([response.status, httpResponse.error.code, httpResponse.error.type]).toEqual([status, code, type]);
		expect(response.headers.get('content-type')).toBe('application/json');
		expect(httpResponse).toMatchObject({ type: 'error', error: { param: null }, request_id: response.headers.get('x-request-id') });
		expect(httpResponse.error.message).toMatch(/\w{3,} \w+/);
		return httpResponse;
	};

	describe.each(allFormats)('%s', (_path, format) => {
		const vendorError = (message: string): string =>
			format.name !== 'messages'
				? `{ "error" : {"message":"${message}","type":"vendor_type","param":null,"code":"vendor_code"} }`
				: `{ "type":"error","error":{"type":"vendor_type","message":"${message}"},"request_id":"req_vendor" }`;

		describe.each([false, true])('stream %s', (stream) => {
			it.each([400, 402, 408, 409, 413, 422, 429])('a client error, %i, passes unchanged', async (status) => {
				const body = vendorError(`Grüße ${status}`);
				await subject.current.simulator.replay({
					dialect: format.wire,
					status,
					headers: { 'content-type': 'application/json; charset=UTF-8', 'x-should-retry': 'true' },
					body,
				});
				const response = await ask(format, `${format.family}-sim-x`, { stream });
				expect([response.status, await response.text()]).toEqual([status, body]);
				expect(response.headers.get('content-type')).toBe('application/json; charset=UTF-8');
				expect(response.headers.get('x-gateway-upstream-status')).toBeNull();
				expect(response.headers.get('x-should-retry')).toBe('true');
			});

			it.each([
				[401, 'false'],
				[403, 'false'],
				[404, 'false'],
				[500, null],
				[502, null],
				[503, null],
				[529, null],
			])('%i is 502 with the provider’s body', async (status, shouldRetry) => {
				const body = vendorError(`Grüße ${status}`);
				await subject.current.simulator.replay({ dialect: format.wire, status, headers: { 'content-type': 'application/json' }, body });
				const response = await ask(format, `${format.family}-sim-x`, { stream });
				expect([response.status, await response.text()]).toEqual([502, body]);
				expect(response.headers.get('content-type')).toBe('application/json');
				expect(response.headers.get('x-gateway-upstream-status')).toBe(String(status));
				expect(response.headers.get('x-should-retry')).toBe(shouldRetry);
				expect(response.headers.get('x-gateway-provider')).toBe(format.provider);
			});
		});

		it('the provider’s own rate limit passes unchanged, retry-after included', async () => {
			const response = await ask(format, `${format.family}-sim-429-retry-after-7`);
			expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7']);
			expect(response.headers.get('x-should-retry')).not.toBe('false');
			const { error, allowed } = (await response.json()) as { error: { message: string }; allowed?: unknown };
			expect(error.message).toMatch(/rate limit/i);
			expect(allowed, 'a team limit’s body').toBeUndefined();
		});

		it('a 429 that is about money is not worth a retry', async () => {
			const response = await ask(format, `${format.family}-sim-429-quota`);
			expect([response.status, response.headers.get('x-should-retry')]).toEqual([429, 'false']);
		});

		it('a page from a provider’s own edge is passed through as what it is', async () => {
			const body = '<html><body><h1>503 Service Unavailable</h1></body></html>\n';
			await subject.current.simulator.replay({ dialect: format.wire, status: 503, headers: { 'content-type': 'text/html' }, body });
			const response = await ask(format, `${format.family}-sim-x`);
			expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([502, 'text/html', body]);
		});

		it('an error without a body gets one from the gateway', async () => {
			await subject.current.simulator.replay({ dialect: format.wire, status: 500, body: '' });
			await expectGatewayError(await ask(format, `${format.family}-sim-x`), 502, 'provider_failed', 'api_error');
		});

		it('rule 1: an unknown model is the provider’s own error', async () => {
			const response = await ask(format, `${format.family}-no-such-model`);
			// The Responses API says that it is the client's error.
			const expected = format.name === 'responses' ? [400, null] : [502, '404'];
			expect([response.status, response.headers.get('x-gateway-upstream-status')]).toEqual(expected);
			expect(await response.text()).toContain(`${format.family}-no-such-model`);
		});

		describe('no key and no provider', () => {
			const page = ['text/html'];
			const json = ['application/json'];
			const neither = ['*/*', 'text/event-stream'];
			const cases = [
				[`unset-${format.name}/any`, 'provider_key_unset', 'false', page, [...neither, ...json]],
				[`down-${format.name}/any`, 'provider_unreachable', null, [...neither, ...page], [...json, 'text/html, Application/JSON;q=0.5']],
				[`${format.family}-sim-reset`, 'provider_unreachable', null, [...neither, ...page], [...json, 'text/html, Application/JSON;q=0.5']],
			] as const;

			it.each(cases)('%s: %s, x-should-retry %s, a page for %j, JSON for %j', async (model, code, shouldRetry, forPage, forJson) => {
				const servedBefore = await subject.current.simulator.requestsServed();
				for (const accept of forPage) {
					const response = await ask(format, model, { stream: accept === 'text/event-stream' }, { accept });
					expect([response.status, response.headers.get('content-type')]).toEqual([502, 'text/html; charset=utf-8']);
					expect(await response.text()).toMatch(/^<!doctype html>[^]*502 Bad Gateway/);
					expect(response.headers.get('x-should-retry')).toBe(shouldRetry);
					expect(response.headers.get('x-amzn-waf-action')).toBeNull();
				}
				for (const accept of forJson) {
					const response = await ask(format, model, { stream: accept === 'text/event-stream' }, { accept });
					expect(response.headers.get('x-should-retry')).toBe(shouldRetry);
					await expectGatewayError(response, 502, code, 'api_error');
				}
				const calls = (await subject.current.simulator.requestsServed()) - servedBefore;
				expect(calls, 'calls of the provider').toBe(model.endsWith('-reset') ? 5 : 0);
			});
		});

		it.concurrent.each([
			['connecting', `mute-${format.name}/any`, false, 'provider_connect_timeout', shortTimeouts.connect_ms],
			['the first byte of a stream', `${format.family}-sim-hang`, true, 'provider_first_byte_timeout', shortTimeouts.first_byte_ms],
			['silence', `${format.family}-sim-stall`, false, 'provider_idle_timeout', shortTimeouts.idle_ms],
			['a non-streaming response', `${format.family}-sim-hang`, false, 'provider_total_timeout', shortTimeouts.total_ms],
		] as const)('504 when the provider takes too long: %s', async (_what, model, stream, code, limitMs) => {
			const startedMs = performance.now();
			await expectGatewayError(await ask(format, model, { stream }), 504, code, 'timeout_error');
			expect(performance.now() - startedMs).toBeGreaterThan(limitMs * 0.9);
			expect(performance.now() - startedMs).toBeLessThan(limitMs + 1500);
		});

		it.concurrent.each(['slow-first-byte', 'slow-first-event'])('a non-streaming response may begin late: %s', async (fault) => {
			const model = `${format.family}-sim-${fault}-${shortTimeouts.first_byte_ms + 300}`;
			expect((await ask(format, model)).status).toBe(200);
		});

		it.concurrent('a stream that keeps sending may take longer than a non-streaming response', async () => {
			const startedMs = performance.now();
			const response = await ask(format, `${format.family}-sim-tokens-200-interval-25`, { stream: true });
			const text = await response.text();
			expect(performance.now() - startedMs).toBeGreaterThan(shortTimeouts.total_ms);
			expect(response.status).toBe(200);
			expect(text).toMatch(format.end);
			expect(text).not.toContain('timeout');
		});

		it.concurrent('504 when the provider takes too long: in all', async () => {
			const json = { id: 'x', padding: 'x'.repeat(600) };
			const model = `${format.family}-sim-lasting`;
			await subject.current.simulator.replay({ model, json, split: { bytes: [10, 20], seed: 1 }, interval_ms: 100 });
			await expectGatewayError(await ask(format, model), 504, 'provider_total_timeout', 'timeout_error');
		});

		it.each(['wrong-content-type', 'empty', 'html-200', 'malformed-json', 'end-after-1'])(
			'an invalid non-streaming response, %s, is 502',
			async (fault) => {
				await expectGatewayError(await ask(format, `${format.family}-sim-${fault}`), 502, 'provider_response_invalid', 'api_error');
			},
		);

		it.each(['wrong-content-type', 'html-200'])('a stream that is none, %s, is 502', async (fault) => {
			const response = await ask(format, `${format.family}-sim-${fault}`, { stream: true });
			await expectGatewayError(response, 502, 'provider_response_invalid', 'api_error');
		});

		it.each(['cut-after-1', 'cut-mid-event-1'])('a non-streaming response that breaks off, %s, is 502', async (fault) => {
			await expectGatewayError(await ask(format, `${format.family}-sim-${fault}`), 502, 'provider_disconnected', 'api_error');
		});

		it.each([301, 302, 303, 307, 308])('a redirect, %i, is never followed', async (status) => {
			const before = subject.elsewhere.requests;
			for (const stream of [false, true]) {
				await subject.current.simulator.replay({
					dialect: format.wire,
					status,
					headers: { location: `${subject.elsewhere.url}/v1` },
					body: '',
				});
				const response = await ask(format, `${format.family}-sim-x`, { stream });
				expect(response.headers.get('location')).toBeNull();
				await expectGatewayError(response, 502, 'provider_response_invalid', 'api_error');
			}
			expect(subject.elsewhere.requests).toBe(before);
		});

		it.each([401, 403, 400, 429, 500])('a key that the provider echoes with %i does not leave', async (status) => {
			for (const echo of [apiKey, `${apiKey.slice(0, 8)}****************${apiKey.slice(-4)}`]) {
				const body = vendorError(`Incorrect API key provided: ${echo}. Grüße`);
				await subject.current.simulator.replay({ dialect: format.wire, status, body, split: { bytes: [1, 7], seed: 5 } });
				const text = await (await ask(format, `${format.family}-sim-x`)).text();
				expect(text).toContain('Incorrect API key provided: ***. Grüße');
				expect(text).not.toContain('cdef');
				expect(text).not.toContain('sk-proj');
			}
		});
	});

	it('the simulated vendor’s echo of the key does not leave either', async () => {
		for (const [, format] of allFormats) {
			const text = await (await ask(format, `${format.family}-sim-401`)).text();
			expect(text).not.toMatch(/sk-pr|cdef/);
		}
	});
});
