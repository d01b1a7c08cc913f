import type { DialectName } from '../../core/dialect-name.ts';
import type { ClientDialect } from '../dialects/dialect.ts';
import type { JsonObject } from '../json/parse-body.ts';
import type { Provider } from '../providers/provider.ts';

/** An address for inference requests. All endpoints share one path through the stages. */
export interface Endpoint {
	/** Path at the gateway, which SDKs append to their base URL. */
	readonly path: string;
	readonly dialect: ClientDialect;
	/** `usage`: all limits of the team apply, and the reported usage is billed. `OwnLimit`: free, with a separate limit. */
	readonly bills: 'usage' | OwnLimit;
	/** True if only providers of the endpoint's dialect serve it. By default, requests are translated for others. */
	readonly isUntranslated?: boolean;
	/** Method of requests without a body. By default, requests are POSTed with a body. */
	readonly methodWithoutBody?: 'GET' | 'POST' | 'DELETE';
	/** True if clients may ask for a stream. */
	readonly canStream: boolean;
	/** `generated`: a model writes the response, which begins late and is screened. `computed`: it begins soon and has no text of a model. */
	readonly response: 'generated' | 'computed';
	/** `same_model`: responses of another model are useless to the client, so rules lead to one model, at any provider. */
	readonly failsOverTo: 'any_model' | 'same_model';
	/** Returns the response for a provider that does not serve the endpoint; undefined if the provider does. */
	estimateFor(provider: Provider): Estimate | undefined;
	/**
	 * Returns path and query at a provider that serves the endpoint.
	 * @param dialect of the request to the provider.
	 * @throws `Rejection` `field_invalid` if no model of this provider can have that name.
	 */
	locate(provider: Provider, dialect: DialectName, model: string, query: string, isStreaming: boolean): string;
}

/** Returns an endpoint at which a model generates text. Requests are translated for providers with another dialect. */
export function inferenceEndpoint(path: string, dialect: ClientDialect): Endpoint {
	return {
		path,
		dialect,
		bills: 'usage',
		canStream: true,
		response: 'generated',
		failsOverTo: 'any_model',
		estimateFor: () => undefined,
		locate: (provider, name, model, query, isStreaming) => provider.locate(name, model, query, isStreaming),
	};
}

/** Limit of free requests, which have no ledger entry and are sent once. */
export interface OwnLimit {
	/** Name of their counter. */
	readonly counter: string;
	/** Multiple of their team's requests per minute. */
	readonly requestsFactor: number;
}

export interface Estimate {
	/** Tells the client that the response is estimated and comes from no provider. */
	readonly warning: string;
	respond(inputTokens: number): JsonObject;
}

const probe = 'shown to guardrails';
/** Minimal requests of all dialects in one. */
const request = { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: probe }], input: probe, prompt: probe };

/**
 * Rejects a dialect without text views, because guardrails could not read its texts.
 * @throws Error
 */
export function requireTextViews({ path, dialect }: Pick<Endpoint, 'path' | 'dialect'>): void {
	if (dialect.textViews.request(request).texts.some(({ text }) => text === probe)) return;
	throw new Error(`dialect \`${dialect.name}\` at ${path} has no text view for guardrails`);
}
