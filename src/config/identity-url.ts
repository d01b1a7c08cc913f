import { listenUrl, parseListen } from './listen.ts';
import type { Config } from './schema.ts';

/** URL of the embedded identity, its `iss`: `identity.public_url`, else made from `identity.listen`. No closing slash. */
export function identityUrl(config: Config): string {
	if (config.identity.public_url !== null) return config.identity.public_url.replace(/\/+$/, '');
	const address = parseListen(config.identity.listen);
	return address === undefined ? '' : listenUrl(address);
}

/** The issuer whose tokens are accepted: `auth.issuer`, else the embedded identity. */
export function acceptedIssuer(config: Config): string {
	return config.auth.issuer ?? identityUrl(config);
}
