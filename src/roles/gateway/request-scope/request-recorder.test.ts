import { expect, it } from 'vitest';
import { noUsage } from '../../../core/usage.ts';
import { RequestRecorder } from './request-recorder.ts';

const usage = { ...noUsage, inputTokens: 1, cacheReadTokens: 20, cacheWriteTokens: 300, outputTokens: 4000, reasoningTokens: 50_000 };

it('sums what all targets charge, and is an estimate when one of them is', () => {
	const recorder = new RequestRecorder();
	recorder.charge(usage, 7n, false);
	expect(recorder.record).toMatchObject({ inputTokens: 321, outputTokens: 4000, costNanoUsd: 7n });
	expect(recorder.record.isEstimated ?? false).toBe(false);
	recorder.charge(usage, 8n, true);
	recorder.charge(usage, 0n, false);
	expect(recorder.record).toMatchObject({ inputTokens: 963, outputTokens: 12_000, costNanoUsd: 15n, isEstimated: true });
});

it('restores the target before when the next one is skipped', () => {
	const recorder = new RequestRecorder();
	recorder.targetFields = { provider: 'first', model: 'a', warnings: ['one'] };
	recorder.warn([]);
	recorder.warn(['two']);
	const before = recorder.targetFields;
	recorder.targetFields = { provider: 'second', model: 'b', warnings: [] };
	expect([recorder.record.provider, recorder.record.model]).toEqual(['second', 'b']);
	recorder.targetFields = before;
	expect(recorder.targetFields).toEqual({ provider: 'first', model: 'a', warnings: ['one', 'two'] });
});

it('keeps no status of a target that failed', () => {
	const recorder = new RequestRecorder();
	recorder.beginResponse(500, 12);
	recorder.failOver();
	expect([recorder.record.upstreamStatus, recorder.record.firstByteMs]).toEqual([undefined, 12]);
});

it('lists attempts in order, retries included, and each monitored code once', () => {
	const recorder = new RequestRecorder();
	expect([recorder.record.targets, recorder.record.monitored]).toEqual([undefined, undefined]);
	const failedAttempt = { provider: 'first', model: 'a', status: 503, code: null, ms: 3 };
	const unreachable = { provider: 'second', model: 'b', status: null, code: 'provider_unreachable', ms: 5 };
	recorder.attempt(failedAttempt);
	recorder.attempt(unreachable);
	recorder.monitor('rpm_limit_exceeded');
	recorder.monitor('budget_exceeded');
	recorder.monitor('rpm_limit_exceeded');
	recorder.end(undefined);
	recorder.attempt(failedAttempt);
	expect(recorder.record.targets).toEqual([failedAttempt, unreachable]);
	expect(recorder.record.monitored).toEqual(['rpm_limit_exceeded', 'budget_exceeded']);
});

it('keeps the limit of a rejection that follows the end', () => {
	const recorder = new RequestRecorder();
	recorder.end('rpm_limit_exceeded');
	const limit = { kind: 'requests_per_minute', limit: 2, used: 2, reserved: 0, resetsAtMs: 60_000 } as const;
	recorder.reject(limit);
	expect(recorder.record).toMatchObject({ code: 'rpm_limit_exceeded', limit });
});
