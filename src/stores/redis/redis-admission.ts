/** Counters in Redis or Valkey, shared by any number of processes. Each operation is one script, at the server's clock. */

import { BoundedMap } from '../../core/bounded-map.ts';
import type { Clock } from '../../core/clock.ts';
import {
	type Admission,
	type BudgetPeriod,
	type BudgetReading,
	type CounterReading,
	isCountedAlways,
	type RateLimit,
	type RateReading,
} from '../../core/counters.ts';
import { dayNumberOf } from '../../core/day-number.ts';
import type { Log } from '../../core/log.ts';
import {
	type AdmissionRequest,
	type AdmissionStore,
	type BudgetReservation,
	budgetKey,
	CountersMissing,
	endedRetentionMs,
	type ReservedRequest,
	rateName,
	type Settled,
	type Settlement,
	type TeamTotals,
} from '../contracts/admission.ts';
import { itemsFrom, listOf, textFrom } from '../decode.ts';
import { OperationDeadlines } from '../operation-deadlines.ts';
import { compileScripts, type Operation } from './admission-scripts.ts';
import { CommandCoalescer } from './command-coalescer.ts';
import { RedisConnection, type RedisSettings } from './redis-connection.ts';
import type { Script } from './script.ts';

export interface RedisAdmissionSettings extends RedisSettings {
	/** Prefix of every key. */
	readonly prefix?: string;
	/** Name of this run of the process, letters and digits, so that its reservations can be released after it has died. Default none. */
	readonly owner?: string;
	/** Lua expression for unix milliseconds, instead of the server's clock: tests pass one that they control. */
	readonly clockLua?: string;
}

/** Maximum wait for the server at the start. */
const firstReadyMs = 1000;

/** Maximum wait for the first response. */
const trialPatience = { tickMs: 250, ticks: 4 };

/** Names a team without counters, so that it changes nothing. */
const trial: AdmissionRequest = { id: 'trial', team: ':trial', limits: [], reservations: [], reservationMs: 1 };

/** Maximum number of teams remembered as registered with the server; forgotten ones are registered again. */
const maxRegistered = 10_000;

export interface SharedAdmission extends AdmissionStore {
	/**
	 * Releases the remaining reservations of a stale run. Requires that the cost of its ledger entries is settled.
	 * @returns the number of released reservations.
	 */
	abandon(owner: string): Promise<number>;
}

const none: readonly RateLimit[] = [];

/** Number of requests in one script run. */
const maxRestoredAtOnce = 100;

/** Waits for the server for a short time; if it is not reachable then, the store connects later. */
export async function openRedisAdmission(
	settings: RedisAdmissionSettings,
	{ clock, log }: { clock: Clock; log: Log },
): Promise<SharedAdmission> {
	const scripts = compileScripts(settings.clockLua);
	const connection = new RedisConnection({ ...settings, scripts: Object.values(scripts) }, log);
	const store = new RedisAdmission(connection, scripts, { prefix: settings.prefix ?? 'tollgate', owner: settings.owner ?? '' }, clock);
	// The first use of connection and script is slow, so a trial takes the place of a client's request.
	const isReady = await connection.firstReady(firstReadyMs, clock);
	if (isReady) await new OperationDeadlines(clock, trialPatience).race(store.admit(trial)).catch(() => undefined);
	else log.warn('counter store not reachable yet', { address: connection.address });
	return store;
}

class RedisAdmission implements SharedAdmission {
	private readonly connection: RedisConnection;
	private readonly scripts: Record<Operation, Script>;
	private readonly prefix: string;
	private readonly owner: string;
	private readonly registered = new BoundedMap<string, true>(maxRegistered);
	private readonly ends: CommandCoalescer;

	constructor(
		connection: RedisConnection,
		scripts: Record<Operation, Script>,
		{ prefix, owner }: { readonly prefix: string; readonly owner: string },
		clock: Clock,
	) {
		this.connection = connection;
		this.scripts = scripts;
		this.prefix = prefix;
		this.owner = owner;
		this.ends = new CommandCoalescer(clock);
	}

