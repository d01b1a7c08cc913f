/**
 * Encrypts signed reasoning of a provider for clients whose format has one opaque text for it. Clients return the text with the next turn.
 * It belongs to one provider and one team, and needs no store.
 */
export interface ReasoningEncryption {
	encrypt(reasoning: string): string;
	/** Returns undefined for a text that was not encrypted for this provider and team, or was altered. */
	decrypt(encrypted: string): string | undefined;
}

/** Marks encrypted reasoning of the gateway, in contrast to OpenAI's own. */
export const encryptedPrefix = 'tg1.';

/** For providers whose reasoning cannot be returned. */
export const noReasoningEncryption: ReasoningEncryption = { encrypt: () => '', decrypt: () => undefined };
