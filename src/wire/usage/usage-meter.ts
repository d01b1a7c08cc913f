import { noUsage, type Usage } from '../../core/usage.ts';
import type { EventBatch } from '../events/event-batch.ts';
import { isJsonObject, type JsonObject } from '../json/parse-body.ts';
import { KeyScan } from './key-scan.ts';
import { UnaskedCuts } from './unasked-cuts.ts';
import type { UsageReader, WrittenKind } from './usage-reader.ts';

export interface MeteredUsage {
	readonly usage: Usage;
	/** True: the provider did not tell, or not to the end; counted from what was seen, upward. */
	readonly isEstimated: boolean;
	/** Whether more was thought than was seen; undefined: the answer does not tell. */
	readonly hidesThoughts?: boolean | undefined;
	/** What was counted in the text of a stream, whatever its provider reported; where it is counted closely. */
	readonly countedTokens?: number | undefined;
	/** In so many texts; each is an event's, or a choice's of an event. */
	readonly texts?: number;
}

export interface MeterSettings {
	/** Of the request, for a stream that never tells. */
	readonly estimatedInputTokens: number;
	/** The caller did not ask for usage, but we did: what tells of it is removed on the way. */
	readonly isUnasked: boolean;
	/** Counts text as near as can be, and takes so many tokens for each that it counts. Undefined: it rather counts too many. */
	readonly tokensPerCounted?: number | undefined;
}

const openBrace = 0x7b;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
/** Of `data:`. */
const firstOfData = 0x64;

/** Index of the name of usage in `UsageReader.wanted`. */
const usageName = 0;

/**
 * Reads the usage of a stream from its events as they pass, in one walk over their bytes, and counts the text that was
 * delivered, so that a stream that was cut before its usage is charged all the same. Only an event that tells of usage
 * is parsed.
 */
export class UsageMeter {
	readonly #reader: UsageReader;
	readonly #estimatedInputTokens: number;
	readonly #scan: KeyScan;
	readonly #cuts: UnaskedCuts | undefined;
	/** What was delivered since the provider told of usage last. */
	readonly #text = new TextCount();
	/** What was delivered before that. */
	#countedBefore = 0;
	#textsBefore = 0;
	readonly #tokensPerCounted: number | undefined;
	#told: JsonObject | undefined;
	#toldOutputTokens = 0;
	#isFinal = false;
	#hasThought = false;

	constructor(reader: UsageReader, { estimatedInputTokens, isUnasked, tokensPerCounted }: MeterSettings) {
		this.#reader = reader;
		this.#tokensPerCounted = tokensPerCounted;
		this.#estimatedInputTokens = estimatedInputTokens;
		this.#scan = new KeyScan(reader.wanted);
		this.#cuts = isUnasked && reader.mustBeAsked ? new UnaskedCuts(reader.written.length) : undefined;
	}

	/** @returns what the client gets of them: the same batch when nothing is removed. */
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

	/** Bytes in which no events can be found: compressed ones, or of an event too long to hold. They count whole. */
	pushOpaque(bytes: Buffer): void {
		this.#text.add(bytes.length);
	}

	/** Output so far: as told, and what was delivered since. */
	deliveredTokens(): number {
		const counted = this.#text.tokens();
		return this.#toldOutputTokens + (this.#tokensPerCounted === undefined ? counted : Math.ceil(counted * this.#tokensPerCounted));
	}

