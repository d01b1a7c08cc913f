import type { ByteSink } from '../core/handler.ts';

/**
 * Passes events to a sink and contains its errors, which would otherwise surface in the event loop or in a parser. An error of the sink
 * becomes its failure, once, and `onDefect` stops the source.
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
			// The sink has already received its end; there is no receiver for a second error.
		}
	}

	private breakWith(defect: unknown): void {
		this.onDefect();
		this.fail(defect);
	}
}
