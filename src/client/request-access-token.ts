import { AccessTokenError } from './access-token-error.ts';
import { describeTokenError, maxTokenResponseBytes, readTokenErrorCode, readTokenResponse, type TokenResponse } from './token-response.ts';

export interface TokenRequest {
	readonly tokenEndpoint: URL;
	readonly clientId: string;
	readonly clientSecret: string;
	readonly scope: string | undefined;
	readonly timeoutSeconds: number;
	readonly fetch: typeof globalThis.fetch;
}

/** Requests one access token (RFC 6749 section 4.4, `client_secret_post`). Follows no redirect. @throws AccessTokenError */
export async function requestAccessToken(request: TokenRequest): Promise<TokenResponse> {
	const { status, text } = await exchange(request);
	if (status !== 200) {
		const code = text === undefined ? undefined : readTokenErrorCode(text);
		throw new AccessTokenError(
			code ?? 'rejected',
			`The token endpoint returned ${describeTokenError(status, code, request.tokenEndpoint)}`,
			status,
		);
	}
	const response = text === undefined ? { problem: `is larger than ${maxTokenResponseBytes} bytes` } : readTokenResponse(text);
	if ('problem' in response) throw new AccessTokenError('invalid_response', `The token endpoint's response ${response.problem}`, status);
	return response;
}

async function exchange(request: TokenRequest): Promise<{ status: number; text: string | undefined }> {
	const form = new URLSearchParams({
		grant_type: 'client_credentials',
		client_id: request.clientId,
		client_secret: request.clientSecret,
	});
	if (request.scope !== undefined) form.set('scope', request.scope);
	const signal = AbortSignal.timeout(request.timeoutSeconds * 1000);
	try {
		const response = await request.fetch(request.tokenEndpoint, {
			method: 'POST',
			headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
			body: form.toString(),
			redirect: 'manual',
			signal,
		});
		return { status: response.status, text: await readText(response) };
	} catch (cause) {
		if (signal.aborted) throw new AccessTokenError('timeout', `The token endpoint did not respond within ${request.timeoutSeconds} s`);
		throw new AccessTokenError('unreachable', `The token endpoint could not be reached${systemCode(cause)}`);
	}
}

/** @returns undefined if the body exceeds `maxTokenResponseBytes`. */
async function readText(response: Response): Promise<string | undefined> {
	if (response.body === null) return '';
	const decoder = new TextDecoder();
	let text = '';
	let byteCount = 0;
	for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
		byteCount += chunk.byteLength;
		if (byteCount > maxTokenResponseBytes) return undefined;
		text += decoder.decode(chunk, { stream: true });
	}
	return text + decoder.decode();
}

/** Returns only the code, such as `ECONNREFUSED`: a message could repeat the request. */
function systemCode(cause: unknown): string {
	const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
	const code = inner instanceof Error && 'code' in inner ? inner.code : undefined;
	return typeof code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(code) ? ` (${code})` : '';
}
