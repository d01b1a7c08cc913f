/** A batch on the way to the database's thread: cloning one text, or one array of numbers, costs a fifth of cloning its rows. */
import type { Usage } from '../../../core/usage.ts';
import { readLine } from './compact-entries.ts';
import type { CompactClose, CompactInteger, CompactOpen, PackedBatch, WriteBatch } from './ledger-operations.ts';
import { ownIdLength, ownRequestIdAt, type RequestId, requestIdOf } from './packed-request-id.ts';

/** A row to be opened, as the database's thread decodes it. */
export interface EntryOpening {
	readonly id: RequestId;
	readonly startedMs: number;
	/** JSON of the fields that many requests share, from the team to the attributes, without brackets. */
	readonly terms: string;
	readonly reserved: CompactInteger;
}

/** A row to be closed. */
export interface RequestEnd extends Usage {
	readonly id: RequestId;
	readonly endedMs: number;
	readonly outcome: number;
	readonly status: number;
	readonly isEstimated: number;
	readonly costNanoUsd: CompactInteger;
}

const numbersOfClose = 12;

export function packBatch({ opens, closes }: WriteBatch): PackedBatch {
	let closedIds = '';
	const numbers = new Float64Array(closes.length * numbersOfClose);
	const largeCosts: bigint[] = [];
	let at = 0;
	for (const row of closes) {
		closedIds += row[0];
		numbers[at] = row[0].length;
		numbers[at + 1] = row[1];
		numbers[at + 2] = row[2];
		numbers[at + 3] = row[3];
		numbers[at + 4] = row[4];
		numbers[at + 5] = row[5];
		numbers[at + 6] = row[6];
		numbers[at + 7] = row[7];
		numbers[at + 8] = row[8];
		numbers[at + 9] = row[9];
		numbers[at + 10] = row[10];
		if (typeof row[11] === 'bigint') largeCosts.push(row[11]);
		numbers[at + 11] = typeof row[11] === 'bigint' ? Number.NaN : row[11];
		at += numbersOfClose;
	}
	return { opens: opens.join(''), closedIds, numbers, largeCosts };
}

export function readOpenings({ opens }: PackedBatch): readonly EntryOpening[] {
	const openings: EntryOpening[] = [];
	let start = 0;
	for (let end = opens.indexOf('\n') + 1; end > 0; end = opens.indexOf('\n', start) + 1) {
		openings.push(readCommon(opens, start, end) ?? openingOf(readLine(opens.slice(start, end))));
		start = end;
	}
	return openings;
}

const idStart = '["'.length;
const idEnd = idStart + ownIdLength;
const timeStart = idEnd + '",'.length;

/** Decodes a line in the usual form by position: parsing all of it costs more than the rest of the work on the row. */
function readCommon(lines: string, start: number, end: number): EntryOpening | undefined {
	const id = ownRequestIdAt(lines, start + idStart);
	const timeEnd = lines.indexOf(',', start + timeStart);
	const reservationEnd = end - ']\n'.length;
	const reservationStart = lines.lastIndexOf(',', reservationEnd) + 1;
	const startedMs = wholeNumberIn(lines, start + timeStart, timeEnd);
	const reserved = wholeNumberIn(lines, reservationStart, reservationEnd);
	if (id === undefined || startedMs === undefined || reserved === undefined || lines[start + idEnd] !== '"') return undefined;
	return { id, startedMs, terms: lines.slice(timeEnd + 1, reservationStart - 1), reserved };
}

/** Parses an integer. Numbers of a line are exact; larger ones are text. */
function wholeNumberIn(text: string, start: number, end: number): number | undefined {
	if (end <= start) return undefined;
	let number = 0;
	for (let place = start; place < end; place++) {
		const digit = text.charCodeAt(place) - 48;
		if (digit < 0 || digit > 9) return undefined;
		number = number * 10 + digit;
	}
	return number;
}

export function openingOf(row: CompactOpen): EntryOpening {
	const [id, startedMs, ...fields] = row;
	const reserved = row[12];
	const terms = JSON.stringify(fields.slice(0, -1)).slice(1, -1);
	return { id: requestIdOf(id), startedMs, terms, reserved: typeof reserved === 'number' ? reserved : BigInt(reserved) };
}

export function endOf(row: CompactClose): RequestEnd {
	const [id, endedMs, outcome, status, isEstimated, inputTokens, cacheReadTokens, cacheWriteTokens, cacheWriteHourTokens] = row;
	const [, , , , , , , , , outputTokens, reasoningTokens, costNanoUsd] = row;
	const input = { inputTokens, cacheReadTokens, cacheWriteTokens, cacheWriteHourTokens };
	return { id: requestIdOf(id), endedMs, outcome, status, isEstimated, ...input, outputTokens, reasoningTokens, costNanoUsd };
}

export function readEnds({ closedIds, numbers, largeCosts }: PackedBatch): readonly RequestEnd[] {
	const ends: RequestEnd[] = [];
	let nextId = 0;
	let largeCost = 0;
	for (let at = 0; at < numbers.length; at += numbersOfClose) {
		const number = (place: number): number => numbers[at + place] ?? 0;
		const id = requestIdIn(closedIds, nextId, nextId + number(0));
		nextId += number(0);
		const cost = number(11);
		ends.push({
			id,
			endedMs: number(1),
			outcome: number(2),
			status: number(3),
			isEstimated: number(4),
			inputTokens: number(5),
			cacheReadTokens: number(6),
			cacheWriteTokens: number(7),
			cacheWriteHourTokens: number(8),
			outputTokens: number(9),
			reasoningTokens: number(10),
			costNanoUsd: Number.isNaN(cost) ? (largeCosts[largeCost++] ?? 0n) : cost,
		});
	}
	return ends;
}

function requestIdIn(ids: string, start: number, end: number): RequestId {
	const own = end - start === ownIdLength ? ownRequestIdAt(ids, start) : undefined;
	return own ?? ids.slice(start, end);
}
