/** Serves the paths of one stored response: read, delete, cancel, input items. */
import type { JsonObject } from './json-value.ts';
import type { Route } from './routes.ts';
import type { StoredResponses } from './stored-responses.ts';
import { VendorError } from './vendor-error.ts';
import { listInputItems } from './wires/responses/responses-api.ts';

/** @throws VendorError when the vendor would reject the request. */
export function serveStoredResponse(
	method: string,
	{ id, part }: NonNullable<Route['stored']>,
	account: string,
	query: URLSearchParams,
	responses: StoredResponses,
): JsonObject {
	switch (`${method} ${part}`) {
		case 'GET response':
			return responses.find(account, id).response;
		case 'DELETE response':
			responses.delete(account, id);
			return { id, object: 'response', deleted: true };
		case 'POST cancel':
			return responses.cancel(account, id).response;
		case 'GET input_items':
			return listInputItems(responses.find(account, id).input, query);
		default:
			throw new VendorError('method-wrong', `${method} /v1/responses/${id}`);
	}
}
