import type { AddressInfo } from 'node:net';
import { type AccessTokenSource, createAccessTokenSource } from '../../client/access-token-source.ts';
import { type ListenAddress, listenUrl } from '../../config/listen.ts';
import { withBrackets } from '../../core/url-host.ts';
import { CommandFailure } from '../command-failure.ts';
import type { CliEnvironment } from '../environment.ts';
import { isSecretExposed, readTokenSettings } from '../token/token-settings.ts';
import { isLoopbackHost } from './foreign-request.ts';
import { createProxyServer } from './proxy-server.ts';

export interface ProxyOptions {
	readonly listen: ListenAddress;
	readonly gateway: URL;
	/** Host names, in lower case, under which clients may reach the proxy besides loopback names. */
	readonly allowedHosts: readonly string[];
	/** Time limit of a token request. */
	readonly timeoutSeconds: number;
}

/** Time for in-flight requests to finish after the stop signal. */
const drainMs = 10_000;

/**
 * Serves until the stop signal.
 * @returns the exit code. @throws CommandFailure
 */
export async function runProxy(options: ProxyOptions, environment: CliEnvironment): Promise<number> {
	const { stdout, stderr, operations } = environment;
	const warn = (text: string): void => void stderr.write(`tollgate proxy: ${text}\n`).catch(() => undefined);
	const settings = readTokenSettings(environment.env);
	const tokens = createAccessTokenSource({
		tokenEndpoint: settings.endpoint,
		clientId: settings.clientId,
		clientSecret: settings.clientSecret,
		scope: settings.scope,
		timeoutSeconds: options.timeoutSeconds,
	});
	if (isSecretExposed(settings.endpoint)) warn('warning: GATEWAY_TOKEN_ENDPOINT is plain http: the client secret is sent unencrypted');
	if (isSecretExposed(options.gateway)) warn('warning: the gateway is plain http: access tokens and prompts are sent unencrypted');
	const isLoopbackOnly = isLoopbackHost(withBrackets(options.listen.host));
	if (!isLoopbackOnly) {
		warn(
			`warning: ${options.listen.host} is not a loopback address: everyone who reaches it sends requests as client ${settings.clientId}`,
		);
	}
	const server = createProxyServer({
		gateway: options.gateway,
		tokens,
		trustedHosts: { isLoopbackOnly, names: options.allowedHosts },
		warn,
	});
	const url = await listen(server, options.listen);
	const stopped = operations.untilStopSignal();
	await stdout.write(
		[
			`tollgate proxy: ${url} forwards to ${options.gateway.href}`,
			`  OpenAI base URL     ${url}/v1`,
			`  Anthropic base URL  ${url}`,
			'  API key             any text',
			'',
		].join('\n'),
	);
	await checkAccessToken(tokens, warn);
	await stopped;
	await stop(server);
	return 0;
}

function listen(server: ReturnType<typeof createProxyServer>, { host, port }: ListenAddress): Promise<string> {
	return new Promise((resolve, fail) => {
		server.once('error', (error) => fail(new CommandFailure(2, `${host}:${port} cannot be used: ${error.message}`)));
		server.listen(port, host, () => resolve(listenUrl({ host, port: (server.address() as AddressInfo).port })));
	});
}

/** Reports wrong credentials before the first request. An issuer that is down is no reason to stop. */
async function checkAccessToken(tokens: AccessTokenSource, warn: (text: string) => void): Promise<void> {
	try {
		await tokens.accessToken();
	} catch (cause) {
		warn(`warning: no access token yet: ${cause instanceof Error ? cause.message : String(cause)}`);
	}
}

async function stop(server: ReturnType<typeof createProxyServer>): Promise<void> {
	const closed = new Promise<void>((resolve) => server.close(() => resolve()));
	const timer = setTimeout(() => server.closeAllConnections(), drainMs);
	await closed;
	clearTimeout(timer);
}