	async admit({ id, team, limits, reservedTokens = 0, reservations, reservationMs }: AdmissionRequest): Promise<Admission> {
		this.register(team);
		const rates = limits.flatMap((limit) => [rateName(limit), limit.limit ?? '']);
		const values = [id, reservedTokens, reservationMs, limits.length, ...rates, ...reservations.flatMap(limitOf)];
		const [verdict, reading] = await this.query('admit', team, [id], values, reservations, limits);
		if (verdict === 'admitted') return { isAdmitted: true, reading };
		if (verdict.startsWith('admitted:')) {
			const reservedNanoUsd = BigInt(verdict.slice('admitted:'.length));
			return reservations.some(({ check }) => check === 'fit')
				? { isAdmitted: true, reading, reservedNanoUsd }
				: { isAdmitted: true, reading };
		}
		const [what, number] = verdict.split(':');
		const limit = what === 'limit' ? limits[Number(number) - 1] : undefined;
		if (limit !== undefined) {
			return { isAdmitted: false, binding: limit.kind, ...(limit.models !== undefined && { models: limit.models }), reading };
		}
		const exceeded = what === 'budget' ? reservations[Number(number) - 1] : undefined;
		if (exceeded === undefined) throw new Error(`${this.connection.address} returned the unknown verdict ${verdict}`);
		return { isAdmitted: false, binding: 'budget', budget: exceeded.budget, period: exceeded.period, reading };
	}

	async settle({ id, team, admittedMs, tokens, costNanoUsd, budgets }: Settlement): Promise<Settled> {
		const values = [id, tokens, moneyText(costNanoUsd), endedRetentionMs, dayNumberOf(admittedMs), ...budgets.map(budgetKey)];
		const [verdict, reading] = await this.ends.wait(() => this.query('settle', team, [id], values, budgets));
		return { isDuplicate: verdict === 'duplicate', isLate: verdict === 'late', budgets: reading.budgets };
	}

	async release(id: string, team: string): Promise<void> {
		await this.ends.wait(() => this.evaluate('release', team, [id], [id, endedRetentionMs]));
	}

	async extend(id: string, team: string, reservations: readonly BudgetReservation[]): Promise<boolean> {
		const verdict = await this.evaluate('extend', team, [], [id, ...reservations.flatMap(limitOf)]);
		if (verdict === 'missing') throw new CountersMissing(team);
		return verdict === 'extended';
	}

	async grow(id: string, team: string, reservations: readonly BudgetReservation[], reservationMs: number): Promise<bigint | undefined> {
		const wanted = reservations.flatMap((reservation) => [
			budgetKey(reservation),
			moneyText(reservation.limitNanoUsd),
			moneyText(reservation.amountNanoUsd),
			moneyText(reservation.minNanoUsd ?? 0n),
		]);
		const verdict = String(await this.evaluate('grow', team, [], [id, reservationMs, ...wanted]));
		if (verdict === 'missing') throw new CountersMissing(team);
		return verdict.startsWith('grown:') ? BigInt(verdict.slice('grown:'.length)) : undefined;
	}

	async read(team: string, budgets: readonly BudgetPeriod[], limits: readonly RateLimit[] = none): Promise<CounterReading> {
		return (await this.query('read', team, [], [limits.length, ...limits.map(rateName), ...budgets.map(budgetKey)], budgets, limits))[1];
	}

	async restore({ team, tokensToday, budgets, endedIds }: TeamTotals): Promise<void> {
		const totals = budgets.flatMap((total) => [budgetKey(total), moneyText(total.settledNanoUsd)]);
		await this.evaluate('restore', team, endedIds, [tokensToday, endedRetentionMs, ...totals]);
	}

	async restoreReservations(team: string, requests: readonly ReservedRequest[]): Promise<void> {
		this.register(team);
		for (let first = 0; first < requests.length; first += maxRestoredAtOnce) {
			const some = requests.slice(first, first + maxRestoredAtOnce);
			const values = some.flatMap(({ id, admittedMs, reservationMs, reservedTokens = 0, reservations }) => {
				return [
					id,
					reservationMs,
					reservations.length,
					dayNumberOf(admittedMs),
					...reservations.flatMap((reservation) => [budgetKey(reservation), moneyText(reservation.amountNanoUsd)]),
					reservedTokens,
				];
			});
			const ids = some.map(({ id }) => id);
			if ((await this.evaluate('restoreReservations', team, ids, values)) === 'missing') throw new CountersMissing(team);
		}
	}

