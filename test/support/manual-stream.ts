import type { ByteFlow, ByteSink, ByteStream } from '../../src/core/handler.ts';

/** Stream whose pieces the test pushes, and which records the sink's requests. */
export class HandFedStream implements ByteStream {
	sink: ByteSink | undefined;
	isCancelled = false;
	/** True after the sink paused the stream and before it resumed it. */
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

	/** Returns false if the sink asks for a pause. */
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
