/** The world failed us. `faults` says what each code means to a caller; renderers turn it into bytes. */
export const faults = {
	provider_unreachable: {
		status: 502,
		title: 'The provider could not be reached',
		remedy: 'Retry later; operators see the cause in the log line of the request.',
	},
	provider_key_unset: {
		status: 502,
		title: 'No key is configured for the provider, or no `base_url`',
		remedy: 'Operators: set the provider’s `api_key`, and of Azure `base_url` too. A retry does not help.',
	},
	provider_disconnected: {
		status: 502,
		title: 'The provider ended the connection before its answer was complete',
		remedy: 'Retry; what was received so far is not the whole answer.',
	},
	provider_response_invalid: {
		status: 502,
		title: 'The provider answered with something that is not its own format',
		remedy: 'Retry later; operators see the content type in the log line of the request.',
	},
	provider_connect_timeout: {
		status: 504,
		title: 'No connection to the provider within `gateway.timeouts.connect_ms`',
		remedy: 'Retry later.',
	},
	provider_first_byte_timeout: {
		status: 504,
		title: 'The provider did not start the stream within `gateway.timeouts.first_byte_ms`',
		remedy: 'Retry later. Operators: raise the limit where a model thinks longer before it writes.',
	},
	provider_idle_timeout: {
		status: 504,
		title: 'The provider fell silent for `gateway.timeouts.idle_ms`',
		remedy: 'Retry; what was received so far is not the whole answer.',
	},
	provider_total_timeout: {
		status: 504,
		title: 'The response was not complete within `gateway.timeouts.total_ms`, or the stream within `stream_total_ms`',
		remedy: 'Ask for a stream or for fewer tokens. Operators: raise the limit.',
	},
	key_set_unavailable: {
		status: 503,
		title: 'The issuer’s key set has never been fetched, so no token can be judged',
		remedy: 'Retry later; operators: check `auth.jwks_uri`.',
	},
	gateway_unreachable: {
		status: 502,
		title: 'The gateway process was lost while it answered',
		remedy: 'Retry.',
	},
	provider_key_rejected: {
		status: 502,
		title: 'The provider refused the gateway’s own key',
		remedy: 'Operators: correct the provider’s `api_key`. A retry does not help.',
	},
	provider_model_unknown: {
		status: 502,
		title: 'The provider does not know the model',
		remedy: 'Use a model that the provider serves. A retry does not help.',
	},
	provider_failed: { status: 502, title: 'The provider answered with an error of its own', remedy: 'Retry later.' },
	records_unavailable: {
		status: 503,
		title: 'The store of clients, teams and keys did not answer',
		remedy: 'Retry; operators: look at the disk that holds `data_dir`, or the server that `stores.records` names.',
	},
} as const satisfies Record<string, { status: number; title: string; remedy: string }>;

export type FaultCode = keyof typeof faults;

export class Fault extends Error {
	override readonly name = 'Fault';
	readonly code: FaultCode;

	constructor(code: FaultCode, options?: { message?: string; cause?: unknown }) {
		super(options?.message ?? faults[code].title, options?.cause === undefined ? undefined : { cause: options.cause });
		this.code = code;
	}

	get status(): number {
		return faults[this.code].status;
	}
}
