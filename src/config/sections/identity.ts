import { z } from 'zod';
import { clientId, count, integer, listen, nonEmpty, restart, secret, secretText, teamId, webAddress } from '../values.ts';

export const admin = z.strictObject({
	listen: listen.default('127.0.0.1:8788').meta(restart('Address of the admin API and the web console.')),
	metrics: z
		.enum(['open', 'admin_scope'])
		.default('open')
		.meta(restart('Who may read `GET /metrics` on the admin address: anyone who can reach it, or only clients with the admin scope.')),
	max_requests_per_minute: integer(1, 1_000_000)
		.default(30_000)
		.describe('Requests that one client may make of the admin API in a minute.'),
	max_unauthenticated_per_minute: integer(1, 1_000_000)
		.default(600)
		.describe('Requests without a valid access token that one source address may make of the admin API in a minute.'),
});

export const simulator = z.strictObject({
	listen: listen.default('127.0.0.1:8790').meta(restart('Address of the fake providers for trials and tests.')),
});

const client = z
	.strictObject({
		id: clientId.describe('The `client_id`.'),
		name: nonEmpty.max(200).nullable().default(null).describe('Name for people; null means the id.'),
		secret: secretText.max(512).nullable().default(null).meta(secret('The `client_secret` in clear.')),
		secret_file: nonEmpty.optional().describe('File that holds the secret.'),
		secret_hash: z
			.string()
			.regex(/^scrypt\$\d+\$\d+\$\d+\$[A-Za-z0-9_-]+\$[A-Za-z0-9_-]+$/, 'must be scrypt$N$r$p$salt$hash with salt and hash in base64url')
			.nullable()
			.default(null)
			.meta(secret('The secret’s hash, `scrypt$N$r$p$salt$hash`, in place of the secret.')),
		scopes: z
			.array(z.enum(['invoke', 'admin']))
			.default(['invoke'])
			.describe('Scopes the client may ask for, without the scope base. With none it may not use the grant.'),
		team: teamId
			.nullable()
			.default(null)
			.describe(
				'Team the client belongs to; one that `teams.registered` does not name has the tier of unregistered clients. Null leaves it to `teams`.',
			),
	})
	.refine((value) => (value.secret === null) !== (value.secret_hash === null), 'needs exactly one of secret, secret_file and secret_hash');

export const identity = z.strictObject({
	listen: listen.default('127.0.0.1:8789').meta(restart('Address of the token endpoint and the key set.')),
	public_url: webAddress
		.nullable()
		.default(null)
		.meta(restart('URL under which callers reach the embedded identity, its `iss`; null derives it from `listen`.')),
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
				'Key that seals the signing keys in the records, 32 bytes in base64 or hex, the same in every process; of several the first seals and all open. Null: with `sqlite` a key is made in `data_dir`, with PostgreSQL signing keys lie in clear.',
			),
		),
	encryption_key_file: nonEmpty.optional().describe('File that holds the sealing key, or several, one a line.'),
	access_token_seconds: integer(60, 86_400).default(3600).describe('Lifetime of an access token.'),
	key_rotation_days: integer(1, 3650)
		.default(30)
		.describe('Age at which the signing key is replaced; the old one is published until its last token has expired.'),
	max_attempts_per_minute: count
		.default(100)
		.describe(
			'Wrong secrets for one client that one address may send in a minute before it is answered 429; all addresses together ten times as many.',
		),
	clients: z.array(client).max(10_000).default([]).describe('Clients created at start, beside those made with `tollgate client create`.'),
});
