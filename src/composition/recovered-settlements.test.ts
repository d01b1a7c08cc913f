import { expect, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { createRecordingLog } from '../../test/support/recording-log.ts';
import { parseConfig } from '../config/load.ts';
import { noMetrics } from '../core/metrics.ts';
import type { Team } from '../core/team.ts';
import { totalTokens } from '../core/usage.ts';
import { closedEntry, openEntry } from '../stores/contracts/ledger.contract.ts';
import type { ClosedEntry, InterruptedEntry, LedgerEntry } from '../stores/contracts/ledger.ts';
import { createMemoryAdmission } from '../stores/memory/memory-admission.ts';
import { type RecoveredSettlementPorts, RecoveredSettlements } from './recovered-settlements.ts';
import { gatewaySettings } from './settings.ts';

const usd = 1_000_000_000n;
const nowMs = Date.UTC(2026, 10, 21, 12);
const period = '2026-11';
/** 25 USD a month, with a warning at 20. */
const red: Team = { id: 'red', name: 'Red', tier: 'sandbox', clientIds: [] };

function setUp(unregistered = 'sandbox') {
	const clock = new ManualClock(nowMs);
	const log = createRecordingLog();
	const admission = createMemoryAdmission({ clock });
	const teams = unregistered === 'reject' ? 'reject' : `{ tier: ${unregistered} }`;
	const { config } = parseConfig(`teams: { unregistered_clients: ${teams} }`, { file: null, env: {} });
	const records = { team: (id: string) => (id === 'red' ? red : undefined), budgetsOf: () => [] };
	const settling = { atOnce: 0, maxConcurrency: 0 };
	const recordingAdmission: RecoveredSettlementPorts['admission'] = {
		read: async (team, budgets) => admission.read(team, budgets),
		async settle(settlement) {
			settling.maxConcurrency = Math.max(settling.maxConcurrency, ++settling.atOnce);
			await Promise.resolve();
			settling.atOnce--;
			return admission.settle(settlement);
		},
	};
	const settings = gatewaySettings(config);
	const recovered = new RecoveredSettlements({
		settings,
		records,
		admission: recordingAdmission,
		metrics: noMetrics,
		notify: () => undefined,
		clock,
		log,
	});
	const restore = (team: string, settledNanoUsd: bigint) =>
		admission.restore({ team, tokensToday: 0, endedIds: [], budgets: [{ budget: 'all', period, settledNanoUsd }] });
	return {
		recovered,
		restore,
		admission,
		settling,
		warned: () => log.lines.map(({ fields }) => `${String(fields['team'])} ${String(fields['spentUsd'])}`),
	};
}

const row = (team: string, costNanoUsd: bigint, startedMs = nowMs): InterruptedEntry => ({
	id: `${team}-${costNanoUsd}`,
	team,
	clientId: `${team}-bot`,
	provider: 'provider_b',
	model: 'gpt-4o',
	dialect: 'chat',
	startedMs,
	budgets: ['all'],
	costNanoUsd,
});

test('counters that already contain the requests: a warning if these requests together made the difference', async () => {
	const { recovered, restore, warned } = setUp();
	await restore('red', 21n * usd);
	await restore('alone', 24n * usd);
	await recovered.warnOf([row('red', 2n * usd, Date.UTC(2026, 9, 31)), row('red', usd)]);
	expect(warned(), 'what belongs to another month made no difference in this one').toEqual([]);
	await recovered.warnOf([row('red', usd), row('red', usd / 2n), row('alone', 3n * usd)]);
	expect(warned()).toEqual(['red 21.00']);
});

test('shared counters: a warning by the settlement that crosses, once, also when another process repeats it', async () => {
	const { recovered, restore, warned } = setUp();
	await restore('red', 19n * usd);
	const one = row('red', usd);
	await recovered.settleInterrupted([one]);
	await recovered.settleInterrupted([one, { ...one, id: 'two' }]);
	expect(warned()).toEqual(['red 20.00']);
});

test('requests that ended recently are settled again in groups, and no others', async () => {
	const { recovered, restore, admission, settling } = setUp();
	await restore('red', 0n);
	const called = (id: string, closed: Partial<ClosedEntry> | undefined): LedgerEntry => ({
		...openEntry(id, { team: 'red', startedMs: nowMs - 1000, budgets: ['all'] }),
		closed: closed === undefined ? undefined : closedEntry(id, { endedMs: nowMs, costNanoUsd: 3n, ...closed }),
	});
	async function* rows(): AsyncGenerator<LedgerEntry> {
		yield called('running', undefined);
		yield called('long ago', { endedMs: nowMs - 60_001 });
		yield called('never sent', { outcome: 'not_sent' });
		for (let index = 0; index < 120; index++) yield called(`c${index}`, {});
	}
	await recovered.settleAgain(rows(), nowMs - 60_000);
	await recovered.settleAgain(rows(), nowMs - 60_000);
	const { budgets, tokensToday } = await admission.read('red', [{ budget: 'all', period }]);
	const tokens = totalTokens(closedEntry('any').usage);
	expect([budgets[0]?.settledNanoUsd, tokensToday, settling.maxConcurrency]).toEqual([360n, 120 * tokens, 50]);
});

test('an unknown team has no budget', async () => {
	const { recovered, restore, warned } = setUp('reject');
	await restore('gone', 21n * usd);
	await recovered.warnOf([row('gone', 5n * usd)]);
	expect(warned()).toEqual([]);
});