	/** What is known now; meant for the end of the stream, however it came. Input is never zero, nor is output that was seen. */
	read(): MeteredUsage {
		const usage = this.#told === undefined ? undefined : this.#reader.usageOf(this.#told);
		const hidesThoughts = this.#hidesThoughts();
		const metered = { ...weigh(usage, this.#isFinal, this.deliveredTokens(), this.#estimatedInputTokens), hidesThoughts };
		if (this.#tokensPerCounted === undefined) return metered;
		return { ...metered, countedTokens: this.#countedBefore + this.#text.tokens(), texts: this.#textsBefore + this.#text.pieces };
	}

	/** Thoughts go before texts. */
	#hidesThoughts(): boolean | undefined {
		if (this.#isFinal && this.#toldOutputTokens > 0) return false;
		if (this.#hasThought) return true;
		return this.#reader.showsThought && this.#text.tokens() > 0 ? false : undefined;
	}

	#readLine(bytes: Buffer, start: number, end: number): void {
		const scan = this.#scan;
		const cuts = this.#cuts;
		const { written, mustBeAsked } = this.#reader;
		let usageStart = -1;
		let usageEnd = -1;
		let isFinal = false;
		let heldEnd = -1;
		scan.start(bytes, start, end);
		while (scan.next()) {
			const { name, depth, valueStart } = scan;
			if (name === usageName) {
				if (bytes[valueStart] === openBrace && (depth === 1 || (depth === 2 && valueStart < heldEnd))) {
					usageStart = valueStart;
					usageEnd = scan.valueEnd();
					isFinal = depth === 1;
				}
				cuts?.addUsage(bytes, scan);
			} else if (name < written.length) {
				const kind = written[name];
				if (kind === 'thought' || kind === 'seal') this.#hasThought = true;
				countWritten(this.#text, scan, kind, this.#tokensPerCounted !== undefined);
			} else if (!mustBeAsked) {
				if (depth === 1 && bytes[valueStart] === openBrace) heldEnd = scan.valueEnd();
			} else {
				cuts?.addOther(bytes, scan);
			}
		}
		if (usageEnd !== -1) this.#readUsage(bytes, usageStart, usageEnd, isFinal);
		cuts?.endLine(bytes, end);
	}

	#readUsage(bytes: Buffer, start: number, end: number, isFinal: boolean): void {
		const told = parseObject(bytes, start, end);
		if (told === undefined) return;
		const merged = this.#reader.merge(this.#told, told);
		const usage = this.#reader.usageOf(merged);
		if (usage === undefined) return;
		this.#told = merged;
		this.#isFinal = isFinal;
		// Some tell zeros until the end, and some to the end.
		if (usage.outputTokens === 0) return;
		this.#toldOutputTokens = usage.outputTokens;
		this.#countedBefore += this.#text.tokens();
		this.#textsBefore += this.#text.pieces;
		this.#text.reset();
	}
}

/**
 * Usage of a whole answer: as told, else counted.
 * @param usage what `readTold` found. @param estimatedInputTokens of the request.
 */
export function meterAnswer(body: Buffer, usage: Usage | undefined, reader: UsageReader, estimatedInputTokens: number): MeteredUsage {
	if (usage !== undefined && usage.outputTokens > 0) return weigh(usage, true, usage.outputTokens, estimatedInputTokens);
	const text = new TextCount();
	const scan = new KeyScan(reader.wanted);
	scan.start(body, 0, body.length);
	while (scan.next()) countWritten(text, scan, reader.written[scan.name]);
	return weigh(usage, usage !== undefined, text.tokens(), estimatedInputTokens);
}

function countWritten(text: TextCount, scan: KeyScan, kind: WrittenKind | undefined, isClose = false): void {
	if (kind === undefined || kind === 'seal') return;
	const length = kind === 'object' ? scan.skipObject() : scan.skipText();
	if (length <= 0) return;
	if (kind === 'media') text.addMedia(length);
	else if (isClose) text.addClosely(length, scan.otherBytes(length));
	else text.add(length);
}

/**
 * What was told, as far as it can be: nothing is answered without input, and a zero beside a text was not counted.
 * @param usage undefined: nothing sound was told.
 * @param outputTokens as told, and what was seen beyond.
 */
function weigh(usage: Usage | undefined, isFinal: boolean, outputTokens: number, estimatedInputTokens: number): MeteredUsage {
	const told = usage ?? noUsage;
	const isInputTold = told.inputTokens + told.cacheReadTokens + told.cacheWriteTokens > 0;
	if (isFinal && isInputTold && outputTokens === told.outputTokens) return { usage: told, isEstimated: false };
	const inputTokens = isInputTold ? told.inputTokens : Math.max(1, estimatedInputTokens);
	return { usage: { ...told, inputTokens, outputTokens }, isEstimated: true };
}

/** What a whole answer tells; of it only the member with the usage is parsed. */
export interface ToldAnswer {
	/** Whether it is a JSON object, and nothing is missing of it (`KeyScan.isWholeObject`). */
	readonly isObject: boolean;
	/** Undefined when nothing sound is told. */
	readonly usage: Usage | undefined;
}

export function readTold(body: Buffer, reader: UsageReader): ToldAnswer {
	const scan = new KeyScan(reader.wanted);
	let told: JsonObject | undefined;
	scan.start(body, 0, body.length);
	while (scan.next()) {
		if (scan.name === usageName && scan.depth === 1 && body[scan.valueStart] === openBrace) {
			told = parseObject(body, scan.valueStart, scan.valueEnd());
		}
	}
	return { isObject: scan.isWholeObject(), usage: told === undefined ? undefined : reader.usageOf(told) };
}

/** @param end -1: it does not end. @returns undefined for what is no JSON object. */
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
/** Of sound and images in base64. Speech as streams have it, uncompressed, takes about three times as many, an image as many. */
const mediaBytesPerToken = 1000;

/** Counts what a model wrote, for answers that tell of no usage. */
export class TextCount {
	#pieces = 0;
	#bytes = 0;
	#mediaBytes = 0;
	/** Those of ASCII, where they are counted by themselves. */
	#asciiBytes = 0;

	/** As near as can be, where `add` rather counts too many. @param otherBytes of these, those that are not ASCII. */
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

	/** Texts that were counted. */
	get pieces(): number {
		return this.#pieces;
	}

	reset(): void {
		this.#pieces = 0;
		this.#bytes = 0;
		this.#asciiBytes = 0;
		this.#mediaBytes = 0;
	}

	/** Rounded up; providers send at least a token of text at a time. */
	tokens(): number {
		const textTokens = Math.ceil(this.#bytes / bytesPerToken + this.#asciiBytes / bytesPerTokenOfAscii);
		return Math.max(this.#pieces, textTokens) + Math.ceil(this.#mediaBytes / mediaBytesPerToken);
	}
}
