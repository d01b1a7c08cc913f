/** Entries that a process has acknowledged and not yet sent to the fleet's database, on the disk of the process. */
import type { RequestOutcome } from './ledger.ts';

export interface LedgerSpool {
	/** Reads the oldest entries in their current state. At most `limit` entries, one row for each request. */
	read(limit: number): Promise<SpoolPart>;
	/** Deletes entries that the fleet's database has committed or rejected. */
	forget(done: SpoolProgress): Promise<void>;
	/** Deletes closed rows that were sent and started before then, a few at a time. @returns the number of deleted rows. */
	pruneSent(beforeMs: number): Promise<number>;
}

export interface SpoolProgress {
	/** Position of the last of them. */
	readonly through: number;
	/** Ids of rows that can never be sent; they stay in the local file. */
	readonly rejectedIds: readonly string[];
}

export interface SpoolPart {
	/** Positions of the oldest and newest entry; `first` is `last + 1` when there is none. Later entries have positions above `last`. */
	readonly first: number;
	readonly last: number;
	/** Unix milliseconds of the oldest entry; null when there is none. */
	readonly oldestMs: number | null;
	/** Position of the last entry in this part. */
	readonly through: number;
	/** Number of rows in this part. */
	readonly count: number;
	/** JSON array of `SpooledEntry`. Text, because passing text between threads costs only the copy of its bytes. */
	readonly rows: string;
	/** True when another process with the same spool sends it, so that this part is empty whatever the positions are. */
	readonly isSentByAnother: boolean;
}

/** Money is decimal text. The last eleven columns of an open row are null. */
export type SpooledEntry = readonly [
	id: string,
	startedMs: number,
	team: string,
	clientId: string,
	provider: string,
	model: string,
	dialect: string,
	isStreaming: boolean,
	priceVersion: string,
	/** JSON array of names. */
	budgets: string,
	reservedNanoUsd: string,
	endpoint: string,
	attributes: string,
	outcome: RequestOutcome | null,
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
