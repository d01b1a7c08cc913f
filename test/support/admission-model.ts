/** Reference model of the counters, as simple as possible, and the comparison of a store with it. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { type CounterReading, countOf, isCountedAlways, type RateLimit } from '../../src/core/counters.ts';
import { type AdmissionStore, type BudgetReservation, budgetKey, fittingNanoUsd } from '../../src/stores/contracts/admission.ts';

export type Operation =
	| {
			kind: 'admit';
			id: string;
			limits: RateLimit[];
			reservedTokens: number;
			reservations: BudgetReservation[];
			reservationMs: number;
	  }
	| {
			kind: 'settle';
			id: string;
			admittedAgoMs: number;
			tokens: number;
			costNanoUsd: bigint;
			budgets: { budget: string; period: string }[];
	  }
	| { kind: 'release'; id: string }
	| { kind: 'extend'; id: string; reservations: BudgetReservation[] }
	| { kind: 'grow'; id: string; reservations: BudgetReservation[]; reservationMs: number }
	| {
			kind: 'restoreReservations';
			id: string;
			admittedAgoMs: number;
			reservedTokens: number;
			reservations: BudgetReservation[];
			reservationMs: number;
	  }
	| { kind: 'wait'; ms: number };

interface ModelRequest {
	readonly limits: readonly RateLimit[];
	readonly admittedMs: number;
	readonly reservedTokens: number;
	endsMs: number;
	readonly reserved: Map<string, bigint>;
}

/** Keeps all ended requests, so sequences must be shorter than a store's retention of them. */
class Model {
	nowMs: number;
	readonly #admittedMs: number[] = [];
	readonly #settledTokens: { ms: number; tokens: number }[] = [];
	/** Requests, and tokens of ended ones, in the counters of a minute. */
	readonly #minutes: { name: string; ms: number; used: number }[] = [];
	readonly #spend = new Map<string, bigint>();
	readonly #running = new Map<string, ModelRequest>();
	readonly #ended = new Set<string>();

	constructor(nowMs: number) {
		this.nowMs = nowMs;
	}

