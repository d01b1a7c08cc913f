import { CommandFailure } from '../command-failure.ts';

export interface TokenSettings {
	readonly endpoint: URL;
	readonly clientId: string;
	readonly clientSecret: string;
	readonly scope: string | undefined;
}

const required = ['GATEWAY_CLIENT_ID', 'GATEWAY_CLIENT_SECRET', 'GATEWAY_TOKEN_ENDPOINT'] as const;

/**
 * Spec: Client-side token helper. An empty variable counts as missing. Messages never contain a value, because it may be a secret in the
 * wrong variable.
 * @throws CommandFailure 1; 2 for an endpoint that no request can be sent to.
 */
export function readTokenSettings(env: Readonly<Record<string, string | undefined>>): TokenSettings {
	const [clientId, clientSecret, address] = required.map((name) => env[name]);
	if (!clientId || !clientSecret || !address) {
		const missing = required.filter((name) => !env[name]);
		throw new CommandFailure(1, `missing environment variable${missing.length > 1 ? 's' : ''} ${missing.join(', ')}`);
	}
	const scope = env['GATEWAY_SCOPE'];
	const endpoint = URL.parse(address);
	if (endpoint === null || !/^https?:$/.test(endpoint.protocol) || endpoint.username !== '' || endpoint.password !== '') {
		throw new CommandFailure(2, 'GATEWAY_TOKEN_ENDPOINT is not an http or https address without user name and password');
	}
	return { endpoint, clientId, clientSecret, scope: scope === '' ? undefined : scope };
}

/** Plain http to another machine exposes the client secret to everyone on the network path. */
export function isSecretExposed({ protocol, hostname }: URL): boolean {
	return protocol === 'http:' && !/^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}
