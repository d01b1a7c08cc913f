/** Error in a vendor's format. `kind` decides the status and vendor-specific names; each wire dialect renders its own shape. */
export type VendorErrorKind =
	| 'invalid'
	| 'key-missing'
	| 'key-invalid'
	| 'version-missing'
	| 'forbidden'
	| 'model-unknown'
	| 'path-unknown'
	| 'method-wrong'
	| 'too-large'
	| 'rate'
	| 'quota'
	| 'server'
	| 'overloaded'
	| 'status';

const statuses: Readonly<Record<Exclude<VendorErrorKind, 'status'>, number>> = {
	invalid: 400,
	'key-missing': 401,
	'key-invalid': 401,
	'version-missing': 400,
	forbidden: 403,
	'model-unknown': 404,
	'path-unknown': 404,
	'method-wrong': 405,
	'too-large': 413,
	rate: 429,
	quota: 429,
	server: 500,
	overloaded: 529,
};

export interface VendorErrorOptions {
	/** Path of the invalid field, in the vendor's own notation. */
	readonly param?: string | null;
	readonly code?: string | null;
	/** HTTP status for kind `status`. */
	readonly status?: number;
	readonly retryAfterSeconds?: number;
	/** Vendor-specific members next to the message. */
	readonly details?: Readonly<Record<string, unknown>>;
}

/** `VendorError` in the form that is sent between threads. */
export interface VendorErrorFields {
	readonly kind: VendorErrorKind;
	readonly message: string;
	readonly options: VendorErrorOptions;
}

export class VendorError extends Error {
	override readonly name = 'VendorError';
	readonly kind: VendorErrorKind;
	readonly status: number;
	readonly param: string | null;
	readonly code: string | null;
	readonly retryAfterSeconds: number | undefined;
	readonly details: Readonly<Record<string, unknown>> | undefined;

	static from({ kind, message, options }: VendorErrorFields): VendorError {
		return new VendorError(kind, message, options);
	}

	constructor(kind: VendorErrorKind, message: string, options: VendorErrorOptions = {}) {
		super(message);
		this.kind = kind;
		this.status = options.status ?? (kind === 'status' ? 500 : statuses[kind]);
		this.param = options.param ?? null;
		this.code = options.code ?? null;
		this.retryAfterSeconds = options.retryAfterSeconds;
		this.details = options.details;
	}

	fields(): VendorErrorFields {
		const { kind, message, status, param, code, retryAfterSeconds, details } = this;
		const options = { status, param, code, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }), ...(details && { details }) };
		return { kind, message, options };
	}
}

/** Creates the error for a fault's status. */
export function errorOfStatus(status: number, isQuota: boolean, model: string, retryAfterSeconds: number | undefined): VendorError {
	const options = { status, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
	switch (status) {
		case 400:
			return new VendorError('invalid', 'The simulator is configured to reject this request.', options);
		case 401:
			return new VendorError('key-invalid', '', options);
		case 403:
			return new VendorError('forbidden', 'The simulator is configured to forbid this request.', options);
		case 404:
			return new VendorError('model-unknown', model, options);
		case 413:
			return new VendorError('too-large', 'Request exceeds the maximum size', options);
		case 429:
			return new VendorError(isQuota ? 'quota' : 'rate', '', { retryAfterSeconds: 1, ...options });
		case 500:
			return new VendorError('server', '', options);
		case 503:
		case 529:
			return new VendorError('overloaded', '', options);
		default:
			return new VendorError('status', `The simulator is configured to return ${status}.`, options);
	}
}
