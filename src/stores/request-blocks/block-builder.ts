import type { RequestSize } from '../../core/cost-factors.ts';
import type { ReachedLimit, TargetAttempt } from '../../core/request-record.ts';
import { noAttributes, type RecordedRequest, startedMsOf } from '../contracts/request-records.ts';
import { byName, decodeJson, textFrom } from '../decode.ts';
import {
	type AttemptCells,
	type BlockColumns,
	blockVersion,
	flagBits,
	type LimitCells,
	numberColumns,
	type RareValues,
	textColumns,
} from './record-columns.ts';

/** A block to be written. */
export interface BuiltBlock {
	readonly count: number;
	/** First and last start of a request, Unix milliseconds. */
	readonly minMs: number;
	readonly maxMs: number;
	/** JSON of its `BlockColumns`. */
	readonly text: string;
	/** Values that filters can find in it, as `dimension=value`, each once. */
	readonly keys: readonly string[];
}

const maxTextLength = 256;

class Dictionary {
	readonly texts: string[] = [];
	readonly #maxLength: number;
	readonly indexes: number[] = [];
	readonly #known = new Map<string, number>();
	/** Most records equal the one before. */
	#last: string | null = null;
	#lastIndex = -1;

	constructor(maxLength = maxTextLength) {
		this.#maxLength = maxLength;
	}

	add(text: string | null): void {
		if (text !== this.#last) {
			this.#last = text;
			this.#lastIndex = text === null ? -1 : this.#indexOf(text);
		}
		this.indexes.push(this.#lastIndex);
	}

	#indexOf(text: string): number {
		let index = this.#known.get(text);
		if (index === undefined) {
			index = this.texts.length;
			this.texts.push(text.length > this.#maxLength ? text.slice(0, this.#maxLength) : text);
			this.#known.set(text, index);
		}
		return index;
	}
}

/** Gathers records into columns. On the path of requests, so that a record costs no object and no text of its own. */
export class BlockBuilder {
	readonly #ids: string[] = [];
	readonly #texts = textColumns((name) => new Dictionary(name === 'attributes' ? Number.POSITIVE_INFINITY : maxTextLength));
	readonly #numbers = numberColumns<number[]>(() => []);
	readonly #rare: RareValues = { limit: {}, allowList: {}, monitored: {}, monitoredRoute: {}, targets: {}, size: {}, toolCalls: {} };
	readonly #statuses = new Set<number>();
	/** Attributes of a client are often one object. */
	#attributes: Readonly<Record<string, string>> = noAttributes;
	#attributesText: string | null = null;
	#minMs = Number.POSITIVE_INFINITY;
	#maxMs = 0;

	get count(): number {
		return this.#ids.length;
	}

