import { expect, it } from 'vitest';
import { noUsage } from '../../../core/usage.ts';
import { RequestRecord } from './request-recorder.ts';

const usage = { ...noUsage, inputTokens: 1, cacheReadTokens: 20, cacheWriteTokens: 300, outputTokens: 4000, reasoningTokens: 50_000 };

it('sums what all targets charge, and is an estimate when one of them is', () => {
	const record = new RequestRecord();
	record.charge(usage, 7n, false);
	expect(record.facts).toMatchObject({ inputTokens: 321, outputTokens: 4000, costNanoUsd: 7n });
	expect(record.facts.isEstimated ?? false).toBe(false);
	record.charge(usage, 8n, true);
	record.charge(usage, 0n, false);
	expect(record.facts).toMatchObject({ inputTokens: 963, outputTokens: 12_000, costNanoUsd: 15n, isEstimated: true });
});

it('restores the target before when the next one is skipped', () => {
	const record = new RequestRecord();
	record.ofTarget = { provider: 'first', model: 'a', warnings: ['one'] };
	record.warn([]);
	record.warn(['two']);
	const before = record.ofTarget;
	record.ofTarget = { provider: 'second', model: 'b', warnings: [] };
	expect([record.facts.provider, record.facts.model]).toEqual(['second', 'b']);
	record.ofTarget = before;
	expect(record.ofTarget).toEqual({ provider: 'first', model: 'a', warnings: ['one', 'two'] });
});

it('keeps no status of a target that failed', () => {
	const record = new RequestRecord();
	record.beginResponse(500, 12);
	record.failOver();
	expect([record.facts.upstreamStatus, record.facts.firstByteMs]).toEqual([undefined, 12]);
});
