import { encryptedPrefix, type ReasoningEncryption } from '../../conversation/reasoning-encryption.ts';
import type { JsonObject } from '../../json/parse-body.ts';

/**
 * Collects the reasoning since the last reasoning item, in the form in which its provider accepts it back: Anthropic's blocks, Google's
 * signatures by call, or the text of other vendors.
 */
export class PendingReasoning {
	#blocks: JsonObject[] = [];
	readonly #signatures = new Map<string, string>();
	#textSignature: string | undefined;
	#text = '';

	addText(text: string): void {
		this.#text += text;
	}

	addBlock(block: JsonObject): void {
		this.#blocks.push(block);
	}

	addSignature(callId: string, signature: string): void {
		this.#signatures.set(callId, signature);
	}

	setTextSignature(signature: string): void {
		this.#textSignature = signature;
	}

	/** True if there is anything but text, and the client can receive it. */
	canReturn(encryption: ReasoningEncryption | undefined): boolean {
		return encryption !== undefined && this.#hasSignature();
	}

	/** Returns `encrypted_content` of a reasoning item, and forgets the reasoning. Null if it cannot be returned. */
	take(encryption: ReasoningEncryption | undefined): string | null {
		const content = this.#content();
		this.#blocks = [];
		this.#signatures.clear();
		this.#textSignature = undefined;
		this.#text = '';
		const encrypted = encryption?.encrypt(JSON.stringify(content)) ?? '';
		return encrypted === '' ? null : `${encryptedPrefix}${encrypted}`;
	}

	#content(): JsonObject {
		if (!this.#hasSignature()) return { p: 'chat', b: [], r: this.#text };
		return {
			p: this.#blocks.length > 0 ? 'anthropic' : 'gemini',
			b: this.#blocks,
			...(this.#signatures.size > 0 && { s: Object.fromEntries(this.#signatures) }),
			...(this.#textSignature !== undefined && { t: this.#textSignature }),
		};
	}

	#hasSignature(): boolean {
		return this.#blocks.length > 0 || this.#textSignature !== undefined || this.#signatures.size > 0;
	}
}
