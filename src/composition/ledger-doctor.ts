/** `tollgate doctor ledger`: compares entries, sums and counters. It changes nothing, and a server may run meanwhile. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ConfigOptions, DoctorCheck } from '../cli/environment.ts';
import { loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { allModels } from '../core/budget-scope.ts';
import { silentLog } from '../core/log.ts';
import { formatUsd } from '../core/money.ts';
import { systemClock } from '../io/system-clock.ts';
import { periodOf } from '../policy/limits/utc-time.ts';
import { type AdmissionStore, CountersMissing } from '../stores/contracts/admission.ts';
import type { LedgerReader } from '../stores/contracts/ledger.ts';
import { openRedisAdmission } from '../stores/redis/redis-admission.ts';
import { sumUpFrom } from './accounting.ts';
import { openLedgerReader } from './open-stores.ts';

const ledgerFile = 'ledger.db';

/** Number of attempts: requests that end during a comparison cause a difference for a moment. */
const polls = 5;
const pauseMs = 200;

/** @throws ConfigError if the configuration is invalid. */
export async function examineLedger({ configPath }: ConfigOptions): Promise<DoctorCheck[]> {
	const { config } = loadConfig({ configPath });
	const isEmbedded = config.stores.records === 'sqlite';
	const path = resolve(config.data_dir, ledgerFile);
	if (isEmbedded && !existsSync(path)) return [{ name: 'ledger', isOk: true, detail: `${path} is created at the first start` }];
	let ledger: LedgerReader | undefined;
	try {
		ledger = await openLedgerReader(config, { clock: systemClock, log: silentLog });
		return [...(await compareSums(ledger, isEmbedded ? path : 'PostgreSQL')), ...(await compareCounters(ledger, config))];
	} catch (cause) {
		return [{ name: 'ledger', isOk: false, detail: cause instanceof Error ? cause.message : String(cause) }];
	} finally {
		await ledger?.end();
	}
}

async function compareSums(ledger: LedgerReader, path: string): Promise<DoctorCheck[]> {
	const differences = await ledger.check();
	if (differences.length === 0) return [{ name: 'ledger', isOk: true, detail: `${path}: entries, hourly and daily sums agree` }];
	return differences.map(({ what, expected, found }) => ({
		name: 'ledger',
		isOk: false,
		detail: `${what}: entries ${expected}, sums ${found}`,
	}));
}

/** Compares shared counters with the ledger. Counters in memory are restored from the ledger at each start, so they cannot differ. */
async function compareCounters(ledger: LedgerReader, { stores: { counters } }: Config): Promise<DoctorCheck[]> {
	if (counters === 'memory') return [];
	const store = await openRedisAdmission({ url: counters }, { clock: systemClock, log: silentLog });
	try {
		const nowMs = systemClock.nowMs();
		const period = periodOf(nowMs);
		const rows = await ledger.summarize({ fromMs: nowMs, toMs: nowMs + 1, period: 'month' });
		const teams = [...new Set(rows.map(({ team }) => team))];
		const checks: DoctorCheck[] = [];
		for (const team of teams) checks.push(await compareTeam(team, period, store, ledger));
		return checks;
	} catch (cause) {
		return [{ name: 'counters', isOk: false, detail: cause instanceof Error ? cause.message : String(cause) }];
	} finally {
		await store.close();
	}
}

async function compareTeam(team: string, period: string, store: AdmissionStore, ledger: LedgerReader): Promise<DoctorCheck> {
	const name = `counters of ${team}`;
	const requested = [{ budget: allModels, period }];
	const sumUp = sumUpFrom(ledger, { budgetsOf: () => [] }, { clock: systemClock, listing: () => () => undefined });
	let detail = '';
	for (let poll = 0; poll < polls; poll++) {
		if (poll > 0) await new Promise((resolveLater) => setTimeout(resolveLater, pauseMs));
		try {
			const reading = await store.read(team, requested);
			const totals = await sumUp(team, requested, systemClock.nowMs());
			const [spent, owed] = [reading.budgets[0]?.settledNanoUsd ?? 0n, totals.budgets[0]?.settledNanoUsd ?? 0n];
			const same = spent === owed && reading.tokensToday === totals.tokensToday;
			if (same) return { name, isOk: true, detail: `${formatUsd(spent)} USD this month, ${reading.tokensToday} tokens today` };
			detail = `ledger: ${formatUsd(owed)} USD, ${totals.tokensToday} tokens today; counters: ${formatUsd(spent)} USD, ${reading.tokensToday} tokens`;
		} catch (cause) {
			if (!(cause instanceof CountersMissing)) throw cause;
			return { name, isOk: true, detail: 'not counted yet: restored from the ledger at the next request' };
		}
	}
	return { name, isOk: false, detail };
}
