import type { ByteSink } from '../core/handler.ts';

/**
 * Passes events to a sink and contains its errors, which would otherwise surface in the event loop or in a parser. An error of the sink
 * becomes its failure, once, and `onInternalError` stops the source.
 */
export class SafeSink implements ByteSink {
	private readonly sink: ByteSink;
	private readonly onInternalError: () => void;

	constructor(sink: ByteSink, onInternalError: () => void) {
		this.sink = sink;
		this.onInternalError = onInternalError;
	}

	get copiesChunks(): boolean | undefined {
		return this.sink.copiesChunks;
	}

	write(chunk: Buffer): boolean {
		try {
			return this.sink.write(chunk);
		} catch (internalError) {
			this.breakWith(internalError);
			return false;
		}
	}

	end(): void {
		try {
			this.sink.end();
		} catch (internalError) {
			this.breakWith(internalError);
		}
	}

	fail(cause: unknown): void {
		try {
			this.sink.fail(cause);
		} catch {
			// The sink has already received its end; there is no receiver for a second error.
		}
	}

	private breakWith(internalError: unknown): void {
		this.onInternalError();
		this.fail(internalError);
	}
}
