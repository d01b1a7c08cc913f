import { TokenRequestFailure } from '../command-failure.ts';
import type { CliEnvironment } from '../environment.ts';
import type { CachedToken } from './token-cache.ts';
import { isSecretExposed, readTokenSettings, type TokenSettings } from './token-settings.ts';

export interface TokenOptions {
	readonly canCache: boolean;
	/** True if the cached token was rejected: the helper requests a new one and replaces it. */
	readonly shouldRefresh: boolean;
	readonly timeoutSeconds: number;
	/** True for the client of the demo, which may not be running. */
	readonly isDemo?: boolean;
}

type TokenEnvironment = Pick<CliEnvironment, 'stdout' | 'stderr' | 'env'>;

/** Spec: Token caching guidance. */
const refreshAfterMs = 3_000_000;
const minLifeMs = 60_000;

/**
 * The token helper (Spec: Client-side token helper): standard output contains the access token and a newline, or nothing. Never throws.
 * @returns the exit code, 0 to 3.
 */
export async function runToken(options: TokenOptions, environment: TokenEnvironment, nowMs: () => number = Date.now): Promise<number> {
	try {
		const settings = readTokenSettings(environment.env);
		const warn = (text: string): Promise<void> => environment.stderr.write(`tollgate token: ${text}\n`);
		if (isSecretExposed(settings.endpoint)) {
			await warn('warning: GATEWAY_TOKEN_ENDPOINT is plain http: the client secret is sent unencrypted');
		}
		const accessToken = options.canCache
			? await findToken(settings, options, environment, nowMs, warn)
			: (await fetchToken(settings, options, nowMs)).accessToken;
		await environment.stdout.write(`${accessToken}\n`);
		return 0;
	} catch (error) {
		const { describeFailure } = await import('../describe-failure.ts');
		const { exitCode, message } = describeFailure(error);
		const isDemoStopped = options.isDemo === true && error instanceof TokenRequestFailure && error.isOutage;
		const remedy = isDemoStopped ? ': start the demo in this directory with `npm start` or `tollgate start --demo`' : '';
		await environment.stderr.write(`tollgate token: ${message}${remedy}\n`).catch(() => undefined);
		return exitCode;
	}
}

async function findToken(
	settings: TokenSettings,
	options: TokenOptions,
	environment: TokenEnvironment,
	nowMs: () => number,
	warn: (text: string) => Promise<void>,
): Promise<string> {
	const { cacheDirectory, cacheFileName, readCachedToken, writeCachedToken } = await import('./token-cache.ts');
	let directory = '';
	const name = cacheFileName(settings);
	const withoutCache = (error: unknown): Promise<void> =>
		warn(`warning: the token cache is not used: ${error instanceof Error ? error.message : String(error)}`);

	let cached: CachedToken | undefined;
	let isCacheUsable = true;
	try {
		directory = cacheDirectory(environment.env);
		cached = await readCachedToken(directory, name);
		if (options.shouldRefresh) cached = undefined;
	} catch (error) {
		isCacheUsable = false;
		await withoutCache(error);
	}
	if (cached !== undefined && isFresh(cached, nowMs())) return cached.accessToken;
	try {
		const fetched = await fetchToken(settings, options, nowMs);
		if (isCacheUsable) await writeCachedToken(directory, name, fetched).catch(withoutCache);
		return fetched.accessToken;
	} catch (error) {
		// The ten minutes between refresh and expiry bridge an outage of the issuer.
		if (cached === undefined || !(error instanceof TokenRequestFailure) || !error.isOutage || !isAlive(cached, nowMs())) throw error;
		await warn(`warning: ${error.message}; printing the cached token, which is still valid`);
		return cached.accessToken;
	}
}

async function fetchToken(settings: TokenSettings, options: TokenOptions, nowMs: () => number): Promise<CachedToken> {
	const { requestToken } = await import('./token-request.ts');
	const fetchedAtMs = nowMs();
	const { accessToken, expiresInSeconds } = await requestToken(settings, options.timeoutSeconds);
	const expiresAtMs = readExpiryMs(accessToken) ?? (expiresInSeconds === null ? null : fetchedAtMs + expiresInSeconds * 1000);
	return { accessToken, fetchedAtMs, expiresAtMs };
}

/** A fetch time in the future means that the clock was set back, so that the age is unknown. */
function isFresh({ fetchedAtMs, expiresAtMs }: CachedToken, nowMs: number): boolean {
	const ageMs = nowMs - fetchedAtMs;
	return ageMs >= 0 && ageMs < refreshAfterMs && (expiresAtMs === null || expiresAtMs - nowMs > minLifeMs);
}

function isAlive({ fetchedAtMs, expiresAtMs }: CachedToken, nowMs: number): boolean {
	return fetchedAtMs <= nowMs && expiresAtMs !== null && expiresAtMs > nowMs;
}

/** Returns the claim `exp` of a JWT, unverified: it only decides when to request the next token. */
function readExpiryMs(accessToken: string): number | undefined {
	try {
		const claims: unknown = JSON.parse(Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString('utf8'));
		const exp = typeof claims === 'object' && claims !== null && 'exp' in claims ? claims.exp : undefined;
		return typeof exp === 'number' && Number.isFinite(exp) ? exp * 1000 : undefined;
	} catch {
		return undefined;
	}
}
