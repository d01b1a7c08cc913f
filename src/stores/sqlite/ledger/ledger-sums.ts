/** Sums by hour and by day, kept in the transaction that writes the rows: gathered in memory, then written once a key. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { CompactClose } from './ledger-calls.ts';

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

export interface GatheredSums {
	addOpened(key: SumKey): void;
	addMoved(from: SumKey, to: SumKey): void;
	addClosed(key: SumKey, row: CompactClose): void;
	write(): void;
}

interface Sum {
	readonly key: SumKey;
	readonly hour: number;
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
		const hours: Sum[] = [];
		// A name made of all five would be hashed for each row; of one client there are few.
		const byClient = new Map<number, Sum[]>();
		let hasMoved = false;
		const sumOf = (key: SumKey): Sum => {
			const hour = Math.floor(key.startedMs / msPerHour);
			let ofClient = byClient.get(key.client);
			if (ofClient === undefined) {
				ofClient = [];
				byClient.set(key.client, ofClient);
			}
			for (const sum of ofClient) if (sum.hour === hour && isSame(sum.key, key)) return sum;
			const sum: Sum = { key, hour, requests: 0, counts: [0, 0, 0, 0, 0, 0], costNanoUsd: 0n };
			ofClient.push(sum);
			hours.push(sum);
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
			addClosed(key, [, , , , , input, cacheRead, cacheWrite, cacheWriteHour, output, reasoning, costNanoUsd]) {
				const sum = sumOf(key);
				const { counts } = sum;
				counts[0] += input;
				counts[1] += cacheRead;
				counts[2] += cacheWrite;
				counts[3] += cacheWriteHour;
				counts[4] += output;
				counts[5] += reasoning;
				sum.costNanoUsd += BigInt(costNanoUsd);
			},
			write() {
				for (const { key, hour, requests, counts, costNanoUsd } of hours) {
					const rest = [key.team, key.client, key.provider, key.model, requests, ...counts, costNanoUsd] as const;
					addHourly.run(hour, ...rest);
					addDaily.run(Math.floor(hour / hoursPerDay), ...rest);
				}
				if (!hasMoved) return;
				for (const { key, hour } of hours) {
					const rest = [key.team, key.client, key.provider, key.model] as const;
					dropHourly.run(hour, ...rest);
					dropDaily.run(Math.floor(hour / hoursPerDay), ...rest);
				}
			},
		};
	};
}

/** But for the hour. */
function isSame(one: SumKey, other: SumKey): boolean {
	return one.model === other.model && one.provider === other.provider && one.team === other.team && one.client === other.client;
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
