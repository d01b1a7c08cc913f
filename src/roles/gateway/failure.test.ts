import { describe, expect, it } from 'vitest';
import {
	chatBody,
	chatPath,
	errorOf,
	GatewayBench,
	HandStream,
	isPage,
	settle,
	summaryOf,
	textOf,
} from '../../../test/support/gateway-bench.ts';
import type { UpstreamResponse } from '../../core/upstream.ts';
import { UpstreamError, type UpstreamErrorCode } from '../../core/upstream-error.ts';

describe('upstream and internal failures', () => {
	it.each([
		['provider_connect_timeout', 504, 'timeout_error'],
		['provider_first_byte_timeout', 504, 'timeout_error'],
		['provider_total_timeout', 504, 'timeout_error'],
		['provider_disconnected', 502, 'api_error'],
	] as const)('%s is %i with the error body', async (code, status, type) => {
		const bench = new GatewayBench();
		bench.respond = () => Promise.reject(new UpstreamError(code, { cause: new Error('ECONNRESET') }));
		const response = await bench.ask(chatPath, chatBody);
		expect([summaryOf(response), errorOf(response).error.type]).toEqual([`${status} ${code}`, type]);
		expect(response.headers).toMatchObject({ 'x-gateway-provider': 'provider_b', 'x-gateway-model': 'gpt-5' });
		expect(bench.log.lines).toMatchObject([{ level: 'warn', fields: { requestId: 'req-1', code, cause: 'ECONNRESET' } }]);
		expect(bench.gateway.inFlightRequests()).toBe(0);
	});

	it('load shedding is 503, with the time after which to retry', async () => {
		const bench = new GatewayBench({}, { overload: () => 'in_flight' });
		const response = await bench.ask(chatPath, chatBody);
		expect([summaryOf(response), response.headers['retry-after'], bench.sent]).toEqual(['503 overloaded', '1', []]);
	});

	it('an unreachable provider is the generic page, or JSON for a client that asks for JSON', async () => {
		const bench = new GatewayBench();
		bench.respond = () => Promise.reject(new UpstreamError('provider_unreachable'));
		const page = await bench.ask(chatPath, chatBody, { accept: '*/*' });
		expect([page.status, isPage(page), page.headers['x-gateway-provider']]).toEqual([502, true, 'provider_b']);
		const json = await bench.ask(chatPath, chatBody, { accept: 'text/html, Application/JSON' });
		expect([summaryOf(json), json.headers['x-should-retry']]).toEqual(['502 provider_unreachable', undefined]);
	});

	it.each(['provider_disconnected', 'provider_idle_timeout', 'provider_total_timeout'] as const)(
		'%s within a non-streaming response is an error, not half a response',
		async (code: UpstreamErrorCode) => {
			const bench = new GatewayBench();
			const body = new HandStream();
			bench.respond = () => ({ status: 200, headers: { 'content-type': 'application/json' }, body });
			const pending = bench.ask(chatPath, chatBody);
			await settle();
			body.write('{"id":');
			body.sink?.fail(new UpstreamError(code));
			expect(summaryOf(await pending)).toBe(`${new UpstreamError(code).status} ${code}`);
		},
	);

	it('an internal error shows the client only the request id, and the log everything', async () => {
		const bench = new GatewayBench();
		bench.respond = () => {
			throw new TypeError('secret detail');
		};
		const response = await bench.ask(chatPath, chatBody);
		expect(summaryOf(response)).toBe('500 internal_error');
		expect(textOf(response)).not.toContain('secret');
		expect(bench.log.lines).toMatchObject([{ level: 'error', fields: { requestId: 'req-1' } }]);
		expect(String(bench.log.lines[0]?.fields.stack)).toContain('secret detail');
	});

	it('a client that disconnects ends the upstream request, before the response and within it', async () => {
		for (const hasBegun of [false, true]) {
			const bench = new GatewayBench();
			const body = new HandStream();
			let leave: (() => void) | undefined;
			let aborts = 0;
			bench.respond = (request) => {
				request.onClientDisconnect(() => void aborts++);
				return hasBegun ? { status: 200, headers: { 'content-type': 'application/json' }, body } : new Promise(() => undefined);
			};
			const pending = bench.ask(chatPath, chatBody, {}, { onClientDisconnect: (listener) => (leave = listener) });
			await settle();
			expect(bench.gateway.inFlightRequests()).toBe(1);
			leave?.();
			expect((await pending).record?.code).toBe('client_closed');
			expect(hasBegun ? body.isCancelled : aborts === 1).toBe(true);
			expect(bench.gateway.inFlightRequests()).toBe(0);
		}
	});

	it('a response that arrives when its client disconnects is not kept open', async () => {
		const body = new HandStream();
		const response = Promise.withResolvers<UpstreamResponse>();
		const bench = new GatewayBench({}, { upstream: () => response.promise });
		let leave: (() => void) | undefined;
		const pending = bench.ask(chatPath, chatBody, {}, { onClientDisconnect: (listener) => (leave = listener) });
		await settle();
		response.resolve({ status: 200, headers: { 'content-type': 'application/json' }, body });
		leave?.();
		expect((await pending).record?.code).toBe('client_closed');
		expect([body.isCancelled, bench.gateway.inFlightRequests()]).toEqual([true, 0]);
	});

	it('a shutdown ends in-flight requests with 503', async () => {
		const bench = new GatewayBench();
		bench.respond = () => new Promise(() => undefined);
		const pending = bench.ask(chatPath, chatBody);
		await settle();
		bench.gateway.endInFlightRequests();
		const response = await pending;
		expect([summaryOf(response), response.headers['retry-after'], bench.gateway.inFlightRequests()]).toEqual(['503 draining', '1', 0]);
	});
});
