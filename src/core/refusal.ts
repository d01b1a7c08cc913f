/**
 * We decline on purpose. One catalogue gives each code its status, its meaning and what to do;
 * bytes are made from it by the role's renderer.
 */
export const refusals = {
	// Edge
	http_malformed: {
		status: 400,
		title: 'The request is malformed or ambiguous HTTP',
		remedy: 'Send one unambiguous HTTP/1.1 request; the connection is closed.',
	},
	http_version_unsupported: { status: 505, title: 'The HTTP version is neither 1.0 nor 1.1', remedy: 'Use HTTP/1.1.' },
	headers_too_large: { status: 431, title: 'The request’s header fields are too large', remedy: 'Send fewer or shorter header fields.' },
	ip_rate_exceeded: {
		status: 403,
		title: 'Too many requests from this address in five minutes',
		remedy: 'Slow down and try again after a while.',
	},
	ip_reputation_listed: {
		status: 403,
		title: 'The address is on a list of addresses with a bad name',
		remedy: 'Operators see which list in the metrics; the owner of the address can ask the list’s publisher to take it off.',
	},
	firewall_rule_matched: {
		status: 403,
		title: 'The request matches a rule of the firewall',
		remedy: 'Operators find the rule in the log under the request id, and may set it to `count` or `off`.',
	},
	token_missing: {
		status: 401,
		title: 'The request carries no access token',
		remedy: 'Send `Authorization: Bearer <access token>`.',
	},
	token_invalid: {
		status: 401,
		title: 'The access token is malformed, badly signed, expired or from another issuer',
		remedy: 'Fetch a new token from the token endpoint.',
	},
	scope_missing: {
		status: 403,
		title: 'The access token lacks the scope for this address',
		remedy: 'Ask for a token with the `invoke` scope (inference) or the `admin` scope (admin API).',
	},
	no_gateway: { status: 503, title: 'No healthy gateway', remedy: 'Retry after the given time.' },
	overloaded: { status: 503, title: 'Too much is in flight', remedy: 'Retry after the given time.' },
	draining: { status: 503, title: 'The process is shutting down', remedy: 'Retry after the given time.' },
	expectation_unknown: {
		status: 417,
		title: 'The `expect` header asks for something unknown',
		remedy: 'Send `expect: 100-continue` or none.',
	},
	client_closed: {
		status: 499,
		title: 'The client left before its request was complete or its answer had begun',
		remedy: 'Nobody is left to read an answer; the status appears in logs only.',
	},
	// Gateway
	path_unknown: { status: 404, title: 'No such address', remedy: 'Compare the path with the API reference.' },
	model_unlisted: {
		status: 404,
		title: 'No provider is known to serve a model of that name',
		remedy: 'Compare the name with `GET /v1/models`, or write `provider/model`.',
	},
	method_not_allowed: { status: 405, title: 'The address does not take this method', remedy: 'Use a method named in `allow`.' },
	body_too_large: {
		status: 413,
		title: 'The request body is too large',
		remedy: 'Send a smaller body; of calls `gateway.max_body_bytes` is the limit.',
	},
	body_timeout: { status: 408, title: 'The request body did not arrive in time', remedy: 'Send the body without pauses.' },
	media_type_unsupported: { status: 415, title: 'The body is not `application/json`', remedy: 'Send `content-type: application/json`.' },
	content_encoding_unsupported: {
		status: 415,
		title: 'The `content-encoding` of the body is not `gzip`',
		remedy: 'Compress the body with gzip, or send it without `content-encoding`.',
	},
	body_not_gzip: { status: 400, title: 'The body is not valid gzip', remedy: 'Send the whole gzip file and nothing after it.' },
	body_not_utf8: { status: 400, title: 'The body is not valid UTF-8', remedy: 'Encode the body as UTF-8 without a byte-order mark.' },
	body_not_json: { status: 400, title: 'The body is not JSON', remedy: 'Send one JSON object.' },
	body_too_deep: { status: 400, title: 'The body is nested deeper than 64 levels', remedy: 'Flatten it.' },
	field_missing: { status: 400, title: 'A required field is missing', remedy: 'Add the field named in `param`.' },
	field_invalid: { status: 400, title: 'A field has the wrong type or value', remedy: 'Correct the field named in `param`.' },
	thread_unsupported_request: {
		status: 400,
		title: 'The request continues a thread that is stored at Anthropic, which is not possible here',
		remedy: 'Send the whole conversation without `thread`; Anthropic’s SDKs do so by themselves.',
	},
	provider_not_set: {
		status: 400,
		title: 'The provider header is required and missing',
		remedy: 'Send `x-gateway-provider`, or set `routing.provider_header: optional`.',
	},
	provider_unknown: { status: 400, title: 'No provider of that name is configured', remedy: 'Use one of the names in the message.' },
	client_unregistered: {
		status: 403,
		title: 'The client belongs to no team and `teams.unregistered_clients` is `reject`',
		remedy: 'Ask an administrator to add the client to a team.',
	},
	model_unpriced: {
		status: 400,
		title: 'The model has no price and `budgets.unknown_price` is `reject`',
		remedy: 'Use another model, or ask an administrator to set a price for it.',
	},
	rpm_limit_exceeded: {
		status: 429,
		title: 'The team has made its requests of this minute',
		remedy: 'Retry after the given time: the count starts anew with each UTC minute.',
	},
	daily_token_limit_exceeded: {
		status: 429,
		title: 'The team’s tokens of this day are used, or reserved by requests in flight',
		remedy: 'Retry after the given time: the count starts again at UTC midnight, and reserved tokens are released within seconds.',
	},
	budget_exceeded: {
		status: 429,
		title: 'The team’s monthly budget does not allow the call',
		remedy: 'Wait for the next UTC month, or ask an administrator for a larger budget.',
	},
	model_budget_exceeded: {
		status: 429,
		title: 'The team’s monthly budget of this model does not allow the call',
		remedy: 'Use another model, or ask an administrator for a larger budget.',
	},
	budget_reserved: {
		status: 429,
		title: 'Requests in flight reserve what is left of the team’s monthly budget',
		remedy: 'Retry after the given time: a request releases its reservation when it ends.',
	},
	budgets_unavailable: {
		status: 503,
		title: 'Budgets cannot be checked, and `budgets.store_failure` is `deny`',
		remedy: 'Retry; operators: look at the server that `stores.counters` names.',
	},
	provider_busy: {
		status: 503,
		title: 'Too many calls to the provider are in flight, and too many wait',
		remedy: 'Retry after the given time; operators: see `providers.NAME.max_concurrent`.',
	},
	guardrail_blocked: {
		status: 400,
		title: 'A guardrail blocked the request or its answer',
		remedy: 'Change what the policy named in the message objects to; a retry of the same does not help.',
	},
	// Identity (RFC 6749 section 5.2)
	invalid_request: { status: 400, title: 'The token request is malformed', remedy: 'Correct what the description names.' },
	invalid_client: { status: 401, title: 'Unknown client or wrong secret', remedy: 'Check the client id and secret.' },
	invalid_grant: {
		status: 400,
		title: 'The client may not use this grant',
		remedy: 'Ask an administrator for a client that may use `client_credentials`.',
	},
	unsupported_grant_type: { status: 400, title: 'The grant type is not `client_credentials`', remedy: 'Use `client_credentials`.' },
	invalid_scope: { status: 400, title: 'The scope is unknown or not granted to the client', remedy: 'Ask for scopes that the client has.' },
	too_many_attempts: {
		status: 429,
		title: 'Too many wrong secrets for this client in a minute',
		remedy: 'Wait for the time in `retry-after`, then use the right secret.',
	},
	// Admin
	record_unknown: { status: 404, title: 'No such record', remedy: 'Compare the id with the list.' },
	record_conflict: {
		status: 409,
		title: 'Another record stands in the way',
		remedy: 'Change the field named in `errors`, or change the other record first.',
	},
	record_read_only: { status: 409, title: 'The record is part of the configuration', remedy: 'Change it in the configuration file.' },
	record_stale: {
		status: 412,
		title: 'The record is not in the state that `if-match` names',
		remedy: 'Read it again, then repeat the change.',
	},
	fields_invalid: { status: 422, title: 'Fields of the request are wrong', remedy: 'Correct each field named in `errors`.' },
	idempotency_key_reused: {
		status: 422,
		title: 'The `idempotency-key` was sent before with another body',
		remedy: 'Send a new key with each new request.',
	},
	admin_rate_exceeded: {
		status: 429,
		title: 'The client has made its admin requests of this minute',
		remedy: 'Retry after the given time.',
	},
} as const satisfies Record<string, { status: number; title: string; remedy: string }>;

