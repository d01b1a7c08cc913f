/** Parsed response of a token endpoint (RFC 6749 sections 5.1 and 5.2). Its text is never repeated. */

export interface TokenResponse {
	readonly accessToken: string;
	/** Null if the response does not contain it. */
	readonly expiresInSeconds: number | null;
}

/** Maximum size of a response; larger ones are rejected without parsing. */
export const maxTokenResponseBytes = 1_048_576;

/** Error codes of RFC 6749, with their usual cause. */
const errorHints: Readonly<Record<string, string>> = {
	invalid_request: 'the token endpoint rejected the request as malformed',
	invalid_client: 'wrong client id or secret',
	invalid_grant: 'wrong endpoint, wrong credentials, or a client without permission for client_credentials',
	unauthorized_client: 'the client has no permission for client_credentials',
	unsupported_grant_type: 'the endpoint does not support client_credentials',
	invalid_scope:
		'the client does not have the requested scope; Tollgate grants tollgate/invoke by default and tollgate/admin only if requested',
	server_error: 'internal error of the issuer',
	temporarily_unavailable: 'the issuer is overloaded',
};

/** @returns the problem as the end of a sentence if the text holds no usable access token. */
export function readTokenResponse(text: string): TokenResponse | { readonly problem: string } {
	const members = parseObject(text);
	if (members === undefined) return { problem: 'is not a JSON object' };
	const accessToken = members['access_token'];
	if (accessToken === undefined || accessToken === null) return { problem: 'has no access_token' };
	if (typeof accessToken !== 'string') return { problem: 'has an access_token that is not a string' };
	if (!isUsableAccessToken(accessToken)) return { problem: 'has an access_token that is empty or not a valid header value' };
	const expiresIn = members['expires_in'];
	const hasExpiry = typeof expiresIn === 'number' && Number.isFinite(expiresIn) && expiresIn > 0;
	return { accessToken, expiresInSeconds: hasExpiry ? expiresIn : null };
}

/** Accepts visible ASCII only: no character that could end a line of output or a header. */
export function isUsableAccessToken(text: string): boolean {
	return /^[\x21-\x7e]+$/.test(text);
}

/** @returns the code if RFC 6749 defines it; any other text could repeat the request. */
export function readTokenErrorCode(text: string): string | undefined {
	const code = parseObject(text)?.['error'];
	return typeof code === 'string' && Object.hasOwn(errorHints, code) ? code : undefined;
}

/** Statuses of other addresses on the same machine, including the gateway's. A token endpoint never returns them without a code. */
const statusesOfOtherAddresses: ReadonlySet<number> = new Set([401, 404, 405]);

/** Formats `HTTP 401, invalid_client: wrong client id or secret`, or a hint if the address is no token endpoint. */
export function describeTokenError(status: number, code: string | undefined, endpoint: URL): string {
	if (code !== undefined) return `HTTP ${status}, ${code}: ${errorHints[code]}`;
	if (!statusesOfOtherAddresses.has(status)) return `HTTP ${status}`;
	const where = `${endpoint.origin}${endpoint.pathname}`;
	return `HTTP ${status} at ${where}: is this the token endpoint? Tollgate's is /oauth2/token of the identity, on port 8789 unless set`;
}

function parseObject(text: string): Record<string, unknown> | undefined {
	try {
		const value: unknown = JSON.parse(text);
		return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
	} catch {
		return undefined;
	}
}
