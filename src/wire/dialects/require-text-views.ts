import type { Endpoint } from '../endpoints/endpoint.ts';

const probe = 'shown to guardrails';
const request = { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: probe }] };

/**
 * A dialect that shows guardrails nothing of what callers say is not served.
 * @throws Error
 */
export function requireTextViews({ path, dialect }: Pick<Endpoint, 'path' | 'dialect'>): void {
	if (dialect.textViews.request(request).texts.some(({ text }) => text === probe)) return;
	throw new Error(`dialect \`${dialect.name}\` at ${path} does not show guardrails the texts of its requests`);
}