	async abandon(owner: string): Promise<number> {
		const teams = listOf(textFrom)(await this.evaluateKeys('teamsOf', [this.ownerKey(owner)], []));
		let released = 0;
		for (const team of teams) released += Number(await this.evaluate('abandon', team, [], [owner]));
		return released;
	}

	/** Sent before the reservation. A failed registration is repeated with the team's next request. */
	private register(team: string): void {
		if (this.owner === '' || !this.connection.isConnected) return;
		const key = `${this.connection.run} ${team}`;
		if (this.registered.has(key)) return;
		this.registered.set(key, true);
		this.evaluateKeys('register', [this.ownerKey(this.owner)], [team]).catch(() => this.registered.delete(key));
	}

	private ownerKey(owner: string): string {
		return `${this.prefix}:owner:{${owner}}`;
	}

	onReturn(listener: () => void): void {
		this.connection.onReady(() => {
			if (this.connection.isReturn) listener();
		});
	}

	isConnected(): boolean {
		return this.connection.isConnected;
	}

	close(): Promise<void> {
		this.ends.go();
		return this.connection.close();
	}

	/** Runs an operation whose response is a verdict and a reading. */
	private async query(
		operation: Operation,
		team: string,
		ids: readonly string[],
		values: readonly (string | number)[],
		budgets: readonly BudgetPeriod[],
		limits: readonly RateLimit[] = none,
	): Promise<[string, CounterReading]> {
		const [verdict, nowMs, requests, tokens, reserved, generation, ...rest] = itemsFrom(await this.evaluate(operation, team, ids, values));
		if (verdict === 'missing') throw new CountersMissing(team);
		const counted = limits.filter((limit) => !isCountedAlways(limit));
		const rates = counted.map(({ kind, models }, index): RateReading => {
			const count = { used: Number(rest[2 * index]), reserved: Number(rest[2 * index + 1]) };
			return models === undefined ? { kind, ...count } : { kind, models, ...count };
		});
		const money = rest.slice(2 * counted.length);
		const readings = budgets.map(({ budget, period }, index): BudgetReading => {
			const settledNanoUsd = nanoUsdFrom(money[2 * index]);
			return { budget, period, settledNanoUsd, reservedNanoUsd: nanoUsdFrom(money[2 * index + 1]) };
		});
		const reading: CounterReading = {
			nowMs: Number(nowMs),
			requestsThisMinute: Number(requests),
			tokensToday: Number(tokens),
			reservedTokens: Number(reserved),
			rates,
			budgets: readings,
			generation: String(generation),
		};
		return [String(verdict), reading];
	}

	/** Every key contains the team as its only hash tag, in braces, so that a cluster stores them in one slot. */
	private async evaluate(
		operation: Operation,
		team: string,
		ids: readonly string[],
		values: readonly (string | number)[],
	): Promise<unknown> {
		this.ends.go();
		const stem = `${this.prefix}:{${encodeURIComponent(team)}}`;
		const keys = [`${stem}:counters`, `${stem}:calls`, `${stem}:ends`, ...ids.map((id) => `${stem}:ended:${id}`)];
		return this.evaluateKeys(operation, keys, values);
	}

	private evaluateKeys(operation: Operation, keys: readonly string[], values: readonly (string | number)[]): Promise<unknown> {
		return this.connection.evaluate(this.scripts[operation], keys, [`${this.connection.run}|${this.owner}`, ...values]);
	}
}

function nanoUsdFrom(value: unknown): bigint {
	return typeof value === 'string' || typeof value === 'number' ? BigInt(value) : 0n;
}

function limitOf(reservation: BudgetReservation): string[] {
	const check = reservation.check === 'fit' ? moneyText(reservation.minNanoUsd ?? 0n) : reservation.check;
	return [budgetKey(reservation), moneyText(reservation.limitNanoUsd), moneyText(reservation.amountNanoUsd), check];
}

/** The scripts are exact below this, a thousand billion US dollars. */
const tooMuchNanoUsd = 10n ** 21n;

/** @throws RangeError for an amount that the scripts cannot represent exactly. */
function moneyText(nanoUsd: bigint): string {
	if (nanoUsd < 0n || nanoUsd >= tooMuchNanoUsd) throw new RangeError(`${nanoUsd} nano-US-dollars cannot be counted`);
	return nanoUsd.toString();
}
