/** What clients of several dialects add to parts for one vendor. */
import type { CacheMark, ReasoningPart, VendorSignature } from './conversation.ts';
import type { JsonView } from './json-view.ts';

/** The mark of Anthropic's prompt cache, which some libraries let clients of other dialects set too. */
export function cacheMarkOf(part: JsonView): CacheMark | undefined {
	const mark = part.member('cache_control');
	if (mark.member('type').text() !== 'ephemeral') return undefined;
	const ttl = mark.member('ttl').text();
	return { ttl: ttl === '5m' || ttl === '1h' ? ttl : undefined };
}

/** The signature of a thought, where Google's own layer for chat completions puts it. */
export function thoughtSignatureOf(part: JsonView): VendorSignature | undefined {
	const value = part.member('extra_content').member('google').member('thought_signature').text();
	return value === undefined || value === '' ? undefined : { vendor: 'google', value };
}

/** Thinking that Anthropic takes back: what it signed or encrypted itself, as it was. @returns undefined for any other. */
export function signedThinkingOf(block: JsonView): ReasoningPart['signed'] {
	const type = block.member('type').text();
	if (type === 'redacted_thinking') {
		const data = block.member('data').text();
		return data === undefined || data === '' ? undefined : { kind: 'encrypted', data };
	}
	const text = type === 'thinking' ? block.member('thinking').text() : undefined;
	const signature = block.member('signature').text();
	return text === undefined || signature === undefined || signature === '' ? undefined : { kind: 'text', text, signature };
}