	/** Returns the expected result of a store. */
	apply(operation: Operation): unknown {
		for (const [id, { endsMs }] of this.#running) if (endsMs <= this.nowMs) this.#running.delete(id);
		switch (operation.kind) {
			case 'wait':
				this.nowMs += operation.ms;
				return undefined;
			case 'admit':
				return this.#admit(operation);
			case 'settle': {
				const isDuplicate = this.#ended.has(operation.id);
				const isLate = !isDuplicate && !this.#running.has(operation.id);
				if (!isDuplicate) {
					const admitted = this.#running.get(operation.id);
					for (const { kind, models } of admitted?.limits ?? []) {
						if (kind === 'tpm') this.#minutes.push({ name: `${kind} ${models}`, ms: admitted?.admittedMs ?? 0, used: operation.tokens });
					}
					const admittedMs = this.#running.get(operation.id)?.admittedMs ?? this.nowMs - operation.admittedAgoMs;
					this.#end(operation.id);
					this.#settledTokens.push({ ms: admittedMs, tokens: operation.tokens });
					for (const budget of operation.budgets) this.#spend.set(budgetKey(budget), this.#settled(budget) + operation.costNanoUsd);
				}
				return { isDuplicate, isLate, budgets: this.read(operation.budgets, []).budgets };
			}
			case 'release':
				this.#end(operation.id);
				return undefined;
			case 'extend': {
				const call = this.#running.get(operation.id);
				if (call === undefined) return false;
				const raised = operation.reservations.filter(
					(reservation) => reservation.amountNanoUsd > (call.reserved.get(budgetKey(reservation)) ?? 0n),
				);
				if (!raised.every((reservation) => this.#allows(reservation, call.reserved.get(budgetKey(reservation)) ?? 0n))) return false;
				for (const reservation of raised) call.reserved.set(budgetKey(reservation), reservation.amountNanoUsd);
				return true;
			}
			case 'grow': {
				const call = this.#running.get(operation.id);
				if (call === undefined) return undefined;
				call.endsMs = Math.max(call.endsMs, Math.ceil((this.nowMs + operation.reservationMs) / 1000) * 1000);
				const possible = operation.reservations.map((reservation) => {
					const own = call.reserved.get(budgetKey(reservation)) ?? 0n;
					const missing = reservation.amountNanoUsd - own;
					return missing <= 0n
						? reservation.amountNanoUsd
						: own + fittingNanoUsd(this.#left(reservation), missing, reservation.minNanoUsd ?? 0n);
				});
				const grown = possible.reduce((min, one) => (one < min ? one : min), possible[0] ?? 0n);
				for (const reservation of operation.reservations) {
					const key = budgetKey(reservation);
					const own = call.reserved.get(key) ?? 0n;
					if (grown > own) call.reserved.set(key, grown);
				}
				return grown;
			}
			case 'restoreReservations':
				if (!this.#running.has(operation.id) && !this.#ended.has(operation.id)) {
					this.#start(operation, this.nowMs - operation.admittedAgoMs);
				}
				return undefined;
		}
	}

	read(budgets: readonly { budget: string; period: string }[], limits: readonly RateLimit[]): CounterReading {
		return {
			rates: limits.filter((limit) => !isCountedAlways(limit)).map((limit) => this.#rate(limit)),
			nowMs: this.nowMs,
			requestsThisMinute: this.#admittedMs.filter((ms) => Math.floor(ms / 60_000) === Math.floor(this.nowMs / 60_000)).length,
			tokensToday: this.#settledTokens
				.filter(({ ms }) => Math.floor(ms / 86_400_000) === Math.floor(this.nowMs / 86_400_000))
				.reduce((sum, { tokens }) => sum + tokens, 0),
			reservedTokens: [...this.#running.values()]
				.filter(
					({ admittedMs, endsMs }) => endsMs > this.nowMs && Math.floor(admittedMs / 86_400_000) === Math.floor(this.nowMs / 86_400_000),
				)
				.reduce((sum, { reservedTokens }) => sum + reservedTokens, 0),
			budgets: budgets.map(({ budget, period }) => {
				const key = budgetKey({ budget, period });
				let reservedNanoUsd = 0n;
				for (const { endsMs, reserved } of this.#running.values()) if (endsMs > this.nowMs) reservedNanoUsd += reserved.get(key) ?? 0n;
				return { budget, period, settledNanoUsd: this.#settled({ budget, period }), reservedNanoUsd };
			}),
		};
	}

	#rate({ kind, models }: RateLimit) {
		const running = [...this.#running.values()].filter(({ endsMs }) => endsMs > this.nowMs);
		const named = { kind, ...(models !== undefined && { models }) };
		if (kind === 'concurrent_requests') return { ...named, used: running.length, reserved: 0 };
		const isNow = (ms: number): boolean => Math.floor(ms / 60_000) === Math.floor(this.nowMs / 60_000);
		const name = `${kind} ${models}`;
		const counted = running.filter((one) => isNow(one.admittedMs) && one.limits.some((of) => `${of.kind} ${of.models}` === name));
		return {
			...named,
			used: this.#minutes.filter((one) => one.name === name && isNow(one.ms)).reduce((sum, { used }) => sum + used, 0),
			reserved: kind === 'tpm' ? counted.reduce((sum, { reservedTokens }) => sum + reservedTokens, 0) : 0,
		};
	}

	#admit(request: Operation & { kind: 'admit' }): unknown {
		const { id, limits, reservations } = request;
		const before = this.read(reservations, limits);
		const isFitted = reservations.some(({ check }) => check === 'fit');
		if (this.#ended.has(id)) return { isAdmitted: true, reading: before };
		const known = this.#running.get(id);
		if (known !== undefined) {
			const [first] = known.reserved.values();
			return { isAdmitted: true, reading: before, ...(isFitted && first !== undefined && { reservedNanoUsd: first }) };
		}
		for (const limit of limits) {
			const { kind, models } = limit;
			const { used, reserved } = countOf(before, limit);
			if (limit.limit === null || used + reserved < limit.limit) continue;
			return { isAdmitted: false, binding: kind, ...(models !== undefined && { models }), reading: before };
		}
		const binding = reservations.find((reservation) => !this.#allows(reservation, 0n));
		if (binding !== undefined) {
			return { isAdmitted: false, binding: 'budget', budget: binding.budget, period: binding.period, reading: before };
		}
		this.#admittedMs.push(this.nowMs);
		for (const { kind, models } of limits) {
			if (kind === 'rpm' && models !== undefined) this.#minutes.push({ name: `${kind} ${models}`, ms: this.nowMs, used: 1 });
		}
		const fits = reservations.map((reservation) =>
			fittingNanoUsd(this.#left(reservation), reservation.amountNanoUsd, reservation.minNanoUsd ?? 0n),
		);
		const fitting = fits.reduce((min, one) => (one < min ? one : min), fits[0] ?? 0n);
		this.#start(
			isFitted ? { ...request, reservations: reservations.map((reservation) => ({ ...reservation, amountNanoUsd: fitting })) } : request,
			this.nowMs,
		);
		return { isAdmitted: true, reading: this.read(reservations, limits), ...(isFitted && { reservedNanoUsd: fitting }) };
	}

	#start(operation: Operation & { kind: 'admit' | 'restoreReservations' }, admittedMs: number): void {
		const { id, reservedTokens, reservationMs, reservations } = operation;
		const endsMs = Math.ceil((this.nowMs + reservationMs) / 1000) * 1000;
		this.#running.set(id, {
			limits: operation.kind === 'admit' ? operation.limits : [],
			admittedMs,
			reservedTokens,
			endsMs,
			reserved: new Map(reservations.map((reservation) => [budgetKey(reservation), reservation.amountNanoUsd])),
		});
	}

	#end(id: string): void {
		this.#running.delete(id);
		this.#ended.add(id);
	}

	#settled(budget: { budget: string; period: string }): bigint {
		return this.#spend.get(budgetKey(budget)) ?? 0n;
	}

	#left(reservation: BudgetReservation): bigint {
		const [{ settledNanoUsd, reservedNanoUsd } = { settledNanoUsd: 0n, reservedNanoUsd: 0n }] = this.read([reservation], []).budgets;
		const left = reservation.limitNanoUsd - settledNanoUsd - reservedNanoUsd;
		return left > 0n ? left : 0n;
	}

	#allows(reservation: BudgetReservation, own: bigint): boolean {
		const taken = this.read([reservation], []).budgets.reduce(
			(sum, { settledNanoUsd, reservedNanoUsd }) => sum + settledNanoUsd + reservedNanoUsd,
			-own,
		);
		if (reservation.check === 'fit') {
			return taken < reservation.limitNanoUsd && taken + (reservation.minNanoUsd ?? 0n) <= reservation.limitNanoUsd;
		}
		return (
			taken < reservation.limitNanoUsd && (reservation.check === 'before' || taken + reservation.amountNanoUsd <= reservation.limitNanoUsd)
		);
	}
}

const budgets = ['2026-11/a', '2026-11/b', '2026-12/a'].map((key) => ({ period: key.slice(0, 7), budget: key.slice(8) }));
/** Small amounts collide with limits, large ones with the precision of floating-point numbers. */
const amount = fc.oneof({ weight: 3, arbitrary: fc.bigInt(0n, 60n) }, { weight: 1, arbitrary: fc.bigInt(0n, 2n ** 54n) });
const limit = fc.oneof({ weight: 3, arbitrary: fc.bigInt(0n, 200n) }, { weight: 1, arbitrary: fc.bigInt(2n ** 52n, 2n ** 56n) });
const reservations = fc
	.subarray(budgets)
	.chain((chosen) =>
		fc.tuple(
			...chosen.map((budget) =>
				fc
					.record({ limitNanoUsd: limit, amountNanoUsd: amount, check: fc.constantFrom('before' as const, 'after' as const) })
					.map((rest) => ({ ...budget, ...rest })),
			),
		),
	);
/** All reservations of a request use the same check. */
const fitted = fc
	.tuple(reservations, fc.bigInt(0n, 20n))
	.map(([some, minNanoUsd]) => some.map((reservation) => ({ ...reservation, check: 'fit' as const, minNanoUsd })));
const counters: readonly Omit<RateLimit, 'limit'>[] = [
	{ kind: 'rpm' },
	{ kind: 'daily_tokens' },
	{ kind: 'tpm' },
	{ kind: 'concurrent_requests' },
	{ kind: 'rpm', models: 'gpt-*' },
	{ kind: 'tpm', models: 'gpt-*' },
];
const everyLimit = counters.map((counter): RateLimit => ({ ...counter, limit: null }));
const id = fc.nat(11).map((number) => `c${number}`);
const age = fc.integer({ min: 0, max: 600_000 });
const reservationMs = fc.integer({ min: 1, max: 30_000 });
const bound = (max: number) => fc.option(fc.nat(max), { freq: 2 });

const limitsOf = fc.tuple(bound(12), bound(400), bound(300), bound(6), bound(4), bound(150));
/** Limits in the order in which they are checked; one that is left out is not counted for the request either. */
const someLimits = fc
	.tuple(limitsOf, fc.subarray([0, 1, 2, 3, 4, 5]))
	.map(([values, places]) => places.map((place): RateLimit => ({ ...counters[place], limit: values[place] ?? null }) as RateLimit));

const anyOperation: fc.Arbitrary<Operation> = fc.oneof(
	{
		weight: 6,
		arbitrary: fc.record({
			kind: fc.constant('admit' as const),
			id,
			limits: someLimits,
			reservedTokens: fc.nat(100),
			reservations: fc.oneof(reservations, fitted),
			reservationMs,
		}),
	},
	{ weight: 3, arbitrary: fc.record({ kind: fc.constant('grow' as const), id, reservations: fitted, reservationMs }) },
	{
		weight: 4,
		arbitrary: fc.record({
			kind: fc.constant('settle' as const),
			id,
			admittedAgoMs: age,
			tokens: fc.nat(100),
			costNanoUsd: amount,
			budgets: fc.subarray(budgets),
		}),
	},
	{ weight: 1, arbitrary: fc.record({ kind: fc.constant('release' as const), id }) },
	{ weight: 2, arbitrary: fc.record({ kind: fc.constant('extend' as const), id, reservations }) },
	{
		weight: 1,
		arbitrary: fc.record({
			kind: fc.constant('restoreReservations' as const),
			id,
			admittedAgoMs: age,
			reservedTokens: fc.nat(100),
			reservations,
			reservationMs,
		}),
	},
	{ weight: 3, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 14_000 }) }) },
);

