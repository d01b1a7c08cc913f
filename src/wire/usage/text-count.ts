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
