/** Client that names a new model with each request. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { restoreReportedModels } from '../../src/composition/restore-reported-models.ts';
import { parseConfig } from '../../src/config/load.ts';
import { plainBudget } from '../../src/core/budget.ts';
import { createMetrics } from '../../src/io/metrics.ts';
import { maxUnlistedModels } from '../../src/policy/limits/reported-models.ts';
import type { TeamDirectory } from '../../src/roles/gateway/gateway-settings.ts';
import { GatewayWork } from '../../src/roles/gateway/gateway-work.ts';
import { UnpricedModels } from '../../src/roles/gateway/unpriced-models.ts';
import type { Ledger, UsageSummary } from '../../src/stores/contracts/ledger.ts';
import { openPostgresLedger } from '../../src/stores/postgres-ledger.ts';
import { openSqliteLedger } from '../../src/stores/sqlite/sqlite-ledger.ts';
import { chatPath, GatewayBench, jsonResponse, teamDirectory, testSettings } from '../support/gateway-bench.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { createRecordingLog } from '../support/recording-log.ts';
import { type PostgresDatabase, sharePostgres } from '../support/shared-stores.ts';

let server: PostgresDatabase;
beforeAll(async () => {
	server = await sharePostgres();
});
afterAll(() => server.stop());

const deps = () => ({ clock: new ManualClock(), log: createRecordingLog() });

const backends: Readonly<Record<string, () => Promise<() => Promise<Ledger>>>> = {
	SQLite: async () => {
		const dataDir = temporaryDirectory();
		return () => openSqliteLedger({ dataDir, durability: 'process', retainDays: null }, deps());
	},
	PostgreSQL: async () => {
		const url = await server.createDatabase();
		// Data directory of a new container each time.
		return () => openPostgresLedger({ url, dataDir: temporaryDirectory(), durability: 'process', retainDays: null }, deps());
	},
};

function temporaryDirectory(): string {
	const directory = mkdtempSync(join(tmpdir(), 'tollgate-models-'));
	onTestFinished(() => rmSync(directory, { recursive: true }));
	return directory;
}

const usage = { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 };
const { config } = parseConfig('', { file: null, env: {} });

/** Budgets, prices and rules of an operator, each for a model that no list contains. */
function operatorsWord(): Pick<TeamDirectory, 'budgetsFor' | 'priceOverride' | 'routingRules'> {
	const match = { model: 'nothing', team: null, format: null };
	const rule = {
		id: 'r',
		name: 'r',
		priority: 1,
		isEnabled: true,
		mode: 'enforce',
		match,
		strategy: 'priority',
		createdAtMs: 0,
		updatedAtMs: 0,
	} as const;
	const rates = { inputPicoUsd: 1n, outputPicoUsd: 1n, cacheReadPicoUsd: 1n, cacheWritePicoUsd: 1n };
	return {
		budgetsFor: (_team, { model }) =>
			model.toLowerCase() === 'budgeted'
				? [{ ...plainBudget, id: 'b', model: 'budgeted', limitNanoUsd: 10n ** 15n, warningThresholdPercent: 80, hardLimitPercent: 100 }]
				: [],
		priceOverride: (_provider, model) => (model.toLowerCase() === 'overridden' ? { model: 'overridden', version: 1, ...rates } : undefined),
		routingRules: () => [{ ...rule, targets: [{ provider: 'provider_b', model: 'routed', weight: 1 }] }],
	};
}

function openBench(ledger: Ledger, metrics = createMetrics()) {
	const work = new GatewayWork();
	const unpriced = new UnpricedModels();
	const plain = new GatewayBench();
	const teams = teamDirectory(operatorsWord());
	const providers = testSettings.providers.map((one) => (one.name === 'provider_b' ? { ...one, models: ['configured'] } : one));
	const bench = new GatewayBench({ providers }, { ledger, work, unpriced, metrics, teams, clock: plain.clock });
	// Responses of a provider; every second one knows any model.
	bench.respond = () =>
		bench.sent.length % 2 === 0 ? jsonResponse(404, '{"error":{}}') : jsonResponse(200, JSON.stringify({ id: 'x', usage }));
	return { bench, work, unpriced, metrics, clock: plain.clock };
}

