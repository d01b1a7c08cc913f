/** What was spent of budgets in the current UTC month, and what that means. */
import type { z } from 'zod';
import { counterName } from '../../policy/limits/team-terms.ts';
import { periodOf } from '../../policy/limits/utc-time.ts';
import { CountersMissing } from '../../stores/contracts/admission.ts';
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
	read(team: string, budgets: readonly MeteredBudget[]): Promise<z.output<typeof budgetUsage>[]>;
}

interface Spent {
	readonly settledNanoUsd: bigint;
	readonly heldNanoUsd: bigint;
}

type Ports = Pick<AdminPorts, 'admission' | 'ledger' | 'clock' | 'log'>;

export function createBudgetMeter({ admission, ledger, clock, log }: Ports): BudgetMeter {
	const fromLedger = async (team: string, budgets: readonly MeteredBudget[], period: string): Promise<Spent[]> => {
		const rows = await ledger.summarize({ ...spanOfMonth(period), period: 'month', team });
		return budgets.map(({ model }) => {
			const counted = rows.filter((row) => model === null || row.model === model);
			return { settledNanoUsd: counted.reduce((sum, row) => sum + row.costNanoUsd, 0n), heldNanoUsd: 0n };
		});
	};
	const spentOf = async (team: string, budgets: readonly MeteredBudget[], period: string): Promise<readonly Spent[]> => {
		if (admission === undefined) return fromLedger(team, budgets, period);
		try {
			const counters = budgets.map(({ model }) => ({ budget: counterName(model), period }));
			const reading = await admission.read(team, counters);
			return reading.budgets.length === budgets.length ? reading.budgets : await fromLedger(team, budgets, period);
		} catch (cause) {
			// Nobody has called since the start: the ledger says all there is.
			if (!(cause instanceof CountersMissing)) {
				log.warn('counters could not be read; budgets are summed up from the ledger', { team, cause: String(cause) });
			}
			return fromLedger(team, budgets, period);
		}
	};
	return {
		async read(team, budgets) {
			if (budgets.length === 0) return [];
			const period = periodOf(clock.nowMs());
			const spent = await spentOf(team, budgets, period);
			return budgets.map((budget, index) => usageOf(budget, spent[index] ?? { settledNanoUsd: 0n, heldNanoUsd: 0n }, period));
		},
	};
}

function usageOf(budget: MeteredBudget, { settledNanoUsd, heldNanoUsd }: Spent, period: string): z.output<typeof budgetUsage> {
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
