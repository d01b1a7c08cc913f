/** Sums by hour and by day, kept in the transaction that writes the rows: gathered in memory, then written once a key. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { CompactInteger } from './ledger-calls.ts';

export const msPerHour = 3_600_000;
export const hoursPerDay = 24;

/** Numbers of a row that say where it counts. */
export interface SumKey {
	readonly startedMs: number;
	readonly team: number;
	readonly client: number;
	readonly provider: number;
	readonly model: number;
}

type SixCounts = readonly [number, number, number, number, number, number];

export interface GatheredSums {
	addOpened(key: SumKey): void;
	addMoved(from: SumKey, to: SumKey): void;
	/** @param counts tokens in the order of the columns. */
	addClosed(key: SumKey, counts: SixCounts, costNanoUsd: CompactInteger): void;
	write(): void;
}

interface Sum {
	readonly key: SumKey;
	requests: number;
	readonly counts: [number, number, number, number, number, number];
	costNanoUsd: bigint;
}

/** @returns the start of a gathering. */
export function createSums(database: DatabaseSync): () => GatheredSums {
	const addHourly = prepareAdd(database, 'hourly');
	const addDaily = prepareAdd(database, 'daily');
	const dropHourly = prepareDrop(database, 'hourly');
	const dropDaily = prepareDrop(database, 'daily');
	return () => {
		const hours = new Map<string, Sum>();
		let hasMoved = false;
		const sumOf = (key: SumKey): Sum => {
			const name = `${Math.floor(key.startedMs / msPerHour)} ${key.team} ${key.client} ${key.provider} ${key.model}`;
			let sum = hours.get(name);
			if (sum === undefined) {
				sum = { key, requests: 0, counts: [0, 0, 0, 0, 0, 0], costNanoUsd: 0n };
				hours.set(name, sum);
			}
			return sum;
		};
		return {
			addOpened(key) {
				sumOf(key).requests += 1;
			},
			addMoved(from, to) {
				sumOf(from).requests -= 1;
				sumOf(to).requests += 1;
				hasMoved = true;
			},
			addClosed(key, counts, costNanoUsd) {
				const sum = sumOf(key);
				for (let index = 0; index < 6; index++) sum.counts[index] = (sum.counts[index] ?? 0) + (counts[index] ?? 0);
				sum.costNanoUsd += BigInt(costNanoUsd);
			},
			write() {
				for (const { key, requests, counts, costNanoUsd } of hours.values()) {
					const hour = Math.floor(key.startedMs / msPerHour);
					const rest = [key.team, key.client, key.provider, key.model, requests, ...counts, costNanoUsd] as const;
					addHourly.run(hour, ...rest);
					addDaily.run(Math.floor(hour / hoursPerDay), ...rest);
				}
				if (!hasMoved) return;
				for (const { key } of hours.values()) {
					const hour = Math.floor(key.startedMs / msPerHour);
					const rest = [key.team, key.client, key.provider, key.model] as const;
					dropHourly.run(hour, ...rest);
					dropDaily.run(Math.floor(hour / hoursPerDay), ...rest);
				}
			},
		};
	};
}

function prepareAdd(database: DatabaseSync, table: 'hourly' | 'daily'): StatementSync {
	return database.prepare(`
		INSERT INTO ${table} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET
			requests = requests + excluded.requests,
			input_tokens = input_tokens + excluded.input_tokens,
			cache_read_tokens = cache_read_tokens + excluded.cache_read_tokens,
			cache_write_tokens = cache_write_tokens + excluded.cache_write_tokens,
			cache_write_hour_tokens = cache_write_hour_tokens + excluded.cache_write_hour_tokens,
			output_tokens = output_tokens + excluded.output_tokens,
			reasoning_tokens = reasoning_tokens + excluded.reasoning_tokens,
			cost_nano_usd = cost_nano_usd + excluded.cost_nano_usd`);
}

/** Of what no call counts in any more. */
function prepareDrop(database: DatabaseSync, table: 'hourly' | 'daily'): StatementSync {
	return database.prepare(
		`DELETE FROM ${table} WHERE period = ? AND team = ? AND client = ? AND provider = ? AND model = ? AND requests = 0`,
	);
}