	/** @throws RangeError for an id without a time. */
	add(request: RecordedRequest): void {
		const startedMs = startedMsOf(request.id);
		if (startedMs === undefined) throw new RangeError(`${JSON.stringify(request.id)} is no request id`);
		if (startedMs < this.#minMs) this.#minMs = startedMs;
		if (startedMs > this.#maxMs) this.#maxMs = startedMs;
		const index = this.#ids.push(request.id) - 1;
		const texts = this.#texts;
		texts.endpoint.add(request.endpoint);
		texts.team.add(request.team);
		texts.clientId.add(request.clientId);
		texts.modelRequested.add(request.modelRequested);
		texts.model.add(request.model);
		texts.provider.add(request.provider);
		texts.outcome.add(request.outcome);
		texts.code.add(request.code);
		if (request.attributes !== this.#attributes) {
			this.#attributes = request.attributes;
			this.#attributesText = attributesText(request.attributes);
		}
		texts.attributes.add(this.#attributesText);
		texts.providerHeader.add(request.routing.providerHeader);
		this.#addNumbers(request);
		if (request.limit !== null) this.#rare.limit[index] = limitCells(request.limit);
		if (request.allowList !== null) this.#rare.allowList[index] = request.allowList;
		if (request.monitored.length > 0) this.#rare.monitored[index] = request.monitored;
		const route = request.monitoredRoute;
		if (route !== null) this.#rare.monitoredRoute[index] = [route.rule, route.provider, route.model.slice(0, maxTextLength)];
	}

	#addNumbers(request: RecordedRequest): void {
		const numbers = this.#numbers;
		const { status, usage, firstByteMs, costNanoUsd } = request;
		if (status !== numbers.status.at(-1)) this.#statuses.add(status);
		numbers.status.push(status);
		numbers.flags.push(flagsOf(request));
		numbers.durationTenths.push(tenths(request.durationMs));
		numbers.firstByteTenths.push(firstByteMs === null ? -1 : tenths(firstByteMs));
		numbers.requestBytes.push(request.requestBytes);
		numbers.responseBytes.push(request.responseBytes);
		numbers.inputTokens.push(usage === null ? -1 : usage.inputTokens);
		numbers.cacheReadTokens.push(usage === null ? -1 : usage.cacheReadTokens);
		numbers.cacheWriteTokens.push(usage === null ? -1 : usage.cacheWriteTokens);
		numbers.outputTokens.push(usage === null ? -1 : usage.outputTokens);
		numbers.costNanoUsd.push(costNanoUsd === null ? -1 : Number(costNanoUsd));
		numbers.cacheWriteHourTokens.push(usage?.cacheWriteHourTokens ?? 0);
		numbers.reasoningTokens.push(usage?.reasoningTokens ?? 0);
		if (usage?.toolCalls !== undefined) this.#rare.toolCalls[this.#ids.length - 1] = usage.toolCalls;
		this.#addSize(request);
		const only = onlyAttempt(request);
		numbers.attemptStatus.push(only === undefined ? -1 : (only.status ?? -1));
		numbers.attemptTenths.push(only === undefined ? -1 : tenths(only.ms));
		if (only === undefined && request.targets.length > 0) this.#rare.targets[this.#ids.length - 1] = request.targets.map(attemptCells);
	}

	#addSize({ size, routing: { session } }: RecordedRequest): void {
		const numbers = this.#numbers;
		numbers.session.push(session ?? -1);
		numbers.writtenTokens.push(size === null ? -1 : size.writtenTokens);
		numbers.boundTokens.push(size === null ? -1 : size.boundTokens);
		numbers.capTokens.push(size?.capTokens ?? -1);
		if (size === null || isPlainSize(size)) return;
		const { contextWindows, prompts, choices, defaultTokens, maxToolCalls, surchargedField } = size;
		this.#rare.size[this.#ids.length - 1] = [contextWindows, prompts, choices, defaultTokens, maxToolCalls, surchargedField];
	}

	/** Builds the block of the records; the builder is not used again. */
	build(): BuiltBlock {
		const columns: BlockColumns = {
			version: blockVersion,
			ids: this.#ids,
			texts: textColumns((name) => this.#texts[name].texts),
			indexes: textColumns((name) => this.#texts[name].indexes),
			numbers: this.#numbers,
			rare: this.#rare,
		};
		return { count: this.count, minMs: this.#minMs, maxMs: this.#maxMs, text: JSON.stringify(columns), keys: this.#keys() };
	}

	#keys(): string[] {
		const { endpoint, team, clientId, modelRequested, model, provider, code, attributes } = this.#texts;
		const codes = [...code.texts, ...Object.values(this.#rare.monitored).flat()];
		const pairs = new Set(
			attributes.texts.flatMap((text) => Object.entries(attributesFrom(text)).map(([name, value]) => `${name}=${value}`)),
		);
		return [
			...endpoint.texts.map((text) => `endpoint=${text}`),
			...team.texts.map((text) => `team=${text}`),
			...clientId.texts.map((text) => `client=${text}`),
			...[...new Set([...modelRequested.texts, ...model.texts])].map((text) => `model=${text}`),
			...provider.texts.map((text) => `provider=${text}`),
			...[...new Set(codes)].map((text) => `code=${text}`),
			...[...this.#statuses].map((status) => `status=${status}`),
			...[...pairs].map((pair) => `attribute:${pair}`),
		];
	}
}

function flagsOf({ isTeamByRule, isEstimated, isPriced, isStreaming, isOutputCapped, routing, size }: RecordedRequest): number {
	return (
		(isTeamByRule ? flagBits.isTeamByRule : 0) |
		(isEstimated ? flagBits.isEstimated : 0) |
		(isPriced ? flagBits.isPriced : 0) |
		(isStreaming ? flagBits.isStreaming : 0) |
		(isOutputCapped ? flagBits.isOutputCapped : 0) |
		(routing.isPinned ? flagBits.isPinned : 0) |
		(routing.isDiverted ? flagBits.isDiverted : 0) |
		(size === null ? 0 : flagsOfSize(size))
	);
}

function flagsOfSize({ hasOwnCap, hasHostedTools, isBackground, requestsThinking, cacheWrites }: RequestSize): number {
	return (
		(hasOwnCap ? flagBits.hasOwnCap : 0) |
		(hasHostedTools ? flagBits.hasHostedTools : 0) |
		(isBackground ? flagBits.isBackground : 0) |
		(requestsThinking === null ? 0 : flagBits.setsThinking) |
		(requestsThinking === true ? flagBits.requestsThinking : 0) |
		(cacheWrites === 'short' ? flagBits.hasShortCacheWrites : 0) |
		(cacheWrites === 'hour' ? flagBits.hasHourCacheWrites : 0)
	);
}

function isPlainSize({ contextWindows, prompts, choices, defaultTokens, maxToolCalls, surchargedField }: RequestSize): boolean {
	const isPlainInput = contextWindows === 0 && prompts === 1;
	return isPlainInput && choices === 1 && defaultTokens === null && maxToolCalls === null && surchargedField === null;
}

/** Usual case: one attempt that got a response, at the target of the record. */
function onlyAttempt({ targets, provider, model }: RecordedRequest): TargetAttempt | undefined {
	const [first] = targets;
	if (first === undefined || targets.length > 1 || first.status === null || first.code !== null) return undefined;
	return first.provider === provider && first.model === model ? first : undefined;
}

function attemptCells({ provider, model, status, code, ms }: TargetAttempt): AttemptCells {
	return [provider, model.slice(0, maxTextLength), status, code, tenths(ms)];
}

function limitCells({ kind, limit, used, reserved, resetsAtMs }: ReachedLimit): LimitCells {
	return [kind, cell(limit), cell(used), cell(reserved), resetsAtMs];
}

function cell(amount: number | bigint): number | string {
	return typeof amount === 'bigint' ? String(amount) : amount;
}

function tenths(ms: number): number {
	return Math.round(ms * 10);
}

function attributesText(attributes: Readonly<Record<string, string>>): string | null {
	return Object.keys(attributes).length === 0 ? null : JSON.stringify(attributes);
}

/** @param text of `attributesText`. */
export function attributesFrom(text: string): Readonly<Record<string, string>> {
	return decodeJson(text, byName(textFrom));
}
