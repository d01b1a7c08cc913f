import { randomUUID, sign } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import type { SigningKey } from './signing-keys.ts';

export interface AccessTokenSigner {
	/** Signs in the thread pool. */
	issue(clientId: string, scopes: readonly string[]): Promise<IssuedToken>;
}

export interface IssuedToken {
	readonly accessToken: string;
	readonly expiresInSeconds: number;
	/** Id of the token, which may be logged. */
	readonly jti: string;
}

export interface AccessTokenSignerDeps {
	readonly clock: Clock;
	readonly issuer: string;
	readonly audience: string | null;
	readonly accessTokenSeconds: () => number;
	readonly currentKey: () => SigningKey;
}

/** Issues access tokens that conform to RFC 9068, with the additional claims of Cognito's tokens. */
export function createAccessTokenSigner(deps: AccessTokenSignerDeps): AccessTokenSigner {
	return {
		async issue(clientId, scopes) {
			const nowMs = deps.clock.nowMs();
			const key = deps.currentKey();
			const nowSeconds = Math.floor(nowMs / 1000);
			const expiresInSeconds = Math.min(deps.accessTokenSeconds(), remainingSeconds(key, nowMs));
			const jti = randomUUID();
			const header = { alg: 'RS256', typ: 'at+jwt', kid: key.kid };
			const claims = {
				iss: deps.issuer,
				sub: clientId,
				...(deps.audience === null ? {} : { aud: deps.audience }),
				client_id: clientId,
				scope: scopes.join(' '),
				iat: nowSeconds,
				nbf: nowSeconds,
				exp: nowSeconds + expiresInSeconds,
				jti,
				token_use: 'access',
			};
			const signed = `${encode(header)}.${encode(claims)}`;
			return { accessToken: `${signed}.${await signWith(key, signed)}`, expiresInSeconds, jti };
		},
	};
}

/** Limits the lifetime to that of the key, in case the configured lifetime was raised after the key's end was set. */
function remainingSeconds({ retiredAtMs }: SigningKey, nowMs: number): number {
	return retiredAtMs === null ? Infinity : Math.max(1, Math.floor((retiredAtMs - nowMs) / 1000));
}

function encode(part: object): string {
	return Buffer.from(JSON.stringify(part)).toString('base64url');
}

function signWith({ privateKey }: SigningKey, text: string): Promise<string> {
	return new Promise((resolve, reject) => {
		sign('sha256', Buffer.from(text), privateKey, (failure, signature) => {
			if (failure === null) resolve(signature.toString('base64url'));
			else reject(failure);
		});
	});
}