/** Maximum of operations: they span at most fourteen minutes, less than the retention of an ended request. */
const maxLength = 60;

export const agreesWithModel = {
	operations: fc.array(anyOperation, { maxLength, size: 'max' }),
	/** Distance between runs, with a UTC midnight in each. */
	apartMs: 86_400_000,
	/** Compares every result, and every counter after it. */
	async run(
		{ stores, setNow }: { stores: readonly [AdmissionStore, AdmissionStore]; setNow(nowMs: number): void | Promise<void> },
		team: string,
		startMs: number,
		operations: readonly Operation[],
	): Promise<void> {
		const model = new Model(startMs);
		await setNow(startMs);
		await stores[0].restore({ team, tokensToday: 0, endedIds: [], budgets: budgets.map((budget) => ({ ...budget, settledNanoUsd: 0n })) });
		for (const [index, one] of operations.entries()) {
			const expected = model.apply(one);
			if (one.kind === 'wait') await setNow(model.nowMs);
			else expect(await perform(stores[index % 2 === 0 ? 0 : 1], team, one, model.nowMs), `operation ${index}`).toEqual(expected);
			expect(comparable(await stores[1].read(team, budgets, everyLimit)), `after operation ${index}`).toEqual(
				model.read(budgets, everyLimit),
			);
		}
	},
};

/** Ignores the generation of the counters, which each store chooses. */
function comparable({ generation: _, ...reading }: CounterReading): CounterReading {
	return reading;
}

async function perform(
	store: AdmissionStore,
	team: string,
	operation: Exclude<Operation, { kind: 'wait' }>,
	nowMs: number,
): Promise<unknown> {
	switch (operation.kind) {
		case 'admit': {
			const { kind: _, ...request } = operation;
			const admission = await store.admit({ team, ...request });
			return { ...admission, reading: comparable(admission.reading) };
		}
		case 'settle': {
			const { kind: _, admittedAgoMs, ...settlement } = operation;
			return store.settle({ team, admittedMs: nowMs - admittedAgoMs, ...settlement });
		}
		case 'release':
			return store.release(operation.id, team);
		case 'extend':
			return store.extend(operation.id, team, operation.reservations);
		case 'grow':
			return store.grow(operation.id, team, operation.reservations, operation.reservationMs);
		case 'restoreReservations': {
			const { kind: _, admittedAgoMs, ...call } = operation;
			return store.restoreReservations(team, [{ admittedMs: nowMs - admittedAgoMs, ...call }]);
		}
	}
}
