/**
 * Hourly and daily sums, updated in the transaction that writes the rows: changes are gathered in memory, then written once for each key.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { amounts, hoursPerDay, msPerHour, sumKeys } from '../../sum-tables.ts';
import type { CompactInteger } from './ledger-operations.ts';
import type { RequestEnd } from './packed-batch.ts';

/** Numbers that select the sums of a row, in addition to the hour of its start. */
export interface SumKey {
	readonly team: number;
	readonly client: number;
	readonly provider: number;
	readonly model: number;
	readonly endpoint: number;
	readonly attributes: number;
}

export interface GatheredSums {
	addOpened(key: SumKey, startedMs: number): void;
	addMoved(from: SumKey, to: SumKey, startedMs: number): void;
	addClosed(key: SumKey, startedMs: number, end: RequestEnd): void;
	write(): void;
}

interface Sum {
	readonly key: SumKey;
	readonly hour: number;
	requests: number;
	readonly counts: [number, number, number, number, number, number];
	costNanoUsd: CompactInteger;
	estimatedCostNanoUsd: CompactInteger;
}

/** @returns a function that starts a gathering. */
export function createSums(database: DatabaseSync): () => GatheredSums {
	const addHourly = prepareAdd(database, 'hourly');
	const addDaily = prepareAdd(database, 'daily');
	const dropHourly = prepareDrop(database, 'hourly');
	const dropDaily = prepareDrop(database, 'daily');
	return () => {
		const hours: Sum[] = [];
		// A key of all would be hashed for each row, whereas a client has few sums with the same attributes.
		const byGroup = new Map<number, Sum[]>();
		let hasMoved = false;
		const sumOf = (key: SumKey, startedMs: number): Sum => {
			const hour = Math.floor(startedMs / msPerHour);
			const group = key.client + key.attributes * attributesFactor;
			let ofGroup = byGroup.get(group);
			if (ofGroup === undefined) {
				ofGroup = [];
				byGroup.set(group, ofGroup);
			}
			for (const sum of ofGroup) if (sum.hour === hour && isSame(sum.key, key)) return sum;
			const sum: Sum = { key, hour, requests: 0, counts: [0, 0, 0, 0, 0, 0], costNanoUsd: 0, estimatedCostNanoUsd: 0 };
			ofGroup.push(sum);
			hours.push(sum);
			return sum;
		};
		return {
			addOpened(key, startedMs) {
				sumOf(key, startedMs).requests += 1;
			},
			addMoved(from, to, startedMs) {
				sumOf(from, startedMs).requests -= 1;
				sumOf(to, startedMs).requests += 1;
				hasMoved = true;
			},
			addClosed(key, startedMs, end) {
				const sum = sumOf(key, startedMs);
				const { counts } = sum;
				counts[0] += end.inputTokens;
				counts[1] += end.cacheReadTokens;
				counts[2] += end.cacheWriteTokens;
				counts[3] += end.cacheWriteHourTokens;
				counts[4] += end.outputTokens;
				counts[5] += end.reasoningTokens;
				sum.costNanoUsd = exactSum(sum.costNanoUsd, end.costNanoUsd);
				if (end.isEstimated === 1) sum.estimatedCostNanoUsd = exactSum(sum.estimatedCostNanoUsd, end.costNanoUsd);
			},
			write() {
				for (const { key, hour, requests, counts, costNanoUsd, estimatedCostNanoUsd } of hours) {
					const rest = [...valuesOf(key), requests, ...counts, costNanoUsd, estimatedCostNanoUsd] as const;
					addHourly.run(hour, ...rest);
					addDaily.run(Math.floor(hour / hoursPerDay), ...rest);
				}
				if (!hasMoved) return;
				for (const { key, hour } of hours) {
					dropHourly.run(hour, ...valuesOf(key));
					dropDaily.run(Math.floor(hour / hoursPerDay), ...valuesOf(key));
				}
			},
		};
	};
}

/** Larger than the number of most names. A group of more than one client and attributes is only slower. */
const attributesFactor = 2 ** 24;

function valuesOf({
	team,
	client,
	provider,
	model,
	endpoint,
	attributes,
}: SumKey): readonly [number, number, number, number, number, number] {
	return [team, client, provider, model, endpoint, attributes];
}

function exactSum(one: CompactInteger, other: CompactInteger): CompactInteger {
	const sum = typeof one === 'number' && typeof other === 'number' ? one + other : undefined;
	return sum !== undefined && Number.isSafeInteger(sum) ? sum : BigInt(one) + BigInt(other);
}

/** Compares all but the hour. */
function isSame(one: SumKey, other: SumKey): boolean {
	const isSameTarget = one.model === other.model && one.provider === other.provider && one.endpoint === other.endpoint;
	return isSameTarget && one.team === other.team && one.client === other.client && one.attributes === other.attributes;
}

const columns = ['period', ...sumKeys, ...amounts];

function prepareAdd(database: DatabaseSync, table: 'hourly' | 'daily'): StatementSync {
	return database.prepare(`
		INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
		ON CONFLICT DO UPDATE SET ${amounts.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')}`);
}

/** Deletes sums without any request left. */
function prepareDrop(database: DatabaseSync, table: 'hourly' | 'daily'): StatementSync {
	return database.prepare(`DELETE FROM ${table} WHERE period = ? AND ${sumKeys.map((key) => `${key} = ?`).join(' AND ')} AND requests = 0`);
}
