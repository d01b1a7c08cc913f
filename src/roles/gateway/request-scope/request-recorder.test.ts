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
