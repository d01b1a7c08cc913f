/** Compares the last full hour of every team with earlier ones, once an hour. */
import type { Clock, Timer } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { formatUsd } from '../../core/money.ts';
import type { Notify } from '../../core/notice.ts';
import { comparedDays, findSpendAnomaly } from '../../policy/notifications/spend-anomaly.ts';
import type { LedgerReader } from '../../stores/contracts/ledger.ts';
import type { WebhookDeliveries } from '../../stores/contracts/webhook-deliveries.ts';
import type { WebhookSettings } from './webhook-settings.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Time after the end of an hour for its requests to be settled. Processes that share a store are spread over as long again. */
const settledMs = 120_000;
/** Prefix of the state that names the last judged hour. */
const subject = 'spend.anomaly';

export interface SpendWatchPorts {
	readonly ledger: Pick<LedgerReader, 'summarize'>;
	readonly deliveries: Pick<WebhookDeliveries, 'change' | 'subjectsIn'>;
	readonly webhooks: () => readonly WebhookSettings[];
	readonly notify: Notify;
	readonly clock: Clock;
	readonly log: Log;
	readonly chance: () => number;
}

export class SpendWatch {
	readonly #ports: SpendWatchPorts;
	#timer: Timer | undefined;
	#isStopped = false;

	constructor(ports: SpendWatchPorts) {
		this.#ports = ports;
		this.#plan();
	}

	stop(): void {
		this.#isStopped = true;
		this.#timer?.cancel();
	}

	#plan(): void {
		if (this.#isStopped) return;
		const { clock, chance } = this.#ports;
		const sinceHourMs = clock.nowMs() % hourMs;
		const dueMs = hourMs - sinceHourMs + settledMs * (1 + chance());
		this.#timer = clock.after(dueMs, () => {
			void this.judge().finally(() => this.#plan());
		});
	}

	/** Judges the last full hour, unless another process has. Never rejects. */
	async judge(): Promise<void> {
		const { clock, deliveries, webhooks, log } = this.#ports;
		const wanting = webhooks().filter(({ events }) => events.includes('spend.anomaly'));
		if (wanting.length === 0) return;
		const nowMs = clock.nowMs();
		const hourStartMs = nowMs - (nowMs % hourMs) - hourMs;
		const hour = new Date(hourStartMs).toISOString();
		try {
			if ((await deliveries.subjectsIn(hour)).includes(subject)) return;
			await this.#judgeHour(hourStartMs, wanting);
			await deliveries.change(subject, hour, []);
		} catch (cause) {
			log.warn('the spend of the last hour was not compared with earlier ones', { cause });
		}
	}

	async #judgeHour(hourStartMs: number, webhooks: readonly WebhookSettings[]): Promise<void> {
		const spent = await this.#costsAt(hourStartMs);
		const minNanoUsd = webhooks.reduce((min, { minAnomalyNanoUsd: own }) => (own < min ? own : min), webhooks[0]?.minAnomalyNanoUsd ?? 0n);
		const suspects = [...spent].filter(([, amount]) => amount >= minNanoUsd && amount > 0n);
		if (suspects.length === 0) return;
		const days: ReadonlyMap<string, bigint>[] = [];
		for (let day = comparedDays; day > 0; day--) days.push(await this.#costsAt(hourStartMs - day * dayMs));
		for (const [team, amount] of suspects) {
			const before = days.map((costs) => costs.get(team) ?? 0n);
			const wanting = webhooks.filter(({ minAnomalyNanoUsd }) => amount >= minAnomalyNanoUsd);
			const anomaly = findSpendAnomaly(amount, before, minNanoUsd);
			if (anomaly === undefined) continue;
			const hour = new Date(hourStartMs).toISOString();
			this.#ports.notify({
				event: 'spend.anomaly',
				subject: `${team}\n${hour}`,
				repeatsUntilMs: hourStartMs + dayMs,
				webhooks: wanting.map(({ name }) => name),
				data: {
					team,
					hour,
					spent_usd: formatUsd(anomaly.spentNanoUsd),
					mean_usd: formatUsd(anomaly.meanNanoUsd),
					deviation_usd: formatUsd(anomaly.deviationNanoUsd),
					compared_hours: anomaly.comparedHours,
				},
			});
		}
	}

	/** Returns the cost of one hour by team. */
	async #costsAt(fromMs: number): Promise<ReadonlyMap<string, bigint>> {
		const rows = await this.#ports.ledger.summarize({ fromMs, toMs: fromMs + hourMs, period: 'hour', by: ['team'] });
		return new Map(rows.map(({ team, costNanoUsd }) => [team, costNanoUsd]));
	}
}
