import type { CallFacts } from '../../../core/call-facts.ts';
import type { ByteFlow, ByteSink, ByteStream } from '../../../core/handler.ts';
import { OwnPages } from '../../../core/own-pages.ts';
import type { Finding } from '../../../policy/guardrails/guardrail.ts';
import type { Guardrails } from '../../../policy/guardrails/guardrails.ts';
import type { HeldThread, ThreadPiece } from '../../../policy/guardrails/threads/held-thread.ts';
import type { Format } from '../../../wire/formats/format.ts';
import { readEvent } from '../../../wire/sse/read-event.ts';
import { splitEvents } from '../../../wire/sse/split-events.ts';
import type { EventView, StreamedText, Unreadable, ViewedText } from '../../../wire/text-view.ts';
import { readEvents } from '../../../wire/translation/read-events.ts';
import { describeFailure } from '../failure.ts';
import { blocked, type GuardedCall, type Guarding } from '../guarding.ts';
import { maskEdits } from './masked-texts.ts';
import type { StreamRelay } from './stream-relay.ts';
import { ambiguous, unparsed, viewEvent, viewOtherFields } from './view-event.ts';

export type GuardingOfStream = Pick<Guarding, 'report' | 'requireReadable'>;

/** A piece of text in a held event, and where it lies in its thread. */
interface HeldPiece {
	readonly viewed: StreamedText;
	readonly piece: ThreadPiece;
}

interface HeldEvent {
	readonly bytes: Buffer;
	readonly pieces: readonly HeldPiece[];
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
	/** By thread, or by block where a text is of none. */
	readonly #threads = new Map<string, HeldThread>();
	/** Of threads that are over. */
	readonly #findings: Finding[] = [];
	readonly #unreadable: Unreadable[] = [];
	readonly #held: HeldEvent[] = [];
	#heldBytes = 0;
	readonly #pages = new OwnPages();
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
		for (const thread of this.#threads.values()) thread.end();
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
			for (const viewed of view.texts) pieces.push({ viewed, piece: this.#push(viewed) });
			this.#endThreads(view);
		});
		this.#readOtherFields(event);
		this.#held.push({ bytes: this.#pages.keep(event), pieces: pieces.length === 0 ? noPieces : pieces });
		this.#heldBytes += event.length;
		this.#blockIfTripped();
	}

	/** Nothing can be masked there, so that a match blocks. */
	#readOtherFields(event: Buffer): void {
		const { texts, hasUnknown } = viewOtherFields(event);
		if (hasUnknown) this.#refuse([unparsed]);
		for (const text of texts) {
			const thread = this.#guardrails.holdThread(false, this.#call.team);
			thread.push('', text);
			thread.end();
			const { findings } = thread;
			const match = findings.find(({ action }) => action !== 'NONE');
			this.#findings.push(...findings.map((finding) => (finding.action === 'NONE' ? finding : { ...finding, action: 'BLOCK' as const })));
			if (match !== undefined) this.#block(match);
		}
	}

	#push({ thread: name, block, isJson, text }: StreamedText): ThreadPiece {
		const key = `${name === '' ? block : name} ${isJson}`;
		let thread = this.#threads.get(key);
		if (thread === undefined) {
			thread = this.#guardrails.holdThread(isJson, this.#call.team);
			this.#threads.set(key, thread);
		}
		return thread.push(block, text);
	}

	#endThreads({ ended, unreadable }: EventView): void {
		for (const begin of ended) {
			for (const [key, thread] of this.#threads) {
				if (key.startsWith(begin)) this.#endThread(key, thread);
			}
		}
		if (unreadable.length > 0) this.#refuse(unreadable);
	}

	/** Content of known kinds that is not text passes where the configuration says so; bytes that cannot be parsed never do. */
	#refuse(unreadable: readonly Unreadable[]): void {
		if (this.#isOver) return;
		this.#unreadable.push(...unreadable);
		const { type } = unreadable[0] ?? unparsed;
		try {
			if (type !== ambiguous.type && type !== unparsed.type) this.#guarding.requireReadable('output', type);
			else this.#block({ policy: 'unreadable', category: type });
		} catch {
			this.#block({ policy: 'unreadable', category: type });
		}
	}

	#endThread(key: string, thread: HeldThread): void {
		thread.end();
		if (thread.isBlocked) return;
		this.#threads.delete(key);
		this.#findings.push(...thread.findings);
	}

	/** @returns whether more may come. */
	#release(): boolean {
		let mayWrite = true;
		let released = 0;
		const leaving: Buffer[] = [];
		for (const { bytes, pieces } of this.#held) {
			if (!pieces.every(({ piece }) => piece.thread.mayLeave(piece))) break;
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
		for (const thread of this.#threads.values()) {
			if (!thread.isBlocked) continue;
			const finding = thread.findings.find(({ action }) => action === 'BLOCK');
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
		const findings = [...this.#findings, ...[...this.#threads.values()].flatMap((thread) => thread.findings)];
		this.#guarding.report(this.#call, 'output', findings, { unreadable: this.#unreadable });
	}
}

/** The event with what is masked replaced; the same bytes where nothing is. */
function shown(bytes: Buffer, pieces: readonly HeldPiece[]): Buffer {
	const changes: (readonly [ViewedText, string])[] = [];
	for (const { viewed, piece } of pieces) {
		const text = piece.thread.shown(piece);
		if (text !== piece.text) changes.push([viewed, text]);
	}
	if (changes.length === 0) return bytes;
	let event = '';
	readEvents(bytes, (data, name) => {
		const json = Buffer.from(data);
		const edits = maskEdits(json, readEvent(data), changes).toSorted((one, other) => other.start - one.start);
		let edited = json;
		for (const edit of edits) edited = Buffer.concat([edited.subarray(0, edit.start), Buffer.from(edit.text), edited.subarray(edit.end)]);
		const lines = edited.toString().split('\n');
		event += `${name === '' ? '' : `event: ${name}\n`}${lines.map((line) => `data:${line}\n`).join('')}\n`;
	});
	return Buffer.from(event);
}
