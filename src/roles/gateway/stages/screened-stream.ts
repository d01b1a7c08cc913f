import type { CallFacts } from '../../../core/call-facts.ts';
import type { ByteFlow, ByteSink, ByteStream } from '../../../core/handler.ts';
import type { Finding } from '../../../policy/guardrails/guardrail.ts';
import type { Guardrails } from '../../../policy/guardrails/guardrails.ts';
import type { HoldBack } from '../../../policy/guardrails/hold-back.ts';
import type { Format } from '../../../wire/formats/format.ts';
import { isJsonObject } from '../../../wire/json/parse-body.ts';
import { readEvent } from '../../../wire/sse/read-event.ts';
import { splitEvents } from '../../../wire/sse/split-events.ts';
import { textEdits } from '../../../wire/text-edits.ts';
import type { EventView, StreamedText, Unreadable, ViewedText } from '../../../wire/text-view.ts';
import { readEvents } from '../../../wire/translation/read-events.ts';
import { describeFailure } from '../failure.ts';
import { blocked, type GuardedCall, type Guarding } from '../guarding.ts';
import type { StreamRelay } from './stream-relay.ts';
import { viewEvent } from './view-event.ts';

export type GuardingOfStream = Pick<Guarding, 'report' | 'requireReadable'>;

/** A piece of text in a held event, and where it lies in its block. */
interface HeldPiece {
	readonly piece: StreamedText;
	readonly hold: HoldBack;
	readonly start: number;
}

interface HeldEvent {
	readonly bytes: Buffer;
	readonly pieces: readonly HeldPiece[];
}

interface Block {
	readonly hold: HoldBack;
	length: number;
}

const noPieces: readonly HeldPiece[] = [];
const nothing = Buffer.alloc(0);
/** More is never held: what does not end is not read, and what is not read does not pass. */
const mostHeldBytes = 8 * 1024 * 1024;

/**
 * Holds a stream's events back until none of their text can belong to what is blocked or masked. Events leave whole and in order,
 * byte for byte where nothing is masked. On a block the stream ends with an error event of its format and its call is ended.
 */
export class ScreenedStream implements ByteStream, ByteSink {
	readonly #relay: StreamRelay;
	readonly #format: Format;
	readonly #call: GuardedCall;
	readonly #guarding: GuardingOfStream;
	readonly #guardrails: Guardrails;
	readonly #facts: CallFacts | undefined;
	readonly #blocks = new Map<string, Block>();
	readonly #holds: HoldBack[] = [];
	/** Of blocks that are over. */
	readonly #findings: Finding[] = [];
	readonly #unreadable: Unreadable[] = [];
	readonly #held: HeldEvent[] = [];
	#heldBytes = 0;
	/** The beginning of an event. */
	#rest: Buffer = nothing;
	#sink: ByteSink | undefined;
	#isOver = false;

	constructor(
		relay: StreamRelay,
		format: Format,
		call: GuardedCall,
		guarding: GuardingOfStream,
		guardrails: Guardrails,
		facts: CallFacts | undefined,
	) {
		this.#relay = relay;
		this.#format = format;
		this.#call = call;
		this.#guarding = guarding;
		this.#guardrails = guardrails;
		this.#facts = facts;
	}

	start(sink: ByteSink): ByteFlow {
		this.#sink = sink;
		const flow = this.#relay.start(this);
		return {
			resume: () => flow.resume(),
			cancel: () => {
				flow.cancel();
				this.#finish();
			},
		};
	}

