import { clientDialectNames } from '../../../core/dialect-name.ts';
import type { ClosedEntry, LedgerEntry, OpenEntry, RequestOutcome } from '../../contracts/ledger.ts';
import { type Decode, decodeJson, itemsFrom, listOf, numberFrom, textFrom } from '../../decode.ts';
import type { Row } from '../../row.ts';
import type { CompactClose, CompactEntry, CompactInteger, CompactOpen } from './ledger-operations.ts';

/** The file stores their indexes: only ever append. */
const outcomes: readonly RequestOutcome[] = ['complete', 'client_closed', 'upstream_error', 'broken', 'interrupted', 'not_sent'];

export const interruptedOutcome = outcomes.indexOf('interrupted');

const maxNameLength = 256;
/** Longer than any path; keeps an index entry of PostgreSQL below its maximum. */
const maxEndpointLength = 64;
/** More than the JSON of the attributes of a request has. */
const maxAttributesLength = 4096;
/** More tokens than any request has; keeps the sums of a batch exact. */
const maxTokens = 1e12;
/** Maximum of a column. */
const maxNanoUsd = 2n ** 63n - 1n;
const maxExact = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Formats a row as one line of JSON, for the journal and the database's thread.
 * @throws RangeError when the money is negative or too large to store, the time is not an integer, or the attributes are too long.
 */
export function lineOf(row: OpenEntry): string {
	if (!Number.isSafeInteger(row.startedMs)) throw new RangeError(`${row.startedMs} is not a time in milliseconds`);
	if (row.attributes.length > maxAttributesLength) throw new RangeError(`${row.attributes.length} characters of attributes are too many`);
	const reserved = compactMoney(row.reservedNanoUsd);
	const compact: CompactOpen = [
		row.id,
		row.startedMs,
		shortName(row.team),
		shortName(row.clientId),
		shortName(row.provider),
		shortName(row.model),
		shortName(row.dialect),
		row.isStreaming ? 1 : 0,
		shortName(row.priceVersion),
		row.budgets.length === 0 ? '[]' : JSON.stringify(row.budgets),
		row.endpoint.slice(0, maxEndpointLength),
		row.attributes,
		typeof reserved === 'number' ? reserved : `${reserved}`,
	];
	return `${JSON.stringify(compact)}\n`;
}

const columnsOfOpen = 13;

/** Money in a row: text where a number would not be exact. */
const numberOrTextFrom: Decode<number | string> = (value) => (typeof value === 'string' ? value : numberFrom(value));

/** @throws SyntaxError or TypeError for anything but a complete line of `lineOf`, of this or an earlier release. */
export function readLine(line: string): CompactOpen {
	const compact = decodeJson(line, itemsFrom);
	const columns = fromEarlierOpen(compact);
	if (columns.length !== columnsOfOpen) throw new SyntaxError('The journal line is not a ledger entry');
	return openFrom(columns);
}

function openFrom(columns: readonly unknown[]): CompactOpen {
	const [id, startedMs, team, clientId, provider, model, dialect, isStreaming, priceVersion, budgets, ...rest] = columns;
	const [endpoint, attributes, reserved] = rest;
	return [
		textFrom(id),
		numberFrom(startedMs),
		textFrom(team),
		textFrom(clientId),
		textFrom(provider),
		textFrom(model),
		textFrom(dialect),
		numberFrom(isStreaming),
		textFrom(priceVersion),
		textFrom(budgets),
		textFrom(endpoint),
		textFrom(attributes),
		numberOrTextFrom(reserved),
	];
}

const columnsWithoutEndpoint = 11;
const columnsWithForm = 10;
const formColumn = 6;

function fromEarlierOpen(columns: readonly unknown[]): readonly unknown[] {
	if (columns.length === columnsWithForm) return withoutEndpoint(withDialect(columns));
	return columns.length === columnsWithoutEndpoint ? withoutEndpoint(columns) : columns;
}

/** Adds an empty endpoint and attributes before the reservation. */
function withoutEndpoint(columns: readonly unknown[]): readonly unknown[] {
	return columns.toSpliced(columnsWithoutEndpoint - 1, 0, '', '');
}

/** Splits the number that earlier releases wrote: bit 0 is the dialect, of which there were two, bit 1 is streaming. */
function withDialect(columns: readonly unknown[]): readonly unknown[] {
	const form = numberFrom(columns[formColumn]);
	if (!Number.isSafeInteger(form)) throw new SyntaxError('The journal line is not a ledger entry');
	return columns.toSpliced(formColumn, 1, clientDialectNames[form & 1], (form & 2) === 0 ? 0 : 1);
}

const columnsOfClose = 12;

/** Formats a close as one line of JSON, for the journal. */
export function lineOfClose(row: CompactClose): string {
	const cost = row[11];
	return `${JSON.stringify(typeof cost === 'number' ? row : row.with(11, `${cost}`))}\n`;
}

/** @returns undefined for a line that is not from `lineOfClose`. @throws SyntaxError or TypeError for anything but a list. */
export function readCloseLine(line: string): CompactClose | undefined {
	const compact = decodeJson(line, itemsFrom);
	if (compact.length !== columnsOfClose) return undefined;
	const [id, endedMs, outcome, status, isEstimated, input, cacheRead, cacheWrite, cacheWriteHour, output, reasoning, cost] = compact;
	if (typeof id !== 'string' || typeof endedMs !== 'number' || !Number.isSafeInteger(endedMs)) return undefined;
	if (typeof outcome !== 'number' || outcomes[outcome] === undefined || !isAmount(cost)) return undefined;
	if (!isCount(status) || !isCount(isEstimated) || !isCount(input) || !isCount(output) || !isCount(reasoning)) return undefined;
	if (!isCount(cacheRead) || !isCount(cacheWrite) || !isCount(cacheWriteHour)) return undefined;
	const counts = [input, cacheRead, cacheWrite, cacheWriteHour, output, reasoning] as const;
	return [id, endedMs, outcome, status, isEstimated, ...counts, typeof cost === 'string' ? BigInt(cost) : cost];
}

