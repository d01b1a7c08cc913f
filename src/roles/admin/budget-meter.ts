/** What was spent of budgets in the current UTC month, and what that means. */
import type { z } from 'zod';
import { counterName } from '../../policy/limits/team-terms.ts';
import { periodOf } from '../../policy/limits/utc-time.ts';
import { CountersMissing } from '../../stores/contracts/admission.ts';
import type { SummaryRow } from '../../stores/contracts/ledger.ts';
import type { AdminPorts } from './admin-settings.ts';
import { spanOfMonth } from './months.ts';
import type { budgetUsage } from './schemas/budget.ts';
import { timeOf, usdText } from './schemas/values.ts';

/** As budgets are, whether stored or given by a tier. */
export interface MeteredBudget {
	readonly model: string | null;
	readonly limitNanoUsd: bigint;
	readonly warningThresholdPercent: number;
	readonly hardLimitPercent: number;
}

export interface BudgetMeter {
	/** In the order of the budgets, which are all of one team. */
	read(team: string, budgets: readonly MeteredBudget[]): Promise<BudgetUsage[]>;
	/** The same of several teams at once, by team. */
	readAll<Budget extends MeteredBudget>(budgetsByTeam: ReadonlyMap<string, readonly Budget[]>): Promise<Map<string, BudgetUsage[]>>;
}

export type BudgetUsage = z.output<typeof budgetUsage>;

interface Spent {
	readonly settledNanoUsd: bigint;
	readonly heldNanoUsd: bigint;
}

type Ports = Pick<AdminPorts, 'admission' | 'ledger' | 'clock' | 'log'>;

export function createBudgetMeter({ admission, ledger, clock, log }: Ports): BudgetMeter {
	/** @returns undefined when the counters do not say. */
	const fromCounters = async (team: string, budgets: readonly MeteredBudget[], period: string): Promise<readonly Spent[] | undefined> => {
		try {
			const counters = budgets.map(({ model }) => ({ budget: counterName(model), period }));
			const reading = await admission?.read(team, counters);
			return reading?.budgets.length === budgets.length ? reading.budgets : undefined;
		} catch (cause) {
			// Nobody has called since the start: the ledger says all there is.
			if (!(cause instanceof CountersMissing)) {
				log.warn('counters could not be read; budgets are summed up from the ledger', { team, cause: String(cause) });
			}
			return undefined;
		}
	};
	const meter: BudgetMeter = {
		async read(team, budgets) {
			return (await meter.readAll(new Map([[team, budgets]]))).get(team) ?? [];
		},
		async readAll(budgetsByTeam) {
			const period = periodOf(clock.nowMs());
			const spent = new Map<string, readonly Spent[]>();
			const asked = [...budgetsByTeam].filter(([, budgets]) => budgets.length > 0);
			await Promise.all(
				asked.map(async ([team, budgets]) => {
					const found = await fromCounters(team, budgets, period);
					if (found !== undefined) spent.set(team, found);
				}),
			);
			const missing = asked.filter(([team]) => !spent.has(team)).map(([team]) => team);
			if (missing.length > 0) {
				const rows = await ledger.summarize({ ...spanOfMonth(period), period: 'month', team: missing });
				const rowsByTeam = Map.groupBy(rows, (row) => row.team);
				for (const team of missing) spent.set(team, spentOf(budgetsByTeam.get(team) ?? [], rowsByTeam.get(team) ?? []));
			}
			return new Map(
				asked.map(([team, budgets]) => {
					const ofTeam = spent.get(team) ?? [];
					return [team, budgets.map((budget, index) => usageOf(budget, ofTeam[index] ?? nothingSpent, period))];
				}),
			);
		},
	};
	return meter;
}

const nothingSpent: Spent = { settledNanoUsd: 0n, heldNanoUsd: 0n };

function spentOf(budgets: readonly MeteredBudget[], rows: readonly SummaryRow[]): Spent[] {
	return budgets.map(({ model }) => {
		const counted = rows.filter((row) => model === null || row.model === model);
		return { settledNanoUsd: counted.reduce((sum, row) => sum + row.costNanoUsd, 0n), heldNanoUsd: 0n };
	});
}

function usageOf(budget: MeteredBudget, { settledNanoUsd, heldNanoUsd }: Spent, period: string): BudgetUsage {
	const { limitNanoUsd, hardLimitPercent, warningThresholdPercent } = budget;
	const { fromMs, toMs } = spanOfMonth(period);
	const leftNanoUsd = (limitNanoUsd * BigInt(hardLimitPercent)) / 100n - settledNanoUsd - heldNanoUsd;
	const isWarning = settledNanoUsd * 100n >= limitNanoUsd * BigInt(warningThresholdPercent);
	return {
		period_start: timeOf(fromMs),
		period_end: timeOf(toMs),
		spent_usd: usdText(settledNanoUsd),
		held_usd: usdText(heldNanoUsd),
		remaining_usd: usdText(leftNanoUsd > 0n ? leftNanoUsd : 0n),
		utilization_percent: limitNanoUsd === 0n ? 100 : Number((settledNanoUsd * 10_000n) / limitNanoUsd) / 100,
		state: leftNanoUsd <= 0n ? 'exhausted' : isWarning ? 'warning' : 'ok',
	};
}
