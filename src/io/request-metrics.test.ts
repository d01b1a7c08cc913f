import { expect, test } from 'vitest';
import { readExposition, type Series, valueOf } from '../../test/support/exposition.ts';
import { createMetrics } from './metrics.ts';
import type { RequestLogEntry } from './request-log.ts';
import { createRequestObserver } from './request-metrics.ts';

const formats = new Map([
	['/v1/chat/completions', 'chat'],
	['/v1/messages', 'messages'],
]);

function subject() {
	const metrics = createMetrics();
	const observe = createRequestObserver(metrics, { role: 'gateway', formats });
	const record: RequestLogEntry = {
		requestId: 'secret-of-a-request',
		method: 'POST',
		target: '/v1/messages?beta=secret-of-a-query',
		status: 200,
		outcome: 'complete',
		durationMs: 1500,
		requestBytes: 1,
		responseBytes: 1,
		peer: 'secret-of-a-peer',
		code: undefined,
		record: { provider: 'b', firstByteMs: 40, model: 'secret-of-a-model', team: 'secret-of-a-team' },
	};
	return {
		observe: (changes: Partial<RequestLogEntry> = {}) => observe({ ...record, ...changes }),
		text: async (): Promise<string> => (await metrics.scrape()).text,
		series: async (): Promise<readonly Series[]> => readExposition((await metrics.scrape()).text),
	};
}

test('a request counts once, under its format, provider, outcome and status', async () => {
	const { observe, series } = subject();
	observe();
	observe({ target: '/v1/chat/completions', outcome: 'client_closed', record: {} });
	observe({ target: '/v1/models', method: 'GET', record: {} });
	observe({ method: 'GET', status: 405, code: 'method_not_allowed', record: {} });
	const found = await series();
	const of = (labels: Record<string, string>) => valueOf(found, 'tollgate_requests_total', { role: 'gateway', ...labels });
	expect(of({ format: 'messages', provider: 'b', outcome: 'complete', status: '200' })).toBe(1);
	expect(of({ format: 'chat', provider: 'none', outcome: 'client_closed' })).toBe(1);
	expect([of({ format: 'none', status: '200' }), of({ format: 'none', status: '405' }), of({})]).toEqual([1, 1, 4]);
	expect(valueOf(found, 'tollgate_request_duration_seconds_count')).toBe(2);
	expect(valueOf(found, 'tollgate_request_duration_seconds_bucket', { format: 'messages', le: '1' })).toBe(0);
	expect(valueOf(found, 'tollgate_request_duration_seconds_bucket', { format: 'messages', le: '2.5' })).toBe(1);
	expect(valueOf(found, 'tollgate_time_to_first_byte_seconds_sum', { format: 'messages' })).toBe(0.04);
	expect(valueOf(found, 'tollgate_time_to_first_byte_seconds_count')).toBe(1);
});

test('errors count by their code in the catalogues, and by no other text', async () => {
	const { observe, series } = subject();
	for (const code of ['rpm_limit_exceeded', 'provider_failed', 'internal_error', 'connection_reset', 'toString', 'secret']) {
		observe({ status: 500, code });
	}
	const errors = (await series())
		.filter(({ name }) => name === 'tollgate_errors_total')
		.map(({ labels, value }) => [labels['kind'], labels['code'], value]);
	expect(errors).toEqual([
		['rejected', 'rpm_limit_exceeded', 1],
		['upstream', 'provider_failed', 1],
		['internal', 'internal_error', 1],
		['other', 'other', 3],
	]);
});

test('no text of a client is shown, however much of it there is', async () => {
	const { observe, text, series } = subject();
	const callers = ['requestId', 'target', 'method', 'peer', 'code'] as const;
	for (let index = 0; index < 10_000; index++) {
		observe({
			...Object.fromEntries(callers.map((name) => [name, `secret-${index}`])),
			record: { model: `secret-${index}`, team: `secret-${index}` },
		});
	}
	observe();
	expect(await text()).not.toContain('secret');
	expect((await series()).filter(({ name }) => name === 'tollgate_requests_total')).toHaveLength(2);
});
