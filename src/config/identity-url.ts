import { listenUrl, parseListen } from './listen.ts';
import type { Config } from './schema.ts';

/** URL of the embedded identity provider, its `iss`: `identity.public_url`, or one derived from `identity.listen`. No trailing slash. */
export function identityUrl(config: Config): string {
	if (config.identity.public_url !== null) return config.identity.public_url.replace(/\/+$/, '');
	const address = parseListen(config.identity.listen);
	return address === undefined ? '' : listenUrl(address);
}

/** Issuer whose tokens are accepted: `auth.issuer`, or by default the embedded identity provider. */
export function acceptedIssuer(config: Config): string {
	return config.auth.issuer ?? identityUrl(config);
}
