import type { IncomingMessage, RequestOptions } from 'node:http';
import {
	describeTokenError,
	maxTokenResponseBytes,
	readTokenErrorCode,
	readTokenResponse,
	type TokenResponse,
} from '../../client/token-response.ts';
import { TokenRequestFailure } from '../command-failure.ts';
import type { TokenSettings } from './token-settings.ts';

/**
 * Requests one access token (RFC 6749 section 4.4, `client_secret_post`). Follows no redirect and uses no proxy.
 * @throws TokenRequestFailure
 */
export async function requestToken(settings: TokenSettings, timeoutSeconds: number): Promise<TokenResponse> {
	const { status, text } = await exchange(settings, timeoutSeconds);
	if (status !== 200) {
		const code = text === undefined ? undefined : readTokenErrorCode(text);
		const scope = code !== 'invalid_scope' ? '' : settings.scope === undefined ? ' (GATEWAY_SCOPE is not set)' : ' (GATEWAY_SCOPE is set)';
		const message = `the token endpoint returned ${describeTokenError(status, code, settings.endpoint)}${scope}`;
		throw new TokenRequestFailure(2, message, status >= 500);
	}
	const response = text === undefined ? { problem: `is larger than ${maxTokenResponseBytes} bytes` } : readTokenResponse(text);
	if ('problem' in response) throw new TokenRequestFailure(3, `the token endpoint's response ${response.problem}`, false);
	return response;
}

async function exchange(settings: TokenSettings, timeoutSeconds: number): Promise<{ status: number; text: string | undefined }> {
	const { endpoint, clientId, clientSecret, scope } = settings;
	const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret });
	if (scope !== undefined) form.set('scope', scope);
	const { request } = endpoint.protocol === 'https:' ? await import('node:https') : await import('node:http');
	// A separate agent, because the global one uses a proxy when the environment names one.
	const options: RequestOptions = {
		method: 'POST',
		agent: false,
		headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
	};
	return new Promise((resolve, reject) => {
		const outgoing = request(endpoint, options, (response) => {
			readText(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), fail);
		});
		const timer = setTimeout(() => fail(new Error('timeout')), timeoutSeconds * 1000);
		let isOver = false;
		outgoing
			.on('error', fail)
			.on('close', () => clearTimeout(timer))
			.end(form.toString());
		function fail(cause: Error): void {
			if (isOver) return;
			isOver = true;
			outgoing.destroy();
			const where = `${endpoint.origin}${endpoint.pathname}`;
			const what = cause.message === 'timeout' ? `did not respond within ${timeoutSeconds} s` : `could not be reached${systemCode(cause)}`;
			reject(new TokenRequestFailure(2, `the token endpoint ${where} ${what}`, true));
		}
	});
}

/** @returns undefined when the body exceeds the size limit. */
async function readText(response: IncomingMessage): Promise<string | undefined> {
	const chunks: Buffer[] = [];
	let byteCount = 0;
	for await (const chunk of response as AsyncIterable<Buffer>) {
		byteCount += chunk.length;
		if (byteCount > maxTokenResponseBytes) return undefined;
		chunks.push(chunk);
	}
	return Buffer.concat(chunks).toString('utf8');
}

function systemCode(cause: Error): string {
	return 'code' in cause && typeof cause.code === 'string' ? ` (${cause.code})` : '';
}
