import type { RequestSize } from '../../core/cost-factors.ts';
import {
	limitKinds,
	plainRouting,
	type ReachedLimit,
	type RecordedRoute,
	type RecordedRouting,
	type TargetAttempt,
} from '../../core/request-record.ts';
import { type HostedTool, hostedTools, type ToolCalls, type Usage } from '../../core/usage.ts';
import { noAttributes, type RecordedRequest, type RequestQuery, startedMsOf } from '../contracts/request-records.ts';
import { type Decode, decodeJson, itemsFrom, listOf, membersFrom, numberFrom, oneOf, orNull, textFrom } from '../decode.ts';
import { attributesFrom } from './block-builder.ts';
import {
	blockVersion,
	flagBits,
	type NumberColumns,
	numberColumns,
	readVersions,
	type SizeCells,
	type TextColumns,
	textColumns,
} from './record-columns.ts';

type Cells = readonly unknown[];

/** Filters by values. */
export type RequestFilters = Omit<RequestQuery, 'limit' | 'cursor' | 'fromMs' | 'toMs'>;

/** Records of one block. Cells are decoded when they are read, because a page shows few of them. */
export class RequestBlock {
	readonly ids: Cells;
	readonly #texts: TextColumns<readonly string[]>;
	/** Undefined for columns that the block's version lacks. */
	readonly #indexes: TextColumns<Cells | undefined>;
	readonly #numbers: NumberColumns<Cells | undefined>;
	readonly #limits: Readonly<Record<string, unknown>>;
	readonly #allowLists: Readonly<Record<string, unknown>>;
	readonly #monitored: Readonly<Record<string, unknown>>;
	readonly #monitoredRoutes: Readonly<Record<string, unknown>>;
	readonly #targets: Readonly<Record<string, unknown>>;
	readonly #sizes: Readonly<Record<string, unknown>>;
	readonly #toolCalls: Readonly<Record<string, unknown>>;

	/** @throws SyntaxError, TypeError for a text that is no block of this release. */
	constructor(text: string) {
		const { version, ids, texts, indexes, numbers, rare } = decodeJson(text, membersFrom);
		if (!readVersions.includes(version)) throw new TypeError(`Expected a block of version ${readVersions.join(' or ')}`);
		const isWhole = version === blockVersion;
		this.ids = itemsFrom(ids);
		const [dictionaries, ofIndexes, ofNumbers, { limit, allowList, monitored, monitoredRoute = {}, targets, size = {}, toolCalls = {} }] = [
			membersFrom(texts),
			membersFrom(indexes),
			membersFrom(numbers),
			membersFrom(rare),
		];
		this.#texts = textColumns((name) => (isWhole || name in dictionaries ? listOf(textFrom)(dictionaries[name]) : []));
		this.#indexes = textColumns((name) => (isWhole || name in ofIndexes ? itemsFrom(ofIndexes[name]) : undefined));
		this.#numbers = numberColumns((name) => (isWhole || name in ofNumbers ? itemsFrom(ofNumbers[name]) : undefined));
		this.#limits = membersFrom(limit);
		this.#allowLists = allowList === undefined ? {} : membersFrom(allowList);
		this.#monitored = membersFrom(monitored);
		this.#monitoredRoutes = membersFrom(monitoredRoute);
		this.#targets = membersFrom(targets);
		this.#sizes = membersFrom(size);
		this.#toolCalls = membersFrom(toolCalls);
	}

	get count(): number {
		return this.ids.length;
	}

	idOf(index: number): string {
		return textFrom(this.ids[index]);
	}

	startedMsOf(index: number): number {
		return startedMsOf(this.idOf(index)) ?? 0;
	}

