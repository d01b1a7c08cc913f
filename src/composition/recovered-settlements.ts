/** Recovered cost of a dead process's requests: settled in shared counters, and checked for budget warnings. */
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { Metrics } from '../core/metrics.ts';
import type { Notify } from '../core/notice.ts';
import type { Team } from '../core/team.ts';
import { totalTokens } from '../core/usage.ts';
import { budgetPeriodOf } from '../policy/limits/budget-windows.ts';
import { TermsResolver } from '../policy/limits/terms-resolver.ts';
import { budgetWarnings } from '../roles/gateway/budget-warnings.ts';
import type { GatewaySettings } from '../roles/gateway/gateway-settings.ts';
import { type AdmissionStore, budgetKey, type Settlement } from '../stores/contracts/admission.ts';
import type { InterruptedEntry, LedgerEntry } from '../stores/contracts/ledger.ts';
import type { RecordsSnapshot } from '../stores/records-snapshot.ts';

export interface RecoveredSettlementPorts {
	readonly settings: Pick<GatewaySettings, 'tiers' | 'budgets' | 'unregisteredClients'>;
	readonly records: Pick<RecordsSnapshot, 'team' | 'budgetsOf'>;
	readonly admission: Pick<AdmissionStore, 'settle' | 'read'>;
	readonly metrics: Metrics;
	readonly notify: Notify;
	readonly clock: Clock;
	readonly log: Log;
}

const maxSettledAtOnce = 50;

export class RecoveredSettlements {
	readonly #ports: RecoveredSettlementPorts;
	readonly #terms: TermsResolver;
	readonly #warn: ReturnType<typeof budgetWarnings>;

	constructor(ports: RecoveredSettlementPorts) {
		this.#ports = ports;
		this.#terms = new TermsResolver(ports.settings.tiers, ports.settings.budgets);
		this.#warn = budgetWarnings(ports.metrics, ports.log, ports.notify);
	}

	/** Settles requests that a dead process left open, in shared counters. An unavailable store receives them once it is back. */
	async settleInterrupted(rows: readonly InterruptedEntry[]): Promise<void> {
		await Promise.allSettled(rows.map((row) => this.#settle(settlementOf(row))));
	}

	/**
	 * Settles ended requests again, in shared counters. A process that died after it closed an entry may not have settled it.
	 * @param rows of requests. Those that ended before `sinceMs` are already settled; those that were never sent have no cost.
	 */
	async settleAgain(rows: AsyncIterable<LedgerEntry>, sinceMs: number): Promise<void> {
		const waiting: Settlement[] = [];
		// A last incomplete batch is settled after the loop.
		const settleWaiting = async (): Promise<void> => {
			await Promise.all(waiting.splice(0).map(async (settlement) => this.#settle(settlement)));
		};
		for await (const row of rows) {
			const { closed } = row;
			if (closed === undefined || closed.endedMs < sinceMs || closed.outcome === 'not_sent') continue;
			waiting.push({ ...settlementOf({ ...row, costNanoUsd: closed.costNanoUsd }), tokens: totalTokens(closed.usage) });
			if (waiting.length === maxSettledAtOnce) await settleWaiting();
		}
		await settleWaiting();
	}

	/**
	 * Sends the budget warnings, for counters of this process only. They were restored from the ledger, so they already contain these
	 * requests.
	 */
	async warnOf(rows: readonly InterruptedEntry[]): Promise<void> {
		for (const [team, ofTeam] of Map.groupBy(rows, (row) => row.team)) {
			const counted = ofTeam.flatMap(({ budgets, startedMs, costNanoUsd }) =>
				budgets.map((name) => ({ ...budgetPeriodOf(name, startedMs), costNanoUsd })),
			);
			for (const ofBudget of Map.groupBy(counted, budgetKey).values()) {
				const [budget] = ofBudget;
				// Budgets of earlier windows have ended.
				const terms = this.#termsOf(team).filter((one) => budget !== undefined && budgetKey(one) === budgetKey(budget));
				if (budget === undefined || terms.length === 0) continue;
				const { budgets: readings } = await this.#ports.admission.read(team, [budget]);
				this.#warn({ team, costNanoUsd: ofBudget.reduce((sum, one) => sum + one.costNanoUsd, 0n), readings }, terms);
			}
		}
	}

	/** A settlement that the counters already have changes nothing. */
	async #settle(settlement: Settlement): Promise<void> {
		const { team, costNanoUsd } = settlement;
		const { isDuplicate, budgets: readings } = await this.#ports.admission.settle(settlement);
		if (!isDuplicate) this.#warn({ team, costNanoUsd, readings }, this.#termsOf(team));
	}

	#termsOf(id: string) {
		const { records, settings, clock } = this.#ports;
		const { unregisteredClients: unregistered } = settings;
		const alone: Team | undefined = unregistered === 'reject' ? undefined : { id, name: id, tier: unregistered.tier, clientIds: [id] };
		const team = records.team(id) ?? alone;
		return team === undefined ? [] : this.#terms.termsOf(team, records.budgetsOf(id), clock.nowMs()).budgets;
	}
}

function settlementOf({ id, team, startedMs, budgets, costNanoUsd }: InterruptedEntry): Settlement {
	const counters = budgets.map((name) => budgetPeriodOf(name, startedMs));
	return { id, team, admittedMs: startedMs, tokens: 0, costNanoUsd, budgets: counters };
}
