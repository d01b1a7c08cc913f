import { describe, expect, test } from 'vitest';
import { formOf, startIdentity } from '../../../test/support/identity.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { Rejection } from '../../core/rejection.ts';
import { type AttemptThrottle, createAttemptThrottle } from './attempt-throttle.ts';

/** Returns the number of attempts that are allowed. */
function countAllowed(throttle: AttemptThrottle, attempts: Iterable<readonly [clientId: string, address: string]>): number {
	let allowed = 0;
	for (const [clientId, address] of attempts) {
		try {
			throttle.count(clientId, address);
			allowed++;
		} catch (cause) {
			if (!(cause instanceof Rejection && cause.code === 'too_many_attempts')) throw cause;
		}
	}
	return allowed;
}

const times = (count: number, make: (index: number) => [string, string]): [string, string][] =>
	Array.from({ length: count }, (_, index) => make(index));

describe('wrong secrets', () => {
	test('are limited per client and address, for a minute from the first', () => {
		const clock = new ManualClock();
		const throttle = createAttemptThrottle(clock, () => 100);
		expect(
			countAllowed(
				throttle,
				times(150, () => ['one', '192.0.2.1']),
			),
		).toBe(100);
		expect(
			countAllowed(
				throttle,
				times(150, () => ['one', '192.0.2.2']),
			),
		).toBe(100);
		expect(
			countAllowed(
				throttle,
				times(150, () => ['two', '192.0.2.1']),
			),
		).toBe(100);
		clock.advance(59_999);
		expect(() => throttle.check('one', '192.0.2.1')).toThrow(expect.objectContaining({ code: 'too_many_attempts', retryAfterSeconds: 1 }));
		clock.advance(1);
		expect(
			countAllowed(
				throttle,
				times(150, () => ['one', '192.0.2.1']),
			),
		).toBe(100);
	});

	test('are limited per client from many addresses, except from one where it authenticated before', () => {
		const throttle = createAttemptThrottle(new ManualClock(), () => 10);
		throttle.trust('one', '198.51.100.7');
		expect(
			countAllowed(
				throttle,
				times(500, (index) => ['one', `10.0.${index >> 8}.${index & 255}`]),
			),
		).toBe(100);
		expect(
			countAllowed(
				throttle,
				times(1, () => ['one', '192.0.2.1']),
			),
		).toBe(0);
		expect(
			countAllowed(
				throttle,
				times(1, () => ['two', '192.0.2.1']),
			),
		).toBe(1);
		expect(
			countAllowed(
				throttle,
				times(20, () => ['one', '198.51.100.7']),
			),
		).toBe(10);
	});

	test('are limited per address for many clients, except for one that authenticated from there', () => {
		const throttle = createAttemptThrottle(new ManualClock(), () => 10);
		throttle.trust('good', '192.0.2.1');
		expect(
			countAllowed(
				throttle,
				times(500, (index) => [`made-up-${index}`, '192.0.2.1']),
			),
		).toBe(100);
		expect(
			countAllowed(
				throttle,
				times(1, () => ['good', '192.0.2.1']),
			),
		).toBe(1);
	});

	test.each([
		['2001:db8::1', '2001:db8::ffff', 'one IPv6 network of 64 bits', 10],
		['2001:db8:0:1::1', '2001:db8:0:2::1', 'two IPv6 networks', 20],
		['::ffff:192.0.2.1', '::ffff:192.0.2.2', 'two IPv4 addresses on a dual-stack socket', 20],
	])('%s and %s are %s', (first, second, _what, allowed) => {
		const throttle = createAttemptThrottle(new ManualClock(), () => 10);
		expect(
			countAllowed(
				throttle,
				times(50, (index) => ['one', index % 2 === 0 ? first : second]),
			),
		).toBe(allowed);
	});

	test('that are forgiven do not count', () => {
		const throttle = createAttemptThrottle(new ManualClock(), () => 2);
		for (let index = 0; index < 50; index++) {
			throttle.count('one', '192.0.2.1');
			throttle.forgive('one', '192.0.2.1');
		}
		throttle.count('one', '192.0.2.1');
		throttle.check('one', '192.0.2.1');
		throttle.count('one', '192.0.2.1');
		expect(() => throttle.check('one', '192.0.2.1')).toThrow(Rejection);
	});

	test('over HTTP: 100 return invalid_client, the next ones 429 with the seconds to wait', async ({ onTestFinished }) => {
		const clock = new ManualClock();
		const subject = await startIdentity({}, { clock });
		onTestFinished(() => subject.stop());
		const tryOnce = (): Promise<Response> => subject.post(formOf({ id: 'agent', secret: 'wrong' }));
		for (let index = 0; index < 100; index++) expect((await tryOnce()).status).toBe(401);
		clock.advance(20_000);
		const response = await tryOnce();
		expect(response.status).toBe(429);
		expect(response.headers.get('retry-after')).toBe('40');
		expect(await response.json()).toMatchObject({ error: 'too_many_attempts' });
		clock.advance(40_000);
		expect((await tryOnce()).status).toBe(401);
	});

	test('over HTTP: a forwarded address applies only if the proxy is trusted', async ({ onTestFinished }) => {
		const statuses = async (trustedProxies: string[]): Promise<number[]> => {
			const subject = await startIdentity({ maxAttemptsPerMinute: 1, trustedProxies });
			onTestFinished(() => subject.stop());
			const wrong = formOf({ id: 'agent', secret: 'wrong' });
			const seen: number[] = [];
			for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.2']) {
				seen.push((await subject.post(wrong, { 'x-forwarded-for': address })).status);
			}
			return seen;
		};
		expect(await statuses([])).toEqual([401, 429, 429]);
		expect(await statuses(['127.0.0.0/8'])).toEqual([401, 401, 429]);
	});
});
