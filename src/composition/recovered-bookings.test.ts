import { expect, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { createRememberedLog } from '../../test/support/remembered-log.ts';
import { parseConfig } from '../config/load.ts';
import { noMetrics } from '../core/metrics.ts';
import type { Team } from '../core/team.ts';
import type { InterruptedRow } from '../stores/contracts/ledger.ts';
import { createMemoryAdmission } from '../stores/memory/memory-admission.ts';
import { RecoveredBookings } from './recovered-bookings.ts';
import { gatewaySettings } from './settings.ts';

const usd = 1_000_000_000n;
const nowMs = Date.UTC(2026, 10, 21, 12);
const period = '2026-11';
/** 25 USD a month, told of at 20. */
const red: Team = { id: 'red', name: 'Red', tier: 'sandbox', clientIds: [] };

function setUp(unregistered = 'sandbox') {
	const clock = new ManualClock(nowMs);
	const log = createRememberedLog();
	const admission = createMemoryAdmission({ clock });
	const teams = unregistered === 'reject' ? 'reject' : `{ tier: ${unregistered} }`;
	const { config } = parseConfig(`teams: { unregistered_clients: ${teams} }`, { file: null, env: {} });
	const records = { team: (id: string) => (id === 'red' ? red : undefined), budgetsOf: () => [] };
	const recovered = new RecoveredBookings({ settings: gatewaySettings(config), records, admission, metrics: noMetrics, clock, log });
	const restore = (team: string, settledNanoUsd: bigint) =>
		admission.restore({ team, tokensToday: 0, endedIds: [], budgets: [{ budget: 'all', period, settledNanoUsd }] });
	return { recovered, restore, warned: () => log.lines.map(({ fields }) => `${String(fields['team'])} ${String(fields['spentUsd'])}`) };
}

const row = (team: string, costNanoUsd: bigint, startedMs = nowMs): InterruptedRow => ({
	id: `${team}-${costNanoUsd}`,
	team,
	startedMs,
	budgets: ['all'],
	costNanoUsd,
});

test('counters that contain the calls already: told of when these calls made the difference, together', async () => {
	const { recovered, restore, warned } = setUp();
	await restore('red', 21n * usd);
	await restore('alone', 24n * usd);
	await recovered.warnOf([row('red', 2n * usd, Date.UTC(2026, 9, 31)), row('red', usd)]);
	expect(warned(), 'what belongs to another month made no difference in this one').toEqual([]);
	await recovered.warnOf([row('red', usd), row('red', usd / 2n), row('alone', 3n * usd)]);
	expect(warned()).toEqual(['red 21.00']);
});

test('shared counters: by the booking that crosses, once, whoever repeats it', async () => {
	const { recovered, restore, warned } = setUp();
	await restore('red', 19n * usd);
	const settlement = { id: 'one', team: 'red', admittedMs: nowMs, tokens: 0, costNanoUsd: usd, budgets: [{ budget: 'all', period }] };
	await recovered.settle(settlement);
	await recovered.settle(settlement);
	await recovered.settle({ ...settlement, id: 'two' });
	expect(warned()).toEqual(['red 20.00']);
});

test('a team that nobody knows any more has no budget', async () => {
	const { recovered, restore, warned } = setUp('reject');
	await restore('gone', 21n * usd);
	await recovered.warnOf([row('gone', 5n * usd)]);
	expect(warned()).toEqual([]);
});
