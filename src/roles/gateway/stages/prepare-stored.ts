import type { HttpRequest } from '../../../core/handler.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';
import type { ResponseOwner } from '../../../stores/contracts/response-owners.ts';
import { clientDialects } from '../../../wire/dialects/dialects.ts';
import { type StoredResponseRequest, storedResponseEndpoint } from '../../../wire/endpoints/stored-responses.ts';
import { WrittenBody } from '../../../wire/json/parse-body.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { responseNotFound } from './find-stored.ts';
import type { PreparedRequest } from './prepare-request.ts';
import { locatedMembers } from './read-inference-request.ts';

const { responses: format } = clientDialects;

const emptyBody = new WrittenBody({}, locatedMembers);

/**
 * Prepares a request about a stored response for the provider that stores it.
 * @param id that `isPathId` accepts.
 * @throws `Rejection` `response_not_found` if the provider is not configured any more; `UpstreamError` `provider_key_unset`.
 */
export function prepareStored(
	request: HttpRequest,
	stored: StoredResponseRequest,
	id: string,
	{ provider: name, model }: Pick<ResponseOwner, 'provider' | 'model'>,
	{ routing, providers }: GatewayDeps,
): PreparedRequest {
	const target = routing.targetOf({ provider: name, model });
	const provider = providers.get(name);
	if (target === undefined || provider === undefined) throw responseNotFound(id, 'response_id');
	if (!provider.isConfigured) throw new UpstreamError('provider_key_unset');
	return {
		request,
		endpoint: storedResponseEndpoint(stored, id),
		format,
		body: emptyBody,
		model,
		isStreaming: stored.canStream && new URLSearchParams(request.query).get('stream') === 'true',
		stateMode: 'owner',
		session: undefined,
		target,
		provider,
		knownAs: model,
		maxOutputTokens: undefined,
		defaultCapTokens: undefined,
		providerFormat: format,
		outgoing: emptyBody,
		translated: undefined,
		warnings: [],
		estimate: undefined,
	};
}
