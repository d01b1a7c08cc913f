/**
 * Catalogue of upstream and infrastructure errors. `upstreamErrors` gives the meaning of each code for the client; the renderer of a role writes
 * the response.
 */
export const upstreamErrors = {
	provider_unreachable: {
		status: 502,
		title: 'The provider is unreachable',
		remedy: 'Retry later. Operators: the cause is in the log line of the request.',
	},
	provider_key_unset: {
		status: 502,
		title: 'The provider has no `api_key` or no `base_url`',
		remedy: 'Operators: set `providers.NAME.api_key`, and `base_url` for Azure. A retry does not help.',
	},
	provider_disconnected: {
		status: 502,
		title: 'The provider closed the connection before its response was complete',
		remedy: 'Retry. The response is incomplete.',
	},
	provider_response_invalid: {
		status: 502,
		title: 'The provider returned a response in an unexpected format',
		remedy: 'Retry later. Operators: the content type is in the log line of the request.',
	},
	provider_connect_timeout: {
		status: 504,
		title: 'No connection to the provider within `gateway.timeouts.connect_ms`',
		remedy: 'Retry later.',
	},
	provider_first_byte_timeout: {
		status: 504,
		title: 'The provider did not start the stream within `gateway.timeouts.first_byte_ms`',
		remedy: 'Retry later. Operators: raise the limit for models that reason longer before they write.',
	},
	provider_idle_timeout: {
		status: 504,
		title: 'The provider sent nothing for `gateway.timeouts.idle_ms`',
		remedy: 'Retry. The response is incomplete.',
	},
	provider_total_timeout: {
		status: 504,
		title: 'The response was not complete within `gateway.timeouts.total_ms`, or the stream within `stream_total_ms`',
		remedy: 'Request a stream or fewer tokens. Operators: raise the limit.',
	},
	key_set_unavailable: {
		status: 503,
		title: 'The issuer’s key set is not available, so access tokens cannot be verified',
		remedy: 'Retry later; operators: check `auth.jwks_uri`.',
	},
	gateway_unreachable: {
		status: 502,
		title: 'The connection to the gateway process was lost during the response',
		remedy: 'Retry.',
	},
	provider_key_rejected: {
		status: 502,
		title: 'The provider rejected the API key that is configured for it',
		remedy: 'Operators: correct `providers.NAME.api_key`. A retry does not help.',
	},
	provider_model_unknown: {
		status: 502,
		title: 'The provider does not know the model',
		remedy: 'Use a model that the provider serves. A retry does not help.',
	},
	provider_failed: { status: 502, title: 'The provider returned an error', remedy: 'Retry later.' },
	records_unavailable: {
		status: 503,
		title: 'The store of clients, teams and keys is unavailable',
		remedy: 'Retry. Operators: check the disk of `data_dir`, or the server in `stores.records`.',
	},
} as const satisfies Record<string, { status: number; title: string; remedy: string }>;

export type UpstreamErrorCode = keyof typeof upstreamErrors;

export class UpstreamError extends Error {
	override readonly name = 'UpstreamError';
	readonly code: UpstreamErrorCode;

	constructor(code: UpstreamErrorCode, options?: { message?: string; cause?: unknown }) {
		super(options?.message ?? upstreamErrors[code].title, options?.cause === undefined ? undefined : { cause: options.cause });
		this.code = code;
	}

	get status(): number {
		return upstreamErrors[this.code].status;
	}
}