let requested = 0;

async function ask(bench: GatewayBench, models: readonly string[]): Promise<void> {
	for (const model of models) {
		await bench.ask(chatPath, JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] }), {}, { id: `many-${++requested}` });
	}
	await bench.gateway.settled();
}

const flood = (from: number): readonly string[] => Array.from({ length: 1500 }, (_none, index) => `junk-${from + index}`);
const dated = Array.from(
	{ length: 200 },
	(_none, index) => `gpt-4o-2031-0${1 + (index % 9)}-${String(1 + Math.floor(index / 9)).padStart(2, '0')}`,
);
const operators = ['configured', 'budgeted', 'overridden', 'routed', 'fast', 'gpt-4o'];
const spelled = ['BUDGETED', 'OverRidden'];

describe.each(Object.keys(backends))('on %s', (name) => {
	it('one client’s names of models grow neither reports nor lists, and every sum stays', async () => {
		const open = (await backends[name]?.()) ?? neverOpened();
		const first = await open();
		const before = openBench(first);
		await ask(before.bench, [...flood(0), ...dated, ...operators, ...spelled]);
		await first.end();

		// Limit across restarts: the count of unlisted models continues.
		const second = await open();
		const after = openBench(second);
		await restoreReportedModels(second, after.work.reportedModels, { config, clock: after.clock });
		await ask(after.bench, [...flood(5000), ...operators, 'junk-3']);
		// Flush: each request is one ledger entry, and a second read returns after shipped entries are stored.
		await second.list({ limit: 1 });

		const span = { fromMs: 0, toMs: before.clock.nowMs() + 86_400_000, team: 'team-1' } as const;
		const months = await second.summarize({ ...span, period: 'month' });
		const byName = new Map(months.map((row) => [row.model, row]));
		const junk = months.filter(({ model }) => model.startsWith('junk-'));
		expect(junk).toHaveLength(maxUnlistedModels);
		expect(byName.get('junk-3')?.requests).toBe(2);
		expect(byName.get('other')?.requests).toBe(3000 - maxUnlistedModels);
		expect(new Set(months.map(({ model }) => model))).toEqual(
			new Set([...junk.map(({ model }) => model), 'other', 'gpt-5-mini', ...operators.filter((model) => model !== 'fast')]),
		);
		// Dated names count as the listed model, and other spellings as the operator's model.
		expect(byName.get('gpt-4o')?.requests).toBe(dated.length + 2);
		expect([byName.get('budgeted')?.requests, byName.get('overridden')?.requests]).toEqual([3, 3]);

		const all = 3000 + dated.length + 2 * operators.length + spelled.length + 1;
		const [total] = await second.summarize({ ...span, period: 'all', by: ['team'] });
		expect([total?.requests, sumOf(months, ({ requests }) => requests)]).toEqual([all, all]);
		expect(await second.check()).toEqual([]);
		expect(sumOf(months, ({ usage: { outputTokens } }) => outputTokens)).toBe(total?.usage.outputTokens);
		expect(Number(byName.get('gpt-4o')?.costNanoUsd)).toBeGreaterThan(0);

		expect(before.unpriced.list().length + after.unpriced.list().length).toBeLessThanOrEqual(maxUnlistedModels + 10);
		const labels = new Set([...(await after.metrics.scrape()).text.matchAll(/model="([^"]*)"/g)].map(([, label]) => label));
		expect(labels.size).toBeLessThan(12);
		await second.end();
	}, 60_000);
});

function sumOf(rows: readonly UsageSummary[], amountOf: (row: UsageSummary) => number): number {
	return rows.reduce((sum, row) => sum + amountOf(row), 0);
}

function neverOpened(): never {
	throw new Error('no such backend');
}
