/** What a process has acknowledged and the fleet's database has not been told yet. It lives on the disk of the process. */
import type { CallOutcome } from './ledger.ts';

export interface LedgerSpool {
	/** The oldest entries, as the rows are now. At most `limit` entries, one row for each call. */
	read(limit: number): Promise<SpoolPart>;
	/** Deletes entries that the fleet's database has committed or refused. */
	forget(done: SpoolProgress): Promise<void>;
	/** Deletes closed rows that were sent and started before then, a few at a time. @returns how many. */
	pruneSent(beforeMs: number): Promise<number>;
}

export interface SpoolProgress {
	/** Position of the last of them. */
	readonly through: number;
	/** Of rows that can never be sent; they stay as if there were no fleet. */
	readonly refusedIds: readonly string[];
}

export interface SpoolPart {
	/** Positions of the oldest and newest entry; `first` is `last + 1` when there is none. Whatever is noted later lies behind `last`. */
	readonly first: number;
	readonly last: number;
	/** Unix milliseconds of the oldest entry; null when there is none. */
	readonly oldestMs: number | null;
	/** Position of the last entry in this part. */
	readonly through: number;
	/** How many rows are in this part. */
	readonly count: number;
	/** JSON array of `SpooledRow`, as text because a text passes from thread to thread for the price of its bytes. */
	readonly rows: string;
	/** True when another process with the same spool sends it, so that this part is empty whatever the positions say. */
	readonly isSentByAnother: boolean;
}

/** Money is decimal text. What is null is null in all of an open row's last eleven. */
export type SpooledRow = readonly [
	id: string,
	startedMs: number,
	team: string,
	clientId: string,
	provider: string,
	model: string,
	dialect: string,
	isStreamed: boolean,
	priceVersion: string,
	/** JSON array of names. */
	budgets: string,
	holdNanoUsd: string,
	outcome: CallOutcome | null,
	endedMs: number | null,
	status: number | null,
	isEstimated: boolean | null,
	inputTokens: number | null,
	cacheReadTokens: number | null,
	cacheWriteTokens: number | null,
	cacheWriteHourTokens: number | null,
	outputTokens: number | null,
	reasoningTokens: number | null,
	costNanoUsd: string | null,
];
