/**
 * Catalogue of policy rejections. It gives each code its status, its meaning and the next step; the renderer of a role writes the response.
 */
export const rejections = {
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
		title: 'The source IP exceeded its request rate',
		remedy: 'Send fewer requests, then retry. Operators: see `edge.firewall.per_ip`.',
	},
	ip_reputation_listed: {
		status: 403,
		title: 'The source IP is on a reputation blocklist',
		remedy: 'Operators: the metrics name the list. Ask the publisher of the list to remove the address.',
	},
	firewall_rule_matched: {
		status: 403,
		title: 'The request matches a firewall rule',
		remedy: 'Operators: the log names the rule under the request id. Set it to `monitor` or `off` in `edge.firewall.rules`.',
	},
	token_missing: {
		status: 401,
		title: 'The request carries no access token',
		remedy: 'Send `Authorization: Bearer <access token>`.',
	},
	token_invalid: {
		status: 401,
		title: 'The access token is malformed, expired, from another issuer, or its signature is invalid',
		remedy: 'Fetch a new token from the token endpoint.',
	},
	scope_missing: {
		status: 403,
		title: 'The access token does not have the required scope',
		remedy: 'Request a token with the scope in the message: `tollgate/invoke` for inference, `tollgate/admin` for the admin API.',
	},
	no_gateway: { status: 503, title: 'No healthy gateway', remedy: 'Retry after `retry-after`.' },
	overloaded: { status: 503, title: 'The gateway is overloaded', remedy: 'Retry after `retry-after`.' },
	draining: { status: 503, title: 'The process is shutting down', remedy: 'Retry after `retry-after`.' },
	expectation_unknown: {
		status: 417,
		title: 'The `expect` header has an unsupported value',
		remedy: 'Send `expect: 100-continue`, or no `expect` header.',
	},
	client_closed: {
		status: 499,
		title: 'The client disconnected before the response began',
		remedy: 'The status appears in logs only.',
	},
	// Gateway
	path_unknown: { status: 404, title: 'Unknown path', remedy: 'Compare the path with the API reference.' },
	model_unlisted: {
		status: 404,
		title: 'No configured provider serves this model',
		remedy: 'Compare the name with `GET /v1/models`, or write `provider/model`.',
	},
	method_not_allowed: { status: 405, title: 'Method not allowed', remedy: 'Use a method named in `allow`.' },
	body_too_large: {
		status: 413,
		title: 'The request body is too large',
		remedy: 'Send a smaller body. The limit for inference requests is `gateway.max_body_bytes`.',
	},
	body_timeout: { status: 408, title: 'The request body did not arrive in time', remedy: 'Send the body without pauses.' },
	media_type_unsupported: { status: 415, title: 'The body is not `application/json`', remedy: 'Send `content-type: application/json`.' },
	content_encoding_unsupported: {
		status: 415,
		title: 'The `content-encoding` of the body is not `gzip`',
		remedy: 'Compress the body with gzip, or send it without `content-encoding`.',
	},
	body_not_gzip: { status: 400, title: 'The body is not valid gzip', remedy: 'Send one complete gzip file and nothing after it.' },
	body_not_utf8: { status: 400, title: 'The body is not valid UTF-8', remedy: 'Encode the body as UTF-8 without a byte-order mark.' },
	body_not_json: { status: 400, title: 'The body is not JSON', remedy: 'Send one JSON object.' },
	body_too_deep: { status: 400, title: 'The body is nested deeper than 64 levels', remedy: 'Flatten it.' },
	field_missing: { status: 400, title: 'A required field is missing', remedy: 'Add the field named in `param`.' },
	field_invalid: { status: 400, title: 'A field has the wrong type or value', remedy: 'Correct the field named in `param`.' },
	thread_unsupported_request: {
		status: 400,
		title: 'Requests with `thread` (state stored at Anthropic) are not supported',
		remedy: 'Send the complete conversation without `thread`. Anthropic’s SDKs retry this way automatically.',
	},
	provider_not_set: {
		status: 400,
		title: 'The provider header is required and missing',
		remedy: 'Send `x-gateway-provider`, or set `routing.provider_header: optional`.',
	},
	provider_unknown: { status: 400, title: 'No provider of that name is configured', remedy: 'Use one of the names in the message.' },
	client_unregistered: {
		status: 403,
		title: 'The client is in no team, and `teams.unregistered_clients` is `reject`',
		remedy: 'Ask an administrator to add the client to a team.',
	},
	attributes_not_allowed: {
		status: 403,
		title: 'The client may not set attributes',
		remedy: 'Omit `x-gateway-attributes`, or ask an administrator to set `may_set_attributes` for the client.',
	},
	model_not_allowed: {
		status: 403,
		title: 'The team or its tier may not use the model, its provider, or the provider’s region or retention',
		remedy: 'Use a model that `GET /v1/models` lists, or ask an administrator to change the list that the message names.',
	},
	model_unpriced: {
		status: 400,
		title: 'The model has no price and `budgets.unknown_price` is `reject`',
		remedy: 'Use another model, or ask an administrator to set a price for it.',
	},
	response_not_found: {
		status: 404,
		title: 'No stored response, conversation or item of this team has the id',
		remedy: 'Send the whole conversation in `input`. Operators: `responses.state` decides whether providers store responses.',
	},
	rpm_limit_exceeded: {
		status: 429,
		title: 'The team exceeded its requests per minute',
		remedy: 'Retry after `retry-after`: the count resets each UTC minute.',
	},
	daily_token_limit_exceeded: {
		status: 429,
		title: 'The team exceeded its daily tokens, or in-flight requests reserve the rest',
		remedy: 'Retry after `retry-after`. The count resets at UTC midnight; reservations are released within seconds.',
	},
	tpm_limit_exceeded: {
		status: 429,
		title: 'The team exceeded its tokens per minute, or in-flight requests reserve the rest',
		remedy: 'Retry after `retry-after`: the count resets each UTC minute.',
	},
	concurrency_limit_exceeded: {
		status: 429,
		title: 'The team has as many requests in flight as it may have',
		remedy: 'Retry after `retry-after`, when one of them has ended.',
	},
	budget_exceeded: {
		status: 429,
		title: 'A budget of the team is exceeded',
		remedy: 'Wait for the window in the message to end, or ask an administrator for a larger budget.',
	},
	model_budget_exceeded: {
		status: 429,
		title: 'A budget of the team for this model is exceeded',
		remedy: 'Use another model, or ask an administrator for a larger budget.',
	},
	background_limit_exceeded: {
		status: 429,
		title: 'The gateway follows its maximum number of background responses',
		remedy: 'Retry after `retry-after`, or omit `background`. Operators: raise `responses.max_background`.',
	},
	budget_reserved: {
		status: 429,
		title: 'In-flight requests reserve the rest of a budget of the team',
		remedy: 'Retry after `retry-after`: a request releases its reservation when it ends.',
	},
	budgets_unavailable: {
		status: 503,
		title: 'Budgets cannot be checked, and `budgets.store_failure` is `deny`',
		remedy: 'Retry. Operators: check the server in `stores.counters`.',
	},
	provider_busy: {
		status: 503,
		title: 'The concurrency limit of the provider is reached and its queue is full',
		remedy: 'Retry after `retry-after`. Operators: see `providers.NAME.max_concurrent` and `max_queued`.',
	},
	guardrail_blocked: {
		status: 400,
		title: 'A guardrail blocked the request or the response',
		remedy: 'Remove the content that the named policy blocks. A retry of the same request does not help.',
	},
	// Identity (RFC 6749 section 5.2)
	invalid_request: {
		status: 400,
		title: 'The token request is malformed',
		remedy: 'Correct the parameter that `error_description` names.',
	},
	invalid_client: { status: 401, title: 'Unknown client or wrong secret', remedy: 'Check the client id and secret.' },
	invalid_grant: {
		status: 400,
		title: 'The client is not allowed to use this grant',
		remedy: 'Ask an administrator for a client that may use `client_credentials`.',
	},
	unsupported_grant_type: { status: 400, title: 'The grant type is not `client_credentials`', remedy: 'Use `client_credentials`.' },
	invalid_scope: {
		status: 400,
		title: 'The scope is unknown or not granted to the client',
		remedy: 'Request only scopes that the client has.',
	},
	too_many_attempts: {
		status: 429,
		title: 'Too many failed authentications for this client within one minute',
		remedy: 'Retry after `retry-after` with the correct secret.',
	},
	// Admin
	record_unknown: { status: 404, title: 'Record not found', remedy: 'Compare the id with the list.' },
	record_conflict: {
		status: 409,
		title: 'The change conflicts with another record',
		remedy: 'Change the field named in `errors`, or change the other record first.',
	},
	record_read_only: {
		status: 409,
		title: 'The record is defined in the configuration file and is read-only here',
		remedy: 'Change it in the configuration file.',
	},
	record_stale: {
		status: 412,
		title: 'The record has changed: its `etag` differs from `if-match`',
		remedy: 'Read the record again, then repeat the change.',
	},
	fields_invalid: { status: 422, title: 'One or more fields are invalid', remedy: 'Correct each field named in `errors`.' },
	replay_running: {
		status: 409,
		title: 'Another replay is running',
		remedy: 'Retry when it has ended. A gateway runs one replay at a time.',
	},
	replay_too_large: {
		status: 422,
		title: 'The replay has too many requests, or takes too long',
		remedy: 'Choose a shorter span, or run `tollgate replay` on the host of the stores.',
	},
	idempotency_key_reused: {
		status: 422,
		title: 'The `idempotency-key` was used before with a different body',
		remedy: 'Use a new key for each new request.',
	},
	admin_rate_exceeded: {
		status: 429,
		title: 'The client exceeded its admin requests per minute',
		remedy: 'Retry after `retry-after`.',
	},
} as const satisfies Record<string, { status: number; title: string; remedy: string }>;

