import { noUsage, type ToolCalls, type Usage } from '../../core/usage.ts';
import type { EventBatch } from '../events/event-batch.ts';
import { isJsonObject, type JsonObject } from '../json/parse-body.ts';
import { InjectedUsageStripper } from './injected-usage-stripper.ts';
import { KeyScan, skipSpace } from './key-scan.ts';
import type { ToolCallReader } from './tool-call-reader.ts';
import type { UsageReader, WrittenKind } from './usage-reader.ts';

export interface MeteredUsage {
	readonly usage: Usage;
	/** True if the usage is estimated upward, because the provider reported none, or not to the end. */
	readonly isEstimated: boolean;
	/** True if the response has hidden reasoning tokens; undefined if it does not show. */
	readonly hidesReasoning?: boolean | undefined;
	/** Tokens counted in the text of a stream, whatever its provider reported; only with close counts. */
	readonly countedTokens?: number | undefined;
	/** Number of texts that were counted; each belongs to an event, or to a choice of an event. */
	readonly texts?: number;
}

export interface MeterSettings {
	/** Input tokens of the request, for a stream that never reports usage. */
	readonly estimatedInputTokens: number;
	/** True if the gateway, not the client, asked for usage: it is removed in transit. */
	readonly isUsageInjected: boolean;
	/** Counts text closely, and multiplies the count by this factor. Undefined for a count that tends to be too high. */
	readonly tokensPerCounted?: number | undefined;
	/** True if the request offers hosted tools, whose calls are read from the last event with usage. */
	readonly hasHostedTools?: boolean;
}

const openBrace = 0x7b;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
/** First byte of `data:`. */
const firstOfData = 0x64;

/** Index of the usage member in `UsageReader.wanted`. */
const usageName = 0;

/**
 * Reads the usage of a stream from its events in transit, in one pass over their bytes. It also counts the delivered text, so that a stream
 * that breaks before its usage is charged, too. Only events with usage are parsed.
 */
export class UsageMeter {
	readonly #reader: UsageReader;
	readonly #estimatedInputTokens: number;
	readonly #scan: KeyScan;
	readonly #cuts: InjectedUsageStripper | undefined;
	/** Text delivered since the provider last reported usage. */
	readonly #text = new TextCount();
	readonly #repeated = new RepeatedText();
	/** Tokens delivered before that. */
	#countedBefore = 0;
	#textsBefore = 0;
	readonly #tokensPerCounted: number | undefined;
	#reported: JsonObject | undefined;
	#reportedOutputTokens = 0;
	#isFinal = false;
	#hasThought = false;
	readonly #toolCallReader: ToolCallReader | undefined;
	/** Finished calls of hosted tools, which a stream without its end is charged. */
	readonly #calls: JsonObject[] = [];
	#toolCalls: ToolCalls | undefined;

	constructor(reader: UsageReader, { estimatedInputTokens, isUsageInjected, tokensPerCounted, hasHostedTools = false }: MeterSettings) {
		this.#toolCallReader = hasHostedTools ? reader.toolCalls : undefined;
		this.#reader = reader;
		this.#tokensPerCounted = tokensPerCounted;
		this.#estimatedInputTokens = estimatedInputTokens;
		this.#scan = new KeyScan(reader.wanted);
		this.#cuts = isUsageInjected && reader.shouldRequest ? new InjectedUsageStripper(reader.written.length) : undefined;
	}

	/** @returns the events for the client: the same batch if nothing is removed. */
	push(batch: EventBatch): EventBatch {
		const cuts = this.#cuts;
		const events = batch.bytes;
		let carriage = events.indexOf(carriageReturn);
		let start = 0;
		while (start < events.length) {
			let end = events.indexOf(lineFeed, start);
			if (end === -1) end = events.length;
			let next = end + 1;
			if (carriage !== -1 && carriage < end) {
				if (carriage + 1 < end) next = carriage + 1;
				end = carriage;
				carriage = events.indexOf(carriageReturn, next);
			}
			if (events[start] === firstOfData) this.#readLine(events, start, end);
			else if (cuts !== undefined && end === start) cuts.endEvent(next);
			start = next;
		}
		return cuts === undefined ? batch : cuts.apply(batch);
	}

	/**
	 * Counts bytes in which no events can be found, because they are compressed, or their event is too long to buffer. They count in full.
	 */
	pushOpaque(bytes: Buffer): void {
		this.#text.add(bytes.length);
	}

