import type { ClientDialect } from '../dialects/dialect.ts';
import type { JsonObject } from '../json/parse-body.ts';
import type { Provider } from '../providers/provider.ts';

/** An address for inference requests. All endpoints share one path through the stages. */
export interface Endpoint {
	/** Where it is served, and what SDKs append to their base address. */
	readonly path: string;
	readonly dialect: ClientDialect;
	/** `usage`: all limits of the team apply, and the reported usage is billed. `OwnLimit`: free, with a separate limit. */
	readonly bills: 'usage' | OwnLimit;
	/** Whether clients may ask for a stream. */
	readonly canStream: boolean;
	/** `generated`: a model writes the response, which begins late and is screened. `computed`: it begins soon and has no text of a model. */
	readonly response: 'generated' | 'computed';
	/** Response for a provider that does not serve the endpoint; undefined where the provider does. */
	estimateFor(provider: Provider): Estimate | undefined;
	/**
	 * Path with query of the address at a provider that serves it.
	 * @throws Refusal `field_invalid` when no model of this provider can have that name.
	 */
	locate(provider: Provider, model: string, query: string, isStreaming: boolean): string;
}

/** Requests that cost nothing: nothing is recorded of them, and each is sent once. */
export interface OwnLimit {
	/** Names their counter. */
	readonly counter: string;
	/** So many times the requests per minute of their team. */
	readonly requestsFactor: number;
}

export interface Estimate {
	/** Tells the client that no provider said it. */
	readonly warning: string;
	respond(inputTokens: number): JsonObject;
}

const probe = 'shown to guardrails';
const request = { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: probe }] };

/**
 * A dialect that shows guardrails nothing of what callers say is not served.
 * @throws Error
 */
export function requireTextViews({ path, dialect }: Pick<Endpoint, 'path' | 'dialect'>): void {
	if (dialect.textViews.request(request).texts.some(({ text }) => text === probe)) return;
	throw new Error(`dialect \`${dialect.name}\` at ${path} has no text view for guardrails`);
}
