/** Fields that clients of several dialects add to parts for one vendor. */

import { isJsonObject, type JsonObject } from '../json/parse-body.ts';
import type { CacheMark, EncryptedItem, SignedReasoning, SignedThinking, VendorSignature } from './conversation.ts';
import type { JsonView } from './json-view.ts';
import { readObject } from './read-json.ts';

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

/** Prefix of a signature that holds a reasoning item of OpenAI, for clients of the messages dialect. */
export const openaiPrefix = 'oai1.';

/** Reads reasoning that its vendor accepts back, unchanged. */
export function signedReasoningOf(block: JsonView): SignedReasoning {
	if (block.textOf('type') === 'encrypted_reasoning') {
		const summary = block
			.member('summary')
			.items()
			.map((part) => part.value());
		return { vendor: 'openai', signed: encryptedItem(block.textOf('id'), block.textOf('encrypted_content'), summary) };
	}
	const signed = signedThinkingOf(block);
	const signature = signed?.kind === 'text' ? signed.signature : signed?.data;
	const text = signed === undefined && block.textOf('type') === 'thinking' ? block.textOf('thinking') : undefined;
	if (text !== undefined && text !== '') return { vendor: 'open', text };
	if (signature?.startsWith(openaiPrefix) !== true) return { vendor: 'anthropic', signed };
	const { id, encrypted_content } = readObject(Buffer.from(signature.slice(openaiPrefix.length), 'base64url').toString()) ?? {};
	const summary = signed?.kind === 'text' && signed.text !== '' ? [{ type: 'summary_text', text: signed.text }] : [];
	return { vendor: 'openai', signed: encryptedItem(id, encrypted_content, summary) };
}

/** Writes a signature or data that `signedReasoningOf` reads. */
export function itemSignature({ id, encrypted_content }: JsonObject): string {
	return `${openaiPrefix}${Buffer.from(JSON.stringify({ id, encrypted_content })).toString('base64url')}`;
}

function encryptedItem(id: unknown, encrypted: unknown, summary: readonly unknown[]): EncryptedItem | undefined {
	if (typeof encrypted !== 'string' || encrypted === '') return undefined;
	return { kind: 'item', id: typeof id === 'string' ? id : undefined, encrypted, summary };
}

export function signedThinkingOf(block: JsonView): SignedThinking | undefined {
	const type = block.textOf('type');
	if (type === 'redacted_thinking') {
		const data = block.textOf('data');
		return data === undefined || data === '' ? undefined : { kind: 'encrypted', data };
	}
	const text = type === 'thinking' ? block.textOf('thinking') : undefined;
	const signature = block.textOf('signature');
	return text === undefined || signature === undefined || signature === '' ? undefined : { kind: 'text', text, signature };
}

/** Warning for reasoning that only its own vendor can read. */
export const droppedReasoning = 'reasoning of another vendor dropped';

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