	/** Returns the output so far: reported, plus delivered since. */
	deliveredTokens(): number {
		const counted = this.#text.tokens();
		return this.#reportedOutputTokens + (this.#tokensPerCounted === undefined ? counted : Math.ceil(counted * this.#tokensPerCounted));
	}

	/** Returns the usage as known now, usually at the end of the stream. Input is never zero, nor is output that was delivered. */
	read(): MeteredUsage {
		const reported = this.#reported === undefined ? undefined : this.#reader.usageOf(this.#reported);
		const { usage, isEstimated } = weigh(reported, this.#isFinal, this.deliveredTokens(), this.#estimatedInputTokens);
		const metered = { usage: withToolCalls(usage, this.#toolCalls), isEstimated, hidesReasoning: this.#hidesReasoning() };
		if (this.#tokensPerCounted === undefined) return metered;
		return { ...metered, countedTokens: this.#countedBefore + this.#text.tokens(), texts: this.#textsBefore + this.#text.pieces };
	}

	/** Thinking precedes texts. */
	#hidesReasoning(): boolean | undefined {
		if (this.#isFinal && this.#reportedOutputTokens > 0) return false;
		if (this.#hasThought) return true;
		return this.#reader.showsThought && this.#text.tokens() > 0 ? false : undefined;
	}

	#readLine(bytes: Buffer, start: number, end: number): void {
		const scan = this.#scan;
		const cuts = this.#cuts;
		const { written, shouldRequest, isNestedFinal } = this.#reader;
		let usageStart = -1;
		let usageEnd = -1;
		let isFinal = false;
		let bufferedEnd = -1;
		scan.start(bytes, start, end);
		while (scan.next()) {
			const { name, depth, valueStart } = scan;
			if (name === usageName) {
				if (bytes[valueStart] === openBrace && (depth === 1 || (depth === 2 && valueStart < bufferedEnd))) {
					usageStart = valueStart;
					usageEnd = scan.valueEnd();
					isFinal = depth === 1 || isNestedFinal === true;
				}
				cuts?.addUsage(bytes, scan);
			} else if (name < written.length) {
				const kind = written[name];
				if (kind === 'thought' || kind === 'seal') this.#hasThought = true;
				if (kind === 'whole') this.#countWhole(scan);
				else this.#repeated.addPiece(countWritten(this.#text, scan, kind, this.#tokensPerCounted !== undefined));
			} else if (!shouldRequest) {
				if (depth === 1 && bytes[valueStart] === openBrace) bufferedEnd = scan.valueEnd();
			} else {
				cuts?.addOther(bytes, scan);
			}
		}
		if (usageEnd !== -1) {
			this.#readUsage(bytes, usageStart, usageEnd, isFinal);
		}
		if (this.#toolCallReader !== undefined) this.#readToolCalls(this.#toolCallReader, bytes.subarray(start, end), usageEnd !== -1);
		cuts?.endLine(bytes, end);
	}

	#readToolCalls(reader: ToolCallReader, line: Buffer, hasUsage: boolean): void {
		if (!hasUsage && !line.includes(reader.mark)) return;
		const event = parseObject(line, line.indexOf(openBrace), line.length);
		if (event === undefined) return;
		const call = hasUsage ? undefined : reader.callIn(event);
		if (call !== undefined) this.#calls.push(call);
		if (hasUsage || call !== undefined) this.#toolCalls = reader.count(hasUsage ? event : {}, this.#calls);
	}

	/** Counts the part of a text that its pieces did not contain. */
	#countWhole(scan: KeyScan): void {
		const length = scan.skipText();
		if (length < 0) return;
		const missing = this.#repeated.endWith(length);
		if (missing > 0) addText(this.#text, missing, Math.min(missing, scan.otherBytes(length)), this.#tokensPerCounted !== undefined);
	}

	#readUsage(bytes: Buffer, start: number, end: number, isFinal: boolean): void {
		const reported = parseObject(bytes, start, end);
		if (reported === undefined) return;
		const merged = this.#reader.merge(this.#reported, reported);
		const usage = this.#reader.usageOf(merged);
		if (usage === undefined) return;
		this.#reported = merged;
		this.#isFinal = isFinal;
		// Some providers report zeros until the end, some only zeros.
		if (usage.outputTokens === 0) return;
		this.#reportedOutputTokens = usage.outputTokens;
		this.#countedBefore += this.#text.tokens();
		this.#textsBefore += this.#text.pieces;
		this.#text.reset();
	}
}

/**
 * Returns the usage of a non-streaming response: reported, otherwise estimated.
 * @param usage from its body. @param estimatedInputTokens of the request.
 */
export function meterResponse(body: Buffer, usage: Usage | undefined, reader: UsageReader, estimatedInputTokens: number): MeteredUsage {
	if (usage !== undefined && usage.outputTokens > 0) return weigh(usage, true, usage.outputTokens, estimatedInputTokens);
	const text = new TextCount();
	if (reader.written.length > 1) countWrittenIn(body, reader, text);
	return weigh(usage, usage !== undefined, text.tokens(), estimatedInputTokens);
}

function countWrittenIn(body: Buffer, { wanted, written }: UsageReader, text: TextCount): void {
	const scan = new KeyScan(wanted);
	scan.start(body, 0, body.length);
	while (scan.next()) countWritten(text, scan, written[scan.name]);
}

/** @returns the number of bytes that were counted. */
function countWritten(text: TextCount, scan: KeyScan, kind: WrittenKind | undefined, isClose = false): number {
	if (kind === undefined || kind === 'seal') return 0;
	const length = kind === 'object' ? scan.skipObject() : scan.skipText();
	if (length <= 0) return 0;
	if (kind === 'media') text.addMedia(length);
	else addText(text, length, isClose ? scan.otherBytes(length) : 0, isClose);
	return length;
}

/** @param otherBytes the part of `length` beyond ASCII, for close counts. */
function addText(text: TextCount, length: number, otherBytes: number, isClose: boolean): void {
	if (isClose) text.addClosely(length, otherBytes);
	else text.add(length);
}

/**
 * Returns the reported usage where it is plausible: a response without input is impossible, and zero output next to a text is wrong.
 * @param usage undefined if no valid usage was reported.
 * @param outputTokens reported, plus delivered since.
 */
function weigh(usage: Usage | undefined, isFinal: boolean, outputTokens: number, estimatedInputTokens: number): MeteredUsage {
	const reported = usage ?? noUsage;
	const isInputReported = reported.inputTokens + reported.cacheReadTokens + reported.cacheWriteTokens > 0;
	if (isFinal && isInputReported && outputTokens === reported.outputTokens) return { usage: reported, isEstimated: false };
	const inputTokens = isInputReported ? reported.inputTokens : Math.max(1, estimatedInputTokens);
	return { usage: { ...reported, inputTokens, outputTokens }, isEstimated: true };
}

/** Usage of a non-streaming response; only the member with the usage is parsed. */
export interface ReportedUsage {
	/** True if the body is a complete JSON object (`KeyScan.isWholeObject`). */
	readonly isObject: boolean;
	/** Undefined if no valid usage is reported. */
	readonly usage: Usage | undefined;
}

/** @param hasHostedTools true to read calls of hosted tools too, for which the body is parsed. */
export function readReportedUsage(body: Buffer, reader: UsageReader, hasHostedTools = false): ReportedUsage {
	return (reader.written.length === 1 ? readOutsideLists(body, reader) : undefined) ?? scanForUsage(body, reader, hasHostedTools);
}

const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/**
 * Reads the usage of a response without texts of a model after its last list or before its first, because its vectors can have many
 * megabytes.
 * @returns undefined if the usage is elsewhere.
 */
function readOutsideLists(body: Buffer, reader: UsageReader): ReportedUsage | undefined {
	const begin = skipSpace(body, 0, body.length);
	const last = body.lastIndexOf(closeBrace);
	const isObject = body[begin] === openBrace && skipSpace(body, last + 1, body.length) === body.length;
	if (last === -1 || !isObject) return undefined;
	const firstList = body.indexOf(openBracket);
	const usage =
		usageBetween(body, body.lastIndexOf(closeBracket) + 1, last, 0, reader) ??
		usageBetween(body, begin, Math.max(begin, firstList), 1, reader);
	if (usage !== undefined) return { isObject, usage };
	return body.includes(`"${reader.wanted.names[usageName] ?? ''}"`) ? undefined : { isObject, usage: undefined };
}

/** @param depth of the members between the two positions. */
function usageBetween(body: Buffer, start: number, end: number, depth: number, reader: UsageReader): Usage | undefined {
	const scan = new KeyScan(reader.wanted);
	scan.start(body, start, end);
	while (scan.next()) {
		if (scan.depth !== depth || body[scan.valueStart] !== openBrace) continue;
		const reported = parseObject(body, scan.valueStart, scan.valueEnd());
		if (reported !== undefined) return reader.usageOf(reported);
	}
	return undefined;
}

function scanForUsage(body: Buffer, reader: UsageReader, hasHostedTools: boolean): ReportedUsage {
	const scan = new KeyScan(reader.wanted);
	let reported: JsonObject | undefined;
	scan.start(body, 0, body.length);
	while (scan.next()) {
		if (scan.name === usageName && scan.depth === 1 && body[scan.valueStart] === openBrace) {
			reported = parseObject(body, scan.valueStart, scan.valueEnd());
		}
	}
	const usage = reported === undefined ? undefined : reader.usageOf(reported);
	const response = hasHostedTools && reader.toolCalls !== undefined ? parseObject(body, 0, body.length) : undefined;
	const toolCalls = response && reader.toolCalls?.count(response, []);
	return { isObject: scan.isWholeObject(), usage: toolCalls === undefined ? usage : withToolCalls(usage ?? noUsage, toolCalls) };
}

function withToolCalls(usage: Usage, toolCalls: ToolCalls | undefined): Usage {
	return toolCalls === undefined ? usage : { ...usage, toolCalls };
}

/** @param end -1 if it does not end. @returns undefined for bytes that are not a JSON object. */
function parseObject(bytes: Buffer, start: number, end: number): JsonObject | undefined {
	if (end === -1) return undefined;
	try {
		const value: unknown = JSON.parse(bytes.toString('utf8', start, end));
		return isJsonObject(value) ? value : undefined;
	} catch {
		return undefined;
	}
}

/** English has about 4 bytes a token, code and other scripts about 3. */
const bytesPerToken = 3;
const bytesPerTokenOfAscii = 4;
/** For audio and images in base64. Uncompressed audio, as in streams, has about three times as many bytes a token, images about as many. */
const mediaBytesPerToken = 1000;

/** Distinguishes texts that repeat their pieces from texts without pieces. */
class RepeatedText {
	#pieceBytes = 0;
	#isOver = false;

	addPiece(byteLength: number): void {
		if (this.#isOver) {
			this.#pieceBytes = 0;
			this.#isOver = false;
		}
		this.#pieceBytes += byteLength;
	}

	/** Ends a text; an empty one begins another. @returns the number of its bytes that no piece contained. */
	endWith(byteLength: number): number {
		const missing = Math.max(0, byteLength - this.#pieceBytes);
		this.#pieceBytes = byteLength === 0 ? 0 : this.#pieceBytes + missing;
		this.#isOver = true;
		return missing;
	}
}

/** Counts the text that a model wrote, for responses without usage. */
export class TextCount {
	#pieces = 0;
	#bytes = 0;
	#mediaBytes = 0;
	/** ASCII bytes, if they are counted separately. */
	#asciiBytes = 0;

	/** Counts closely, whereas `add` tends to count too many. @param otherBytes the part of `byteLength` beyond ASCII. */
	addClosely(byteLength: number, otherBytes: number): void {
		this.add(otherBytes);
		if (otherBytes === 0 && byteLength > 0) this.#pieces++;
		this.#asciiBytes += byteLength - otherBytes;
	}

	/** @param byteLength as written in JSON. */
	add(byteLength: number): void {
		if (byteLength > 0) this.#pieces++;
		this.#bytes += byteLength;
	}

	/** @param byteLength in base64. */
	addMedia(byteLength: number): void {
		this.#mediaBytes += byteLength;
	}

	/** Number of texts that were counted. */
	get pieces(): number {
		return this.#pieces;
	}

	reset(): void {
		this.#pieces = 0;
		this.#bytes = 0;
		this.#asciiBytes = 0;
		this.#mediaBytes = 0;
	}

	/** Returns the tokens, rounded up; each text counts as at least one, because providers send no less. */
	tokens(): number {
		const textTokens = Math.ceil(this.#bytes / bytesPerToken + this.#asciiBytes / bytesPerTokenOfAscii);
		return Math.max(this.#pieces, textTokens) + Math.ceil(this.#mediaBytes / mediaBytesPerToken);
	}
}
