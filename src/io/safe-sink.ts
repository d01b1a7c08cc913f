import type { ByteSink } from '../core/handler.ts';

/**
 * Hands on to a sink and survives its bugs, which would otherwise surface in the event loop or in a parser:
 * what the sink throws becomes its failure, once, and `onDefect` stops the source.
 */
export class SafeSink implements ByteSink {
	private readonly sink: ByteSink;
	private readonly onDefect: () => void;

	constructor(sink: ByteSink, onDefect: () => void) {
		this.sink = sink;
		this.onDefect = onDefect;
	}

	get copiesChunks(): boolean | undefined {
		return this.sink.copiesChunks;
	}

	write(chunk: Buffer): boolean {
		try {
			return this.sink.write(chunk);
		} catch (defect) {
			this.breakWith(defect);
			return false;
		}
	}

	end(): void {
		try {
			this.sink.end();
		} catch (defect) {
			this.breakWith(defect);
		}
	}

	fail(cause: unknown): void {
		try {
			this.sink.fail(cause);
		} catch {
			// It has been told that there is nothing more; no one is left to tell about its second mistake.
		}
	}

	private breakWith(defect: unknown): void {
		this.onDefect();
		this.fail(defect);
	}
}
