import { expect, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { startSimulator } from '../../test/support/start-simulator.ts';
import { createRateLimits } from './rate-limits.ts';

const request = { wire: 'openai', key: 'k', model: 'm', path: '/openai/v1/chat/completions' };

test('a window begins with its first request, and rejected requests do not count', () => {
	const clock = new ManualClock();
	const limits = createRateLimits(clock);
	expect(limits.take(request)).toBeUndefined();
	limits.add({ model: 'm', requests: 2, windowMs: 1000 });
	expect(limits.take({ ...request, model: 'other' })).toBeUndefined();
	const take = () => limits.take(request);
	expect(take()?.limits()).toEqual({ requests: { limit: 2, remaining: 1 }, tokens: undefined, resetMs: 1000 });
	clock.advance(400);
	expect(take()?.limits()).toMatchObject({ requests: { remaining: 0 }, resetMs: 600 });
	expect([take()?.isExceeded, take()?.limits().requests?.remaining]).toEqual([true, 0]);
	clock.advance(600);
	expect(take()).toMatchObject({ isExceeded: false });
	limits.clear();
	expect(take()).toBeUndefined();
});

test('tokens of served requests count, and the latest rule for a request applies', () => {
	const limits = createRateLimits(new ManualClock());
	limits.add({ requests: 1, windowMs: 1000 });
	limits.add({ key: 'k', tokens: 10, windowMs: 1000 });
	limits.take(request)?.countTokens(7);
	expect(limits.take(request)?.limits().tokens).toEqual({ limit: 10, remaining: 3 });
	limits.take(request)?.countTokens(7);
	expect(limits.take(request)).toMatchObject({ isExceeded: true });
});

test('each dialect reports them in the fields of its vendor, with 429 above the limit', async () => {
	const simulator = await startSimulator();
	try {
		for (const path of ['/rate_limits', '/rate_limits']) {
			expect(await simulator.control('POST', path, { requests: 2, tokens: 1000, window_seconds: 60 })).toMatchObject({ status: 204 });
		}
		expect(await simulator.control('POST', '/rate_limits', { window_seconds: 60 })).toMatchObject({ status: 400 });
		const ask = (path: string, headers: Record<string, string>) => {
			const body = JSON.stringify({ model: 'sim-text', max_tokens: 5, messages: [{ role: 'user', content: 'Hello' }] });
			return fetch(`${simulator.origin}${path}`, { method: 'POST', headers, body });
		};
		const openai = await ask('/openai/v1/chat/completions', { authorization: 'Bearer k' });
		expect([openai.status, openai.headers.get('x-ratelimit-limit-requests'), openai.headers.get('x-ratelimit-remaining-requests')]).toEqual(
			[200, '2', '1'],
		);
		expect(openai.headers.get('x-ratelimit-reset-requests')).toMatch(/^(?:60|59\.\d+)s$/);
		const anthropic = await ask('/anthropic/v1/messages', { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' });
		expect(anthropic.headers.get('anthropic-ratelimit-requests-remaining')).toBe('0');
		expect(anthropic.headers.get('anthropic-ratelimit-tokens-limit')).toBe('1000');
		expect(anthropic.headers.get('anthropic-ratelimit-requests-reset')).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
		const azure = await ask('/azure/openai/v1/chat/completions', { 'api-key': 'k' });
		expect([azure.status, azure.headers.get('x-ratelimit-remaining-requests')]).toEqual([429, '0']);
		expect([azure.headers.get('x-ratelimit-reset-requests'), azure.headers.get('retry-after')]).toEqual(['60', '60']);
		await simulator.control('DELETE', '/rate_limits');
		expect((await ask('/azure/openai/v1/chat/completions', { 'api-key': 'k' })).status).toBe(200);
	} finally {
		await simulator.close();
	}
});
