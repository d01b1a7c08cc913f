import { expect, test } from 'vitest';
import { readExposition, type Series, valueOf } from '../../../test/support/exposition.ts';
import { noUsage } from '../../core/usage.ts';
import { createMetrics } from '../../io/metrics.ts';
import { type PriceRecord, PriceResolver } from '../../policy/budgets/price-resolver.ts';
import { type EndedRequest, RequestMetricsByModel } from './model-metrics.ts';

const rates = { model: 'in-house', version: 1, inputPicoUsd: 1n, outputPicoUsd: 1n, cacheReadPicoUsd: 1n, cacheWritePicoUsd: 1n };

function subject({ overrides = new Map<string, PriceRecord>(), hasTeamMetrics = true } = {}) {
	const metrics = createMetrics();
	const prices = new PriceResolver({ unknownPrice: 'allow', defaultRate: { inputUsd: '1', outputUsd: '1' } }, (provider, model) =>
		overrides.get(`${provider}/${model}`),
	);
	const requests = new RequestMetricsByModel(metrics, {
		settings: {
			providers: [{ name: 'b', kind: 'openai', models: ['own-model'] }],
			routing: { aliases: { fast: 'b/quick-model' } },
			hasTeamMetrics,
		},
		prices,
		isRegistered: (team) => team === 'red',
		nowMs: () => Date.UTC(2026, 10, 21),
	});
	const end = (inferenceRequest: Partial<EndedRequest>): void => {
		const usage = { ...noUsage, inputTokens: 10, cacheReadTokens: 5, cacheWriteTokens: 3, outputTokens: 7, reasoningTokens: 2 };
		requests.ended({
			provider: 'b',
			model: 'gpt-4o',
			team: 'red',
			usage,
			costNanoUsd: 1_500_000_001n,
			isEstimated: false,
			upstreamMs: 250,
			...inferenceRequest,
		});
	};
	return { end, requests, overrides, series: async (): Promise<readonly Series[]> => readExposition((await metrics.scrape()).text) };
}

test('tokens by kind, cost, estimates and time of a request', async () => {
	const { end, series } = subject();
	end({});
	end({ isEstimated: true });
	const found = await series();
	const labels = { provider: 'b', model: 'gpt-4o' };
	const kinds = ['input', 'cache_read', 'cache_write', 'output'].map((kind) =>
		valueOf(found, 'tollgate_tokens_total', { ...labels, kind }),
	);
	expect(kinds).toEqual([20, 10, 6, 14]);
	expect(valueOf(found, 'tollgate_tokens_total')).toBe(50);
	expect(valueOf(found, 'tollgate_reasoning_tokens_total', labels)).toBe(4);
	expect(valueOf(found, 'tollgate_cost_usd_total', labels)).toBeCloseTo(3.000000002, 9);
	expect(valueOf(found, 'tollgate_estimated_requests_total', labels)).toBe(1);
	expect(valueOf(found, 'tollgate_upstream_duration_seconds_bucket', { ...labels, le: '0.25' })).toBe(2);
	expect(valueOf(found, 'tollgate_upstream_duration_seconds_sum', labels)).toBe(0.5);
	expect(['requests', 'tokens'].map((what) => valueOf(found, `tollgate_team_${what}_total`, { team: 'red' }))).toEqual([2, 50]);
});

test('a model has a label if it is priced or configured; 10,000 invented names are one series', async () => {
	const overrides = new Map([['b/in-house', rates]]);
	const { end, series } = subject({ overrides });
	const name = 'constructor';
	for (const model of ['gpt-4o', 'gpt-4o-2024-08-06', 'ft:gpt-4o:org::id', 'own-model', 'quick-model', 'in-house', name, '__proto__']) {
		end({ model });
	}
	for (let index = 0; index < 10_000; index++) {
		end({ model: `invented-${index}`, team: `invented-${index}` });
		end({ model: `gpt-4o-invented-${index}` });
	}
	let found = await series();
	const models = (): string[] => found.filter((one) => one.name === 'tollgate_cost_usd_total').map(({ labels }) => labels['model'] ?? '');
	expect(new Set(models())).toEqual(new Set(['gpt-4o', 'ft:gpt-4o', 'own-model', 'quick-model', 'in-house', 'other']));
	expect(models()).toHaveLength(new Set(models()).size);
	expect(found.filter(({ labels }) => labels['team'] !== undefined && labels['team'] !== 'red' && labels['team'] !== 'other')).toEqual([]);
	expect(valueOf(found, 'tollgate_team_requests_total', { team: 'other' })).toBe(10_000);

	overrides.set('b/invented-7', { ...rates, model: 'invented-7' });
	end({ model: 'invented-7' });
	found = await series();
	expect(valueOf(found, 'tollgate_reasoning_tokens_total', { model: 'invented-7' })).toBe(2);
});

test('teams have no label by default', async () => {
	const { end, series } = subject({ hasTeamMetrics: false });
	end({});
	const found = await series();
	expect(found.filter(({ labels, name }) => 'team' in labels || name.includes('team'))).toEqual([]);
});
