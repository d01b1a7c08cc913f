import { CommandFailure } from '../command-failure.ts';
import type { AdminApi } from '../environment.ts';
import { requestToken } from '../token/token-request.ts';
import { readTokenSettings } from '../token/token-settings.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const timeoutSeconds = 30;
const defaultScope = 'tollgate/admin';

/**
 * Opens the admin API at an address, with the access token of `TOLLGATE_ADMIN_TOKEN`, or one that is fetched with the token helper's
 * variables.
 * @throws CommandFailure 1 for an invalid address; each request throws CommandFailure when there is no token or no response.
 */
export function openRemoteAdmin(address: string, env: Environment): AdminApi {
	const base = URL.parse(address);
	if (base === null || !/^https?:$/.test(base.protocol) || base.username !== '' || base.password !== '') {
		throw new CommandFailure(1, 'the address of the admin API is not an http or https address without user name and password');
	}
	const origin = `${base.origin}${base.pathname.replace(/\/+$/, '')}`;
	let accessToken: Promise<string> | undefined;
	return {
		name: origin,
		async request({ method, path, headers = {}, body }) {
			accessToken ??= findAccessToken(env);
			const authorization = `Bearer ${await accessToken}`;
			try {
				const response = await fetch(`${origin}${path}`, {
					method,
					redirect: 'manual',
					signal: AbortSignal.timeout(timeoutSeconds * 1000),
					headers: {
						...headers,
						authorization,
						accept: 'application/json',
						...(body !== undefined && { 'content-type': 'application/json' }),
					},
					...(body !== undefined && { body: JSON.stringify(body) }),
				});
				return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() };
			} catch (cause) {
				throw new CommandFailure(2, `${origin} could not be reached: ${reasonOf(cause)}`);
			}
		},
		close: () => Promise.resolve(),
	};
}

async function findAccessToken(env: Environment): Promise<string> {
	const given = env['TOLLGATE_ADMIN_TOKEN'];
	if (given) return given;
	if (!env['GATEWAY_CLIENT_ID'] && !env['GATEWAY_CLIENT_SECRET'] && !env['GATEWAY_TOKEN_ENDPOINT']) {
		throw new CommandFailure(
			1,
			'no access token: set TOLLGATE_ADMIN_TOKEN, or GATEWAY_CLIENT_ID, GATEWAY_CLIENT_SECRET and GATEWAY_TOKEN_ENDPOINT',
		);
	}
	const settings = { ...readTokenSettings(env), scope: env['TOLLGATE_ADMIN_SCOPE'] || defaultScope };
	return (await requestToken(settings, timeoutSeconds)).accessToken;
}

function reasonOf(cause: unknown): string {
	if (!(cause instanceof Error)) return String(cause);
	if (cause.name === 'TimeoutError') return `no response within ${timeoutSeconds} s`;
	const { cause: inner } = cause;
	if (!(inner instanceof Error)) return cause.message;
	return 'code' in inner ? String(inner.code) : inner.message;
}
