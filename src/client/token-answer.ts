/** What a token endpoint's answer says (RFC 6749 sections 5.1 and 5.2), judged without ever repeating its text. */

export interface TokenAnswer {
	readonly accessToken: string;
	/** Null when the answer does not say. */
	readonly expiresInSeconds: number | null;
}

/** Larger answers are refused unread. */
export const maxTokenAnswerBytes = 1_048_576;

/** Error codes of RFC 6749, with what usually causes them. */
const errorHints: Readonly<Record<string, string>> = {
	invalid_request: 'the token endpoint rejected the request as malformed',
	invalid_client: 'wrong client id or secret',
	invalid_grant: 'wrong endpoint, wrong credentials, or a client without permission for client_credentials',
	unauthorized_client: 'the client has no permission for client_credentials',
	unsupported_grant_type: 'the endpoint does not support client_credentials',
	invalid_scope: 'the scope is not configured on the client',
	server_error: 'internal error of the issuer',
	temporarily_unavailable: 'the issuer is overloaded',
};

/** @returns what is wrong, as the end of a sentence, when the text holds no usable access token. */
export function readTokenAnswer(text: string): TokenAnswer | { readonly problem: string } {
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

/** Visible ASCII only: nothing that could end a line of output or of a header. */
export function isUsableAccessToken(text: string): boolean {
	return /^[\x21-\x7e]+$/.test(text);
}

/** @returns the code when it is one that RFC 6749 defines; any other text could repeat what we sent. */
export function readTokenErrorCode(text: string): string | undefined {
	const code = parseObject(text)?.['error'];
	return typeof code === 'string' && Object.hasOwn(errorHints, code) ? code : undefined;
}

/** What another address of the same machine answers, the gateway's own too: no token endpoint answers so without a code. */
const statusesOfOtherAddresses: ReadonlySet<number> = new Set([401, 404, 405]);

/** `HTTP 401, invalid_client: wrong client id or secret`, or what the address may be instead of a token endpoint. */
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
