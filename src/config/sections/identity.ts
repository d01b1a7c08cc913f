import { z } from 'zod';
import { maxScopes } from '../../core/scope-names.ts';
import { clientId, count, integer, listen, nonEmpty, restart, scopeName, secret, secretText, teamId, webAddress } from '../values.ts';

export const admin = z.strictObject({
	listen: listen.default('127.0.0.1:8788').meta(restart('Address of the admin API.')),
	metrics: z
		.enum(['open', 'admin_scope'])
		.default('open')
		.meta(restart('Access to `GET /metrics` on the admin address: everyone, or only clients with the scope `admin:read`.')),
	max_requests_per_minute: integer(1, 1_000_000).default(30_000).describe('Maximum admin API requests per client and minute.'),
	max_unauthenticated_per_minute: integer(1, 1_000_000)
		.default(600)
		.describe('Maximum admin API requests without a valid access token per source address and minute.'),
});

export const simulator = z.strictObject({
	listen: listen.default('127.0.0.1:8790').meta(restart('Address of the fake providers for trials and tests.')),
});

const client = z
	.strictObject({
		id: clientId.describe('The `client_id`.'),
		name: nonEmpty.max(200).nullable().default(null).describe('Display name; null: the id.'),
		secret: secretText.max(512).nullable().default(null).meta(secret('The `client_secret` as plain text.')),
		secret_file: nonEmpty.optional().describe('File with the secret.'),
		secret_hash: z
			.string()
			.regex(/^scrypt\$\d+\$\d+\$\d+\$[A-Za-z0-9_-]+\$[A-Za-z0-9_-]+$/, 'must be scrypt$N$r$p$salt$hash with salt and hash in base64url')
			.nullable()
			.default(null)
			.meta(secret('Hash of the secret, `scrypt$N$r$p$salt$hash`, instead of the secret.')),
		scopes: z
			.array(scopeName)
			.max(maxScopes)
			.default(['invoke'])
			.describe(
				'Scopes of the client without the scope base: `invoke`, `admin`, `admin:read`, `admin:write`, `admin:secrets`, `admin:team:ID`. A client without scopes cannot get tokens.',
			),
		team: teamId
			.nullable()
			.default(null)
			.describe('Team of the client. A team outside `teams.registered` has the tier of unregistered clients. Null: set by `teams`.'),
		may_set_attributes: z.boolean().default(false).describe('True: requests of the client may carry `x-gateway-attributes`.'),
	})
	.refine((value) => (value.secret === null) !== (value.secret_hash === null), 'needs exactly one of secret, secret_file and secret_hash');

export const identity = z.strictObject({
	listen: listen.default('127.0.0.1:8789').meta(restart('Address of the token endpoint and the key set.')),
	public_url: webAddress
		.nullable()
		.default(null)
		.meta(restart('Public URL of the embedded identity provider, used as `iss`; null: derived from `listen`.')),
	encryption_key: z
		.string()
		.max(65_536)
		.regex(
			/^\s*(?:[0-9A-Fa-f]{64}|[A-Za-z0-9+/_-]{43}=?)(?:[\s,]+(?:[0-9A-Fa-f]{64}|[A-Za-z0-9+/_-]{43}=?))*[\s,]*$/,
			'must be 32 bytes in base64 or hex, as `openssl rand -base64 32` prints; several with blanks or lines between them',
		)
		.nullable()
		.default(null)
		.meta(
			secret(
				'Encryption key for signing keys at rest, 32 bytes in base64 or hex, the same in every process. With several keys, the first encrypts and all decrypt. Null: SQLite generates a key in `data_dir`; PostgreSQL stores signing keys unencrypted.',
			),
		),
	encryption_key_file: nonEmpty.optional().describe('File with the encryption key, or several, one per line.'),
	access_token_seconds: integer(60, 86_400).default(3600).describe('Lifetime of an access token.'),
	key_rotation_days: integer(1, 3650)
		.default(30)
		.describe('Age at which the signing key is replaced; the old one is published until its last token has expired.'),
	max_attempts_per_minute: count
		.default(100)
		.describe('Failed authentications per client, address and minute before 429; ten times as many from all addresses together.'),
	clients: z.array(client).max(10_000).default([]).describe('Clients created at start, in addition to those of `tollgate client create`.'),
});
