/** What clients of several dialects add to parts for one vendor. */

import { isJsonObject, type JsonObject } from '../json/parse-body.ts';
import type { CacheMark, ReasoningPart, VendorSignature } from './conversation.ts';
import type { JsonView } from './json-view.ts';

/** The mark of Anthropic's prompt cache, which some libraries let clients of other dialects set too. */
export function cacheMarkOf(part: JsonView): CacheMark | undefined {
	if (!part.has('cache_control')) return undefined;
	const mark = part.member('cache_control');
	if (mark.textOf('type') !== 'ephemeral') return undefined;
	const ttl = mark.textOf('ttl');
	return { ttl: ttl === '5m' || ttl === '1h' ? ttl : undefined };
}

/** The signature of a thought, where Google's own layer for chat completions puts it. */
export function thoughtSignatureOf(part: JsonView): VendorSignature | undefined {
	if (!part.has('extra_content')) return undefined;
	const value = part.member('extra_content').member('google').textOf('thought_signature');
	return value === undefined || value === '' ? undefined : { vendor: 'google', value };
}

/** Thinking that Anthropic takes back: what it signed or encrypted itself, as it was. @returns undefined for any other. */
export function signedThinkingOf(block: JsonView): ReasoningPart['signed'] {
	const type = block.textOf('type');
	if (type === 'redacted_thinking') {
		const data = block.textOf('data');
		return data === undefined || data === '' ? undefined : { kind: 'encrypted', data };
	}
	const text = type === 'thinking' ? block.textOf('thinking') : undefined;
	const signature = block.textOf('signature');
	return text === undefined || signature === undefined || signature === '' ? undefined : { kind: 'text', text, signature };
}

/** A signature beside what it belongs to: to be spread into a call or a message. */
export function withSignature(signature: string | undefined): JsonObject {
	return signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } };
}

/** As `thoughtSignatureOf`. */
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
