import type { ByteFlow, ByteSink, ByteStream } from '../../src/core/handler.ts';

/** A stream whose pieces the test pushes itself, and which remembers what its sink asked for. */
export class HandFedStream implements ByteStream {
	sink: ByteSink | undefined;
	isCancelled = false;
	/** The sink has asked for silence and not taken it back. */
	isPaused = false;
	resumes = 0;

	start(sink: ByteSink): ByteFlow {
		this.sink = sink;
		return {
			resume: () => {
				this.resumes++;
				this.isPaused = false;
			},
			cancel: () => {
				this.isCancelled = true;
			},
		};
	}

	/** False when the sink asks for silence. */
	push(piece: string | Buffer): boolean {
		this.isPaused = this.sink?.write(typeof piece === 'string' ? Buffer.from(piece) : piece) !== true;
		return !this.isPaused;
	}

	end(): void {
		this.sink?.end();
	}

	fail(cause: unknown): void {
		this.sink?.fail(cause);
	}
}