export type RejectionCode = keyof typeof rejections;

export interface RejectionOptions {
	/** Message for the client: what happened, where, and the next step. Defaults to the catalogue's title. */
	readonly message?: string;
	/** JSON path of the invalid field, such as `messages[2].content`. */
	readonly param?: string;
	readonly retryAfterSeconds?: number;
	/** Extra members of the body's `error`, for clients that expect a vendor's fields. */
	readonly details?: Readonly<Record<string, unknown>>;
	/** Header fields of this response, such as `allow`. */
	readonly headers?: Readonly<Record<string, string>>;
	readonly cause?: unknown;
}

export class Rejection extends Error {
	override readonly name = 'Rejection';
	readonly code: RejectionCode;
	readonly param: string | undefined;
	readonly retryAfterSeconds: number | undefined;
	readonly details: RejectionOptions['details'];
	readonly headers: Readonly<Record<string, string>>;

	constructor(code: RejectionCode, options: RejectionOptions = {}) {
		super(options.message ?? rejections[code].title, options.cause === undefined ? undefined : { cause: options.cause });
		this.code = code;
		this.param = options.param;
		this.retryAfterSeconds = options.retryAfterSeconds;
		this.details = options.details;
		this.headers = options.headers ?? {};
	}

	get status(): number {
		return rejections[this.code].status;
	}
}
