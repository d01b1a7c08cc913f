import type { Format } from './format.ts';

const probe = 'shown to guardrails';
const request = { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: probe }] };

/**
 * A format that shows guardrails nothing of what callers say is not served.
 * @throws Error
 */
export function requireTextViews({ name, path, textViews }: Pick<Format, 'name' | 'path' | 'textViews'>): void {
	if (textViews.request(request).texts.some(({ text }) => text === probe)) return;
	throw new Error(`format \`${name}\` at ${path} does not show guardrails the texts of its requests`);
}
