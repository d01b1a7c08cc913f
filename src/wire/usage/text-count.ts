/** English has about 4 bytes a token, code and other scripts about 3. */
const bytesPerToken = 3;
/** Of sound and images in base64. Speech as streams have it, uncompressed, takes about three times as many, an image as many. */
const mediaBytesPerToken = 1000;

/** Counts what a model wrote, for answers that tell of no usage. */
export class TextCount {
	#pieces = 0;
	#bytes = 0;
	#mediaBytes = 0;

	/** @param byteLength as written in JSON. */
	add(byteLength: number): void {
		if (byteLength > 0) this.#pieces++;
		this.#bytes += byteLength;
	}

	/** @param byteLength in base64. */
	addMedia(byteLength: number): void {
		this.#mediaBytes += byteLength;
	}

	reset(): void {
		this.#pieces = 0;
		this.#bytes = 0;
		this.#mediaBytes = 0;
	}

	/** Rounded up; providers send at least a token of text at a time. */
	tokens(): number {
		return Math.max(this.#pieces, Math.ceil(this.#bytes / bytesPerToken)) + Math.ceil(this.#mediaBytes / mediaBytesPerToken);
	}
}
