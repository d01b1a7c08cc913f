/** Layout of a block: one array for each field, with texts as indexes of a dictionary. */
import type { ToolCalls } from '../../core/usage.ts';

export const blockVersion = 2;

/** Versions that are read. Blocks of version 1 lack the columns and values that a replay needs. */
export const readVersions: readonly unknown[] = [1, blockVersion];

/** Fields whose values repeat: columns have indexes of their dictionaries, or -1 for null. */
export interface TextColumns<Column> {
	readonly endpoint: Column;
	readonly team: Column;
	readonly clientId: Column;
	readonly modelRequested: Column;
	readonly model: Column;
	readonly provider: Column;
	readonly outcome: Column;
	readonly code: Column;
	/** JSON of the attributes; null: none. */
	readonly attributes: Column;
	readonly providerHeader: Column;
}

export function textColumns<Column>(columnOf: (name: keyof TextColumns<Column>) => Column): TextColumns<Column> {
	return {
		endpoint: columnOf('endpoint'),
		team: columnOf('team'),
		clientId: columnOf('clientId'),
		modelRequested: columnOf('modelRequested'),
		model: columnOf('model'),
		provider: columnOf('provider'),
		outcome: columnOf('outcome'),
		code: columnOf('code'),
		attributes: columnOf('attributes'),
		providerHeader: columnOf('providerHeader'),
	};
}

/** Whole numbers; -1 is null. Times are in tenths of a millisecond, money in nano-dollars. */
export interface NumberColumns<Column> {
	readonly status: Column;
	readonly flags: Column;
	readonly durationTenths: Column;
	readonly firstByteTenths: Column;
	readonly attemptStatus: Column;
	readonly attemptTenths: Column;
	readonly requestBytes: Column;
	readonly responseBytes: Column;
	readonly inputTokens: Column;
	readonly cacheReadTokens: Column;
	readonly cacheWriteTokens: Column;
	readonly outputTokens: Column;
	readonly costNanoUsd: Column;
	readonly cacheWriteHourTokens: Column;
	readonly reasoningTokens: Column;
	/** Null: the request has no recorded size. */
	readonly writtenTokens: Column;
	readonly boundTokens: Column;
	readonly capTokens: Column;
	readonly session: Column;
}

export function numberColumns<Column>(columnOf: (name: keyof NumberColumns<Column>) => Column): NumberColumns<Column> {
	return {
		status: columnOf('status'),
		flags: columnOf('flags'),
		durationTenths: columnOf('durationTenths'),
		firstByteTenths: columnOf('firstByteTenths'),
		attemptStatus: columnOf('attemptStatus'),
		attemptTenths: columnOf('attemptTenths'),
		requestBytes: columnOf('requestBytes'),
		responseBytes: columnOf('responseBytes'),
		inputTokens: columnOf('inputTokens'),
		cacheReadTokens: columnOf('cacheReadTokens'),
		cacheWriteTokens: columnOf('cacheWriteTokens'),
		outputTokens: columnOf('outputTokens'),
		costNanoUsd: columnOf('costNanoUsd'),
		cacheWriteHourTokens: columnOf('cacheWriteHourTokens'),
		reasoningTokens: columnOf('reasoningTokens'),
		writtenTokens: columnOf('writtenTokens'),
		boundTokens: columnOf('boundTokens'),
		capTokens: columnOf('capTokens'),
		session: columnOf('session'),
	};
}

/** Bits of `flags`. */
export const flagBits = {
	isEstimated: 1,
	isPriced: 2,
	isStreaming: 4,
	isOutputCapped: 8,
	isPinned: 16,
	isDiverted: 32,
	hasHostedTools: 64,
	isBackground: 128,
	setsThinking: 256,
	requestsThinking: 512,
	hasShortCacheWrites: 1024,
	hasHourCacheWrites: 2048,
	hasOwnCap: 4096,
	isTeamByRule: 8192,
} as const;

/** Kind, limit, used, reserved and time of the reset; amounts of budgets are texts. */
export type LimitCells = readonly [string, number | string, number | string, number | string, number | null];

/** Provider, model, status, code and tenths of a millisecond. */
export type AttemptCells = readonly [string, string, number | null, string | null, number];

/** Rule, provider and model. */
export type RouteCells = readonly [string, string, string];

/** Context windows, prompts, choices, tokens without a limit, maximum of tool calls, surcharged field. */
export type SizeCells = readonly [number, number, number, number | null, number | null, string | null];

/** Values that few records have, by the index of the record. */
export interface RareValues {
	readonly limit: Record<string, LimitCells>;
	/** Absent in blocks of earlier releases. */
	readonly allowList: Record<string, string>;
	readonly monitored: Record<string, readonly string[]>;
	/** Missing in blocks of earlier releases. */
	readonly monitoredRoute: Record<string, RouteCells>;
	/** Attempts other than a single one at the record's own target. */
	readonly targets: Record<string, readonly AttemptCells[]>;
	/** Sizes other than those of one prompt with one choice. */
	readonly size: Record<string, SizeCells>;
	readonly toolCalls: Record<string, ToolCalls>;
}

export interface BlockColumns {
	readonly version: typeof blockVersion;
	readonly ids: readonly string[];
	readonly texts: TextColumns<readonly string[]>;
	readonly indexes: TextColumns<readonly number[]>;
	readonly numbers: NumberColumns<readonly number[]>;
	readonly rare: RareValues;
}