function isCount(value: unknown): value is number {
	return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** @param value columns as `prepareEntries` selects them. */
export function compactEntryFrom(value: unknown): CompactEntry {
	const [sequence, ...columns] = itemsFrom(value);
	const [outcome, ...end] = columns.slice(columnsOfOpen);
	const opened = [numberFrom(sequence), ...openFrom(columns)] as const;
	if (outcome === null) return [...opened, null, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
	const [durationMs, status, isEstimated, input, cacheRead, cacheWrite, cacheWriteHour, output, reasoning, cost] = end;
	return [
		...opened,
		numberFrom(outcome),
		numberFrom(durationMs),
		numberFrom(status),
		numberFrom(isEstimated),
		numberFrom(input),
		numberFrom(cacheRead),
		numberFrom(cacheWrite),
		numberFrom(cacheWriteHour),
		numberFrom(output),
		numberFrom(reasoning),
		numberOrTextFrom(cost),
	];
}

/** Checks money of a line that fits into a column. */
export function isAmount(value: unknown): value is number | string {
	return isCount(value) || (typeof value === 'string' && /^\d{1,19}$/.test(value) && BigInt(value) <= maxNanoUsd);
}

/** @throws RangeError when the money is negative or too large to store. */
export function compactClose(row: ClosedEntry): CompactClose {
	const { usage } = row;
	return [
		row.id,
		row.endedMs,
		outcomes.indexOf(row.outcome),
		row.status,
		row.isEstimated ? 1 : 0,
		wholeCount(usage.inputTokens),
		wholeCount(usage.cacheReadTokens),
		wholeCount(usage.cacheWriteTokens),
		wholeCount(usage.cacheWriteHourTokens),
		wholeCount(usage.outputTokens),
		wholeCount(usage.reasoningTokens),
		compactMoney(row.costNanoUsd),
	];
}

export function ledgerEntryOf(row: CompactEntry): LedgerEntry {
	const [, id, startedMs, team, clientId, provider, model, dialect, isStreaming, priceVersion, budgets, endpoint, attributes, reserved] =
		row;
	return {
		id,
		startedMs,
		team,
		clientId,
		provider,
		model,
		dialect,
		isStreaming: isStreaming !== 0,
		priceVersion,
		reservedNanoUsd: BigInt(reserved),
		budgets: readBudgets(budgets),
		endpoint,
		attributes,
		closed: closedOf(row),
	};
}

function closedOf(row: CompactEntry): Omit<ClosedEntry, 'id'> | undefined {
	const [, , startedMs, , , , , , , , , , , , outcome, durationMs, status, isEstimated, ...counts] = row;
	const [inputTokens, cacheReadTokens, cacheWriteTokens, cacheWriteHourTokens, outputTokens, reasoningTokens, cost] = counts;
	if (outcome === null) return undefined;
	return {
		endedMs: startedMs + durationMs,
		outcome: outcomeOf(outcome),
		status,
		usage: { inputTokens, cacheReadTokens, cacheWriteTokens, cacheWriteHourTokens, outputTokens, reasoningTokens },
		costNanoUsd: BigInt(cost),
		isEstimated: isEstimated === 1,
	};
}

function outcomeOf(number: number): RequestOutcome {
	const outcome = outcomes[number];
	if (outcome === undefined) throw new TypeError(`Outcome ${number} is unknown to this release`);
	return outcome;
}

/** Number of the outcome in the file. */
export function outcomeNumber(outcome: RequestOutcome): number {
	return outcomes.indexOf(outcome);
}

export function usageOf(row: Row): ClosedEntry['usage'] {
	return {
		inputTokens: Number(row['input_tokens']),
		cacheReadTokens: Number(row['cache_read_tokens']),
		cacheWriteTokens: Number(row['cache_write_tokens']),
		cacheWriteHourTokens: Number(row['cache_write_hour_tokens']),
		outputTokens: Number(row['output_tokens']),
		reasoningTokens: Number(row['reasoning_tokens']),
	};
}

export function readBudgets(value: unknown): readonly string[] {
	return decodeJson(String(value), listOf(textFrom));
}

function shortName(name: string): string {
	return name.length <= maxNameLength ? name : name.slice(0, maxNameLength);
}

/** @throws RangeError when it is negative or too large to store. */
export function compactMoney(nanoUsd: bigint): CompactInteger {
	if (nanoUsd < 0n || nanoUsd > maxNanoUsd) {
		throw new RangeError(`${nanoUsd} nano-US-dollars exceed the range of a ledger entry`);
	}
	return nanoUsd <= maxExact ? Number(nanoUsd) : nanoUsd;
}

/** Clamps a token count, because an implausible count of a provider must not lose the row. */
function wholeCount(tokens: number): number {
	return Number.isInteger(tokens) && tokens >= 0 && tokens <= maxTokens
		? tokens
		: Math.max(0, Math.min(Math.trunc(tokens) || 0, maxTokens));
}

/** Returns a close, free of charge, of a request that was never sent. */
export function voided({ id, startedMs }: OpenEntry): CompactClose {
	return [id, startedMs, outcomes.indexOf('not_sent'), 503, 0, 0, 0, 0, 0, 0, 0, 0];
}
