/** Signatures of thoughts travel beside what they belong to, where Google's own layer for chat completions puts them. */
import { isJsonObject, type JsonObject } from '../json/parse-body.ts';

/** To be spread into a call or a message. */
export function withSignature(signature: string | undefined): JsonObject {
	return signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } };
}

/** @returns undefined where there is none. */
export function signatureOf({ extra_content }: JsonObject): string | undefined {
	const google = isJsonObject(extra_content) ? extra_content.google : undefined;
	const signature = isJsonObject(google) ? google.thought_signature : undefined;
	return typeof signature === 'string' && signature !== '' ? signature : undefined;
}

/**
 * What Google documents for calls that its model did not make, or whose signature was lost: not a signature but the word that
 * there is none. Models that demand signatures refuse the conversation otherwise.
 */
export const noSignature = 'skip_thought_signature_validator';
