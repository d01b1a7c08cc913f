import { clientDialects } from '../dialects/dialects.ts';
import type { Endpoint, OwnLimit } from './endpoint.ts';

/** A request about a stored response. */
export interface StoredResponseRequest {
	readonly method: 'GET' | 'POST' | 'DELETE';
	/** Path at the gateway, with `{id}` in place of the response's id. */
	readonly path: string;
	/** True if clients may ask for a stream. */
	readonly canStream: boolean;
}

const base = '/v1/responses/';

/** Vendors charge nothing for these requests. Clients poll with them, so they have a separate limit. */
export const ownLimit: OwnLimit = { counter: 'stored_responses', requestsFactor: 10 };

export const readResponse: StoredResponseRequest = { method: 'GET', path: `${base}{id}`, canStream: true };

export const storedResponseRequests: readonly StoredResponseRequest[] = [
	readResponse,
	{ method: 'DELETE', path: `${base}{id}`, canStream: false },
	{ method: 'POST', path: `${base}{id}/cancel`, canStream: false },
	{ method: 'GET', path: `${base}{id}/input_items`, canStream: false },
];

/** Splits a path into its form in `storedResponseRequests` and the id; undefined for another path. */
export function splitStoredPath(path: string): { readonly form: string; readonly id: string } | undefined {
	if (!path.startsWith(base)) return undefined;
	const [id = '', ...rest] = path.slice(base.length).split('/');
	const form = [`${base}{id}`, ...rest].join('/');
	return storedResponseRequests.some((request) => request.path === form) ? { form, id } : undefined;
}

/** Other ids could change the path at the provider, and no vendor creates them. */
export function isPathId(id: string): boolean {
	return /^[\w-]{1,256}$/.test(id);
}

/** Returns the endpoint for one response. @param id that `isPathId` accepts. */
export function storedResponseEndpoint({ method, path, canStream }: StoredResponseRequest, id: string): Endpoint {
	const below = path.replace('{id}', id).slice(base.length - 1);
	return {
		path,
		dialect: clientDialects.responses,
		bills: ownLimit,
		isUntranslated: true,
		methodWithoutBody: method,
		canStream,
		response: 'generated',
		failsOverTo: 'any_model',
		estimateFor: () => undefined,
		locate: (provider, name, model, query) => provider.locateBelow(name, model, below, query),
	};
}
