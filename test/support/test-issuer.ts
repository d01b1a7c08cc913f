/** Issuer on loopback that signs any claims, counts requests for its keys, and fails in every known way. */
import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SigningKey {
	readonly keyId: string;
	readonly algorithm: 'RS256' | 'ES256' | 'EdDSA';
	readonly privateKey: KeyObject;
	readonly publicKey: KeyObject;
	/** Public half as published, with `kid`, `alg` and `use`. */
	readonly jwk: Jwk;
}

export type Jwk = Readonly<Record<string, unknown>>;

/** Responses of the key set URL other than the published keys. */
export type KeySetFault =
	| 'hang'
	| 'drop'
	| 'status_500'
	| 'html'
	| 'redirect'
	| 'invalid_json'
	| 'no_keys_member'
	| 'too_large'
	| 'eleven_keys';

const keyMakers = {
	RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
	ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
	EdDSA: () => generateKeyPairSync('ed25519'),
};

export function makeSigningKey(keyId: string, algorithm: SigningKey['algorithm'] = 'RS256'): SigningKey {
	const { privateKey, publicKey } = keyMakers[algorithm]();
	return {
		keyId,
		algorithm,
		privateKey,
		publicKey,
		jwk: { ...publicKey.export({ format: 'jwk' }), kid: keyId, alg: algorithm, use: 'sig' },
	};
}

/** Signature function: from bytes to bytes. */
export type Sign = (signed: Buffer) => Buffer;

export function signWith({ algorithm, privateKey }: SigningKey): Sign {
	if (algorithm === 'EdDSA') return (signed) => sign(null, signed, privateKey);
	return (signed) => sign('sha256', signed, algorithm === 'ES256' ? { key: privateKey, dsaEncoding: 'ieee-p1363' } : privateKey);
}

export function signHmac(hash: 'sha256' | 'sha384' | 'sha512', secret: Buffer | string): Sign {
	return (signed) => createHmac(hash, secret).update(signed).digest();
}

/** Builds a signed token from three parts: texts and bytes unchanged, objects as JSON. */
export function compactToken(header: Buffer | string | object, payload: Buffer | string | object, signature: Sign): string {
	const signed = `${encodePart(header)}.${encodePart(payload)}`;
	return `${signed}.${signature(Buffer.from(signed)).toString('base64url')}`;
}

export function encodePart(part: Buffer | string | object): string {
	if (Buffer.isBuffer(part)) return part.toString('base64url');
	return Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url');
}

export interface TestIssuerOptions {
	/** Unix seconds; the machine's clock by default. */
	readonly nowSeconds?: () => number;
	readonly scopeBase?: string;
	readonly clientId?: string;
	readonly audience?: string;
}

export class TestIssuer {
	/** Default signing key. Replace it, and `published`, to rotate. */
	key = makeSigningKey('test-rsa-1');
	published: Jwk[] = [this.key.jwk];
	fault: KeySetFault | undefined;
	keySetRequests = 0;
	/** Number of requests to `attackerUrl`, which must stay 0. */
	attackerRequests = 0;
	readonly scopeBase: string;
	/** Scope of its tokens, without the base. */
	scopeName = 'invoke';
	readonly clientId: string;
	readonly audience: string;
	readonly nowSeconds: () => number;
	readonly #server: Server;

	private constructor(options: TestIssuerOptions) {
		this.nowSeconds = options.nowSeconds ?? (() => Math.floor(Date.now() / 1000));
		this.scopeBase = options.scopeBase ?? 'tollgate';
		this.clientId = options.clientId ?? 'agent';
		this.audience = options.audience ?? 'test-audience';
		this.#server = createServer((request, response) => this.#response(request, response));
	}

	static async start(options: TestIssuerOptions = {}): Promise<TestIssuer> {
		const issuer = new TestIssuer(options);
		await new Promise<void>((resolve) => issuer.#server.listen(0, '127.0.0.1', resolve));
		return issuer;
	}

	async stop(): Promise<void> {
		this.#server.closeAllConnections();
		await new Promise((resolve) => this.#server.close(resolve));
	}

	get issuer(): string {
		return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
	}

	get jwksUri(): string {
		return `${this.issuer}/jwks`;
	}

	get attackerUrl(): string {
		return `${this.issuer}/attacker`;
	}

	/** Claims of a valid token. */
	claims(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
		const now = this.nowSeconds();
		return {
			iss: this.issuer,
			sub: this.clientId,
			client_id: this.clientId,
			aud: this.audience,
			scope: `${this.scopeBase}/${this.scopeName}`,
			token_use: 'access',
			iat: now,
			nbf: now,
			exp: now + 3600,
			jti: `jti-${++jtiCount}`,
			...changes,
		};
	}

	/** Header of a valid token; undefined members are omitted. */
	header(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
		return { alg: this.key.algorithm, typ: 'at+jwt', kid: this.key.keyId, ...changes };
	}

	accessToken(claims: Readonly<Record<string, unknown>> = {}, header: Readonly<Record<string, unknown>> = {}, key = this.key): string {
		return compactToken(this.header({ kid: key.keyId, alg: key.algorithm, ...header }), this.claims(claims), signWith(key));
	}

	#response({ url }: IncomingMessage, response: ServerResponse): void {
		if (url === '/.well-known/openid-configuration') {
			response.setHeader('content-type', 'application/json').end(JSON.stringify({ issuer: this.issuer, jwks_uri: this.jwksUri }));
		} else if (url === '/jwks') {
			this.keySetRequests++;
			this.#serveKeySet(response);
		} else {
			this.attackerRequests++;
			response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: this.published }));
		}
	}

	#serveKeySet(response: ServerResponse): void {
		const json = (keys: unknown): void => void response.setHeader('content-type', 'application/json').end(JSON.stringify(keys));
		switch (this.fault) {
			case undefined:
				return json({ keys: this.published });
			case 'hang':
				return;
			case 'drop':
				return void response.destroy();
			case 'status_500':
				return void response.writeHead(500, { 'content-type': 'application/json' }).end('{"error":"broken"}');
			case 'html':
				return void response.setHeader('content-type', 'text/html').end('<!doctype html><title>Sign in</title>');
			case 'redirect':
				return void response.writeHead(302, { location: this.attackerUrl }).end();
			case 'invalid_json':
				return void response.setHeader('content-type', 'application/json').end('{"keys": [');
			case 'no_keys_member':
				return json(this.published);
			case 'too_large':
				return json({ keys: this.published, padding: 'x'.repeat(151 * 1024) });
			case 'eleven_keys':
				return json({ keys: Array.from({ length: 11 }, (_, index) => ({ ...this.published[0], kid: `key-${index}` })) });
		}
	}
}

let jtiCount = 0;
