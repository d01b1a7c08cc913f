/**
 * Why there is no access token: `unreachable` (no connection, or lost), `timeout`, `rejected` (a status other than 200 without a
 * known error code), `invalid_response` (200 without a usable token), or an error code of RFC 6749 section 5.2 such as `invalid_client`.
 */
export type AccessTokenErrorCode = 'unreachable' | 'timeout' | 'rejected' | 'invalid_response' | (string & {});

/** The token endpoint gave no access token. Holds neither the client secret nor text of the answer. */
export class AccessTokenError extends Error {
	override readonly name = 'AccessTokenError';
	readonly code: AccessTokenErrorCode;
	/** The token endpoint's status, when it answered. */
	readonly status: number | undefined;

	constructor(code: AccessTokenErrorCode, message: string, status?: number) {
		super(message);
		this.code = code;
		this.status = status;
	}
}
