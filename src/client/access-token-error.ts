/**
 * Reason for a missing access token.
 * `unreachable`: no connection, or a lost one. `timeout`. `rejected`: a status other than 200 without a known error code.
 * `invalid_response`: 200 without a usable token. Others are error codes of RFC 6749 section 5.2, such as `invalid_client`.
 */
export type AccessTokenErrorCode = 'unreachable' | 'timeout' | 'rejected' | 'invalid_response' | (string & {});

/** Thrown if the token endpoint issued no access token. Contains neither the client secret nor text of the response. */
export class AccessTokenError extends Error {
	override readonly name = 'AccessTokenError';
	readonly code: AccessTokenErrorCode;
	/** HTTP status of the token endpoint, if it responded. */
	readonly status: number | undefined;

	constructor(code: AccessTokenErrorCode, message: string, status?: number) {
		super(message);
		this.code = code;
		this.status = status;
	}
}