export type RefusalCode = keyof typeof refusals;

export interface RefusalOptions {
	/** For the caller: what happened, where, what to do. Defaults to the catalogue's title. */
	readonly message?: string;
	/** JSON path of the field at fault, such as `messages[2].content`. */
	readonly param?: string;
	readonly retryAfterSeconds?: number;
	/** Of the body's `error`, for programs that look for a vendor's own. */
	readonly details?: Readonly<Record<string, unknown>>;
	/** Header fields that belong to this refusal, such as `allow`. */
	readonly headers?: Readonly<Record<string, string>>;
	readonly cause?: unknown;
}

export class Refusal extends Error {
	override readonly name = 'Refusal';
	readonly code: RefusalCode;
	readonly param: string | undefined;
	readonly retryAfterSeconds: number | undefined;
	readonly details: RefusalOptions['details'];
	readonly headers: Readonly<Record<string, string>>;

	constructor(code: RefusalCode, options: RefusalOptions = {}) {
		super(options.message ?? refusals[code].title, options.cause === undefined ? undefined : { cause: options.cause });
		this.code = code;
		this.param = options.param;
		this.retryAfterSeconds = options.retryAfterSeconds;
		this.details = options.details;
		this.headers = options.headers ?? {};
	}

	get status(): number {
		return refusals[this.code].status;
	}
}