	write(chunk: Buffer): boolean {
		if (this.#isOver) return true;
		const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
		this.#rest = splitEvents(bytes, (event) => this.#hold(event));
		if (this.#heldBytes + this.#rest.length > mostHeldBytes) {
			this.#unreadable.push({ role: 'assistant', type: 'too_long', path: [] });
			this.#block({ policy: 'unreadable', category: 'too_long' });
		}
		return this.#isOver || this.#release();
	}

	end(): void {
		if (this.#isOver) return;
		if (this.#rest.length > 0) this.#hold(this.#rest);
		for (const hold of this.#holds) hold.end();
		this.#blockIfTripped();
		if (this.#isOver) return;
		this.#release();
		this.#finish();
		this.#sink?.end();
	}

	fail(cause: unknown): void {
		if (this.#isOver) return;
		this.#finish();
		this.#sink?.fail(cause);
	}

	#hold(event: Buffer): void {
		if (this.#isOver) return;
		const pieces: HeldPiece[] = [];
		readEvents(event, (data) => {
			const view = viewEvent(data, this.#format);
			if (view === undefined) return;
			for (const piece of view.texts) pieces.push(this.#push(piece));
			this.#endBlocks(view);
		});
		this.#held.push({ bytes: event, pieces: pieces.length === 0 ? noPieces : pieces });
		this.#heldBytes += event.length;
		this.#blockIfTripped();
	}

	#push(piece: StreamedText): HeldPiece {
		const key = `${piece.block} ${piece.isJson}`;
		let block = this.#blocks.get(key);
		if (block === undefined) {
			block = { hold: this.#guardrails.holdBack(piece.isJson, this.#call.team), length: 0 };
			this.#blocks.set(key, block);
			this.#holds.push(block.hold);
		}
		const start = block.length;
		block.length += piece.text.length;
		block.hold.push(piece.text);
		return { piece, hold: block.hold, start };
	}

	#endBlocks({ ended, unreadable }: EventView): void {
		for (const begin of ended) {
			for (const [key, { hold }] of this.#blocks) {
				if (!key.startsWith(begin)) continue;
				this.#endBlock(key, hold);
			}
		}
		if (unreadable.length === 0 || this.#isOver) return;
		this.#unreadable.push(...unreadable);
		try {
			this.#guarding.requireReadable('output', unreadable[0]?.type ?? '');
		} catch {
			this.#block({ policy: 'unreadable', category: unreadable[0]?.type ?? '' });
		}
	}

	#endBlock(key: string, hold: HoldBack): void {
		hold.end();
		this.#blocks.delete(key);
		if (hold.isBlocked) return;
		this.#findings.push(...hold.findings);
		this.#holds.splice(this.#holds.indexOf(hold), 1);
	}

	/** @returns whether more may come. */
	#release(): boolean {
		let mayWrite = true;
		let released = 0;
		const leaving: Buffer[] = [];
		for (const { bytes, pieces } of this.#held) {
			if (!pieces.every(({ piece, hold, start }) => start + piece.text.length <= hold.releasable)) break;
			leaving.push(pieces === noPieces ? bytes : shown(bytes, pieces));
			this.#heldBytes -= bytes.length;
			released++;
		}
		this.#held.splice(0, released);
		const [first] = leaving;
		if (first !== undefined && this.#sink !== undefined) mayWrite = this.#sink.write(leaving.length === 1 ? first : Buffer.concat(leaving));
		return mayWrite;
	}

	#blockIfTripped(): void {
		for (const hold of this.#holds) {
			if (!hold.isBlocked) continue;
			const finding = hold.findings.find(({ action }) => action === 'BLOCK');
			if (finding !== undefined) this.#block(finding);
			return;
		}
	}

	#block(finding: Pick<Finding, 'category'> & { readonly policy: string }): void {
		if (this.#isOver) return;
		this.#finish();
		this.#held.length = 0;
		const refusal = blocked('output', finding);
		const sink = this.#sink;
		sink?.write(this.#format.renderErrorEvent(describeFailure(refusal, this.#call.requestId)));
		// What the relay still has to say goes nowhere.
		this.#relay.fail(refusal);
		if (this.#facts !== undefined) this.#facts.code = refusal.code;
		sink?.end();
	}

	#finish(): void {
		if (this.#isOver) return;
		this.#isOver = true;
		const findings = [...this.#findings, ...this.#holds.flatMap((hold) => hold.findings)];
		this.#guarding.report(this.#call, 'output', findings, { unreadable: this.#unreadable });
	}
}

/** The event with what is masked replaced; the same bytes where nothing is. */
function shown(bytes: Buffer, pieces: readonly HeldPiece[]): Buffer {
	const changes: (readonly [ViewedText, string])[] = [];
	for (const { piece, hold, start } of pieces) {
		const text = hold.shown(piece.text, start);
		if (text !== piece.text) changes.push([piece, text]);
	}
	if (changes.length === 0) return bytes;
	let event = '';
	readEvents(bytes, (data, name) => {
		const told = readEvent(data);
		const json = Buffer.from(data);
		const edits = [...textEdits(json, changes), ...textEdits(json, copiesIn(told?.choices))].toSorted(
			(one, other) => other.start - one.start,
		);
		let edited = json;
		for (const edit of edits) edited = Buffer.concat([edited.subarray(0, edit.start), Buffer.from(edit.text), edited.subarray(edit.end)]);
		const lines = edited.toString().split('\n');
		event += `${name === '' ? '' : `event: ${name}\n`}${lines.map((line) => `data:${line}\n`).join('')}\n`;
	});
	return Buffer.from(event);
}

/** What a chunk tells of each of its pieces of text would show what was masked. */
function copiesIn(choices: unknown): readonly (readonly [ViewedText, string])[] {
	if (!Array.isArray(choices)) return [];
	return choices.flatMap((choice: unknown, index) => {
		if (!isJsonObject(choice) || !isJsonObject(choice.logprobs)) return [];
		const path = ['choices', index, 'logprobs'];
		return [[{ text: '', isJson: true, isValue: true, role: 'assistant', part: 'other', path }, 'null'] as const];
	});
}