	/** Returns a test for records by their index; undefined if no record of the block can match. */
	matcher(filters: RequestFilters): ((index: number) => boolean) | undefined {
		const tests: ((index: number) => boolean)[] = [];
		for (const name of ['endpoint', 'team', 'clientId', 'provider'] as const) {
			const wanted = filters[name];
			if (wanted === undefined) continue;
			const test = this.#textTest(name, (text) => text === wanted);
			if (test === undefined) return undefined;
			tests.push(test);
		}
		const { model, code, status, attributes } = filters;
		if (model !== undefined) {
			const some = anyOf([this.#textTest('model', (text) => text === model), this.#textTest('modelRequested', (text) => text === model)]);
			if (some === undefined) return undefined;
			tests.push(some);
		}
		if (code !== undefined) {
			const isMonitored = (index: number): boolean => this.#monitoredOf(index).includes(code);
			const hasMonitored = Object.keys(this.#monitored).length > 0;
			const some = anyOf([this.#textTest('code', (text) => text === code), hasMonitored ? isMonitored : undefined]);
			if (some === undefined) return undefined;
			tests.push(some);
		}
		if (status !== undefined) tests.push((index) => this.#numbers.status?.[index] === status);
		for (const [name, value] of Object.entries(attributes ?? noAttributes)) {
			const test = this.#textTest('attributes', (text) => {
				const found = attributesFrom(text);
				return Object.hasOwn(found, name) && found[name] === value;
			});
			if (test === undefined) return undefined;
			tests.push(test);
		}
		return (index) => tests.every((test) => test(index));
	}

	#textTest(name: keyof TextColumns<unknown>, isWanted: (text: string) => boolean): ((index: number) => boolean) | undefined {
		const wanted = new Set<unknown>();
		for (const [index, text] of this.#texts[name].entries()) if (isWanted(text)) wanted.add(index);
		const cells = this.#indexes[name];
		return wanted.size === 0 || cells === undefined ? undefined : (index) => wanted.has(cells[index]);
	}

	requestAt(index: number): RecordedRequest {
		const number = (name: keyof NumberColumns<unknown>): number => numberIn(this.#numbers[name], index);
		const text = (name: keyof TextColumns<unknown>): string | null => this.#texts[name][numberIn(this.#indexes[name], index)] ?? null;
		const flags = number('flags');
		const firstByteTenths = number('firstByteTenths');
		const costNanoUsd = number('costNanoUsd');
		const attributes = text('attributes');
		return {
			id: this.idOf(index),
			endpoint: text('endpoint') ?? '',
			team: text('team'),
			isTeamByRule: (flags & flagBits.isTeamByRule) !== 0,
			clientId: text('clientId') ?? '',
			modelRequested: text('modelRequested'),
			model: text('model'),
			provider: text('provider'),
			status: number('status'),
			outcome: text('outcome') ?? '',
			code: text('code'),
			limit: limitFrom(this.#limits[index]),
			allowList: orNull(textFrom)(this.#allowLists[index] ?? null),
			monitored: this.#monitoredOf(index),
			monitoredRoute: routeFrom(this.#monitoredRoutes[index]),
			targets: this.#targetsOf(index, text('provider'), text('model'), number('attemptStatus'), number('attemptTenths')),
			usage: usageOf(number, this.#toolCalls[index]),
			costNanoUsd: costNanoUsd === -1 ? null : BigInt(costNanoUsd),
			isEstimated: (flags & flagBits.isEstimated) !== 0,
			isPriced: (flags & flagBits.isPriced) !== 0,
			isStreaming: (flags & flagBits.isStreaming) !== 0,
			attributes: attributes === null ? noAttributes : attributesFrom(attributes),
			durationMs: number('durationTenths') / 10,
			firstByteMs: firstByteTenths === -1 ? null : firstByteTenths / 10,
			requestBytes: number('requestBytes'),
			responseBytes: number('responseBytes'),
			size: sizeOf(number, flags, this.#sizes[index]),
			routing: routingOf(number('session'), flags, text('providerHeader')),
			isOutputCapped: (flags & flagBits.isOutputCapped) !== 0,
		};
	}

	#monitoredOf(index: number): readonly string[] {
		const codes = this.#monitored[index];
		return codes === undefined ? [] : listOf(textFrom)(codes);
	}

	#targetsOf(index: number, provider: string | null, model: string | null, status: number, tenths: number): readonly TargetAttempt[] {
		const several = this.#targets[index];
		if (several !== undefined) return listOf(attemptFrom)(several);
		if (status === -1 || provider === null || model === null) return [];
		return [{ provider, model, status, code: null, ms: tenths / 10 }];
	}
}

function anyOf(tests: readonly (((index: number) => boolean) | undefined)[]): ((index: number) => boolean) | undefined {
	const given = tests.filter((test) => test !== undefined);
	return given.length === 0 ? undefined : (index) => given.some((test) => test(index));
}

/** @returns -1 for a column that the block's version lacks. */
function numberIn(cells: Cells | undefined, index: number): number {
	return cells === undefined ? -1 : numberFrom(cells[index]);
}

type ReadNumber = (name: keyof NumberColumns<unknown>) => number;

function routingOf(session: number, flags: number, providerHeader: string | null): RecordedRouting {
	const isPinned = (flags & flagBits.isPinned) !== 0;
	const isDiverted = (flags & flagBits.isDiverted) !== 0;
	if (session === -1 && providerHeader === null && !isPinned && !isDiverted) return plainRouting;
	return { session: session === -1 ? null : session, providerHeader, isPinned, isDiverted };
}

function sizeOf(number: ReadNumber, flags: number, rare: unknown): RequestSize | null {
	const writtenTokens = number('writtenTokens');
	if (writtenTokens === -1) return null;
	const capTokens = number('capTokens');
	const setsThinking = (flags & flagBits.setsThinking) !== 0;
	const [contextWindows, prompts, choices, defaultTokens, maxToolCalls, surchargedField] =
		rare === undefined ? plainSize : sizeCellsFrom(rare);
	return {
		writtenTokens,
		boundTokens: number('boundTokens'),
		contextWindows,
		prompts,
		capTokens: capTokens === -1 ? null : capTokens,
		hasOwnCap: (flags & flagBits.hasOwnCap) !== 0,
		choices,
		defaultTokens,
		cacheWrites: (flags & flagBits.hasHourCacheWrites) !== 0 ? 'hour' : (flags & flagBits.hasShortCacheWrites) !== 0 ? 'short' : 'none',
		hasHostedTools: (flags & flagBits.hasHostedTools) !== 0,
		maxToolCalls,
		surchargedField,
		requestsThinking: setsThinking ? (flags & flagBits.requestsThinking) !== 0 : null,
		isBackground: (flags & flagBits.isBackground) !== 0,
	};
}

const plainSize: SizeCells = [0, 1, 1, null, null, null];

const sizeCellsFrom: Decode<SizeCells> = (value) => {
	const [contextWindows, prompts, choices, defaultTokens, maxToolCalls, surchargedField] = itemsFrom(value);
	return [
		numberFrom(contextWindows),
		numberFrom(prompts),
		numberFrom(choices),
		orNull(numberFrom)(defaultTokens),
		orNull(numberFrom)(maxToolCalls),
		orNull(textFrom)(surchargedField),
	];
};

function toolCallsFrom(value: unknown): ToolCalls {
	const calls: Partial<Record<HostedTool, number>> = {};
	for (const [name, count] of Object.entries(membersFrom(value))) calls[oneOf(hostedTools)(name)] = numberFrom(count);
	return calls;
}

function usageOf(number: ReadNumber, toolCalls: unknown): Usage | null {
	const inputTokens = number('inputTokens');
	if (inputTokens === -1) return null;
	return {
		inputTokens,
		cacheReadTokens: number('cacheReadTokens'),
		cacheWriteTokens: number('cacheWriteTokens'),
		cacheWriteHourTokens: Math.max(0, number('cacheWriteHourTokens')),
		outputTokens: number('outputTokens'),
		reasoningTokens: Math.max(0, number('reasoningTokens')),
		...(toolCalls !== undefined && { toolCalls: toolCallsFrom(toolCalls) }),
	};
}

const attemptFrom: Decode<TargetAttempt> = (value) => {
	const [provider, model, status, code, tenths] = itemsFrom(value);
	return {
		provider: textFrom(provider),
		model: textFrom(model),
		status: orNull(numberFrom)(status),
		code: orNull(textFrom)(code),
		ms: numberFrom(tenths) / 10,
	};
};

function limitFrom(value: unknown): ReachedLimit | null {
	if (value === undefined) return null;
	const [kind, limit, used, reserved, resetsAtMs] = itemsFrom(value);
	return {
		kind: oneOf(limitKinds)(kind),
		limit: amountFrom(limit),
		used: amountFrom(used),
		reserved: amountFrom(reserved),
		resetsAtMs: orNull(numberFrom)(resetsAtMs),
	};
}

function routeFrom(value: unknown): RecordedRoute | null {
	if (value === undefined) return null;
	const [rule, provider, model] = itemsFrom(value);
	return { rule: textFrom(rule), provider: textFrom(provider), model: textFrom(model) };
}

function amountFrom(value: unknown): number | bigint {
	return typeof value === 'string' ? BigInt(value) : numberFrom(value);
}
