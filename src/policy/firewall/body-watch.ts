/** Inspects the beginning of a body while it is streamed, without a delay or a change of the bytes. */
import { BytePieces } from '../../core/byte-pieces.ts';
import { wrapStream } from '../../core/byte-stream.ts';
import type { ByteSink, ByteStream } from '../../core/handler.ts';

/** @param look runs once, with the first `bytes` or all of a shorter body, and whether there are more. */
export function watchBeginning(body: ByteStream, bytes: number, look: (beginning: Buffer, isLonger: boolean) => void): ByteStream {
	return wrapStream(body, (sink) => new BeginningWatch(sink, bytes, look));
}

class BeginningWatch implements ByteSink {
	readonly #sink: ByteSink;
	readonly #bytes: number;
	readonly #look: (beginning: Buffer, isLonger: boolean) => void;
	#pieces: BytePieces | undefined = new BytePieces();

	constructor(sink: ByteSink, bytes: number, look: (beginning: Buffer, isLonger: boolean) => void) {
		this.#sink = sink;
		this.#bytes = bytes;
		this.#look = look;
	}

	get copiesChunks(): boolean | undefined {
		return this.#sink.copiesChunks;
	}

	write(chunk: Buffer): boolean {
		if (this.#pieces !== undefined) {
			// The chunk is copied because its buffer may be reused.
			this.#pieces.push(Buffer.from(chunk.subarray(0, this.#bytes + 1 - this.#pieces.length)));
			if (this.#pieces.length > this.#bytes) this.#finish(true);
		}
		return this.#sink.write(chunk);
	}

	end(): void {
		this.#finish(false);
		this.#sink.end();
	}

	fail(cause: unknown): void {
		this.#pieces = undefined;
		this.#sink.fail(cause);
	}

	#finish(isLonger: boolean): void {
		if (this.#pieces === undefined) return;
		const beginning = this.#pieces.take().subarray(0, this.#bytes);
		this.#pieces = undefined;
		this.#look(beginning, isLonger);
	}
}
