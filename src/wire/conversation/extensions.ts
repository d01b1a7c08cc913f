/** Fields that clients of several dialects add to parts for one vendor. */

import { isJsonObject, type JsonObject } from '../json/parse-body.ts';
import type { CacheMark, ReasoningPart, VendorSignature } from './conversation.ts';
import type { JsonView } from './json-view.ts';

/** Reads the cache mark of Anthropic's prompt cache, which some libraries also set in other dialects. */
export function cacheMarkOf(part: JsonView): CacheMark | undefined {
	if (!part.has('cache_control')) return undefined;
	const mark = part.member('cache_control');
	if (mark.textOf('type') !== 'ephemeral') return undefined;
	const ttl = mark.textOf('ttl');
	return { ttl: ttl === '5m' || ttl === '1h' ? ttl : undefined };
}

/** Reads the signature of a thought from the field that Google's own layer for chat completions uses. */
export function thoughtSignatureOf(part: JsonView): VendorSignature | undefined {
	if (!part.has('extra_content')) return undefined;
	const value = part.member('extra_content').member('google').textOf('thought_signature');
	return value === undefined || value === '' ? undefined : { vendor: 'google', value };
}

/** Thinking that Anthropic accepts back: its own signed or encrypted block, unchanged. @returns undefined for any other block. */
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

/** Returns the members that carry a signature, to be spread into a call or a message. */
export function withSignature(signature: string | undefined): JsonObject {
	return signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } };
}

/** Same field as in `thoughtSignatureOf`. */
export function signatureOf({ extra_content }: JsonObject): string | undefined {
	const google = isJsonObject(extra_content) ? extra_content.google : undefined;
	const signature = isJsonObject(google) ? google.thought_signature : undefined;
	return typeof signature === 'string' && signature !== '' ? signature : undefined;
}

/**
 * Google's documented value for calls that its model did not make or whose signature was lost. Models that require signatures reject the
 * conversation without it.
 */
export const noSignature = 'skip_thought_signature_validator';
