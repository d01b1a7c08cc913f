/** The embedded identity provider: a token endpoint for machines, and the keys that verify its tokens. */
import type { Clock } from '../../core/clock.ts';
import type { Role } from '../../core/handler.ts';
import type { Log } from '../../core/log.ts';
import {
	defaultScryptCost,
	hashClientSecret,
	newDerivation,
	parseSecretHash,
	type ScryptCost,
} from '../../stores/contracts/client-secret.ts';
import type { ClientRecord, RecordStore } from '../../stores/contracts/records.ts';
import { createAccessTokenSigner } from './access-token-signer.ts';
import { createAttemptThrottle } from './attempt-throttle.ts';
import { createClientVerification } from './client-verification.ts';
import { createIdentityServer } from './identity-server.ts';
import type { ConfiguredClient, IdentitySettings, LiveSettings } from './settings.ts';
import { createSigningKeys, type PublishedKey } from './signing-keys.ts';
import { grantAccessToken } from './token-endpoint.ts';

export interface Identity extends Role {
	readonly name: 'identity';
	/**
	 * Reads or generates the keys, then listens; a store that takes longer than 1 s does not delay listening. Rejects with the operating
	 * system's error, such as `EADDRINUSE`.
	 */
	start(): Promise<void>;
	/** Listening address; undefined before the start. */
	readonly address: { readonly host: string; readonly port: number } | undefined;
	/** Returns the key set of `/.well-known/jwks.json`, for roles in the same process. */
	publishedKeySet(): { readonly keys: readonly PublishedKey[] };
	/** Runs `listener` when the key set may have changed. Returns a function that stops it. */
	onKeysChanged(listener: () => void): () => void;
	/** Applies new settings to the next request. @throws Error, and keeps the old ones, if a client's secret is unusable. */
	reconfigure(settings: LiveSettings): Promise<void>;
}

export interface IdentityDeps {
	readonly records: RecordStore;
	readonly clock: Clock;
	readonly log: Log;
	/** Generates request ids. */
	readonly newId: () => string;
}

export function createIdentity(settings: IdentitySettings, { records, clock, log, newId }: IdentityDeps): Identity {
	let live: LiveSettings = settings;
	let configured: ReadonlyMap<string, ClientRecord> = new Map();
	let address: { host: string; port: number } | undefined;
	let isStopping = false;
	const cost = settings.secretCost ?? defaultScryptCost;

	const keys = createSigningKeys({
		records,
		clock,
		log,
		schedule: () => ({
			rotationMs: live.keyRotationSeconds * 1000,
			overlapMs: settings.keyOverlapSeconds * 1000,
			accessTokenMs: live.accessTokenSeconds * 1000,
		}),
	});
	const verification = createClientVerification({
		findClient: async (id) => configured.get(id) ?? (await records.clients.get(id)),
		throttle: createAttemptThrottle(clock, () => live.maxAttemptsPerMinute),
		clock,
		log,
		cost,
	});
	const signer = createAccessTokenSigner({
		clock,
		issuer: settings.issuer,
		audience: settings.audience,
		accessTokenSeconds: () => live.accessTokenSeconds,
		currentKey: keys.current,
	});
	const app = createIdentityServer({
		settings,
		log,
		newId,
		grant: (request) => grantAccessToken(request, { scopeBase: settings.scopeBase, verification, signer }),
		publishedKeys: keys.published,
		async checkReady() {
			if (isStopping) throw new Error('stopping');
			await records.signingKeys.list();
			keys.current();
		},
	});

	return {
		name: 'identity',
		get address() {
			return address;
		},
		async start() {
			configured = await readConfiguredClients(live.configuredClients, cost);
			await keys.start();
			try {
				await app.listen({ host: settings.listen.host, port: settings.listen.port });
			} catch (cause) {
				keys.stop();
				throw cause;
			}
			const bound = app.server.address();
			if (bound !== null && typeof bound === 'object') address = { host: bound.address, port: bound.port };
		},
		async stop() {
			isStopping = true;
			keys.stop();
			const deadline = clock.after(live.graceMs, () => app.server.closeAllConnections());
			await app.close();
			deadline.cancel();
		},
		publishedKeySet: () => ({ keys: keys.published() }),
		onKeysChanged: keys.onChange,
		async reconfigure(next) {
			configured = await readConfiguredClients(next.configuredClients, cost);
			live = next;
		},
	};
}

/**
 * Converts the configured clients to records, by id. Plain-text secrets are hashed, so that their verification costs the same work as any
 * other.
 * @throws Error that names the client whose secret or hash is unusable.
 */
export async function readConfiguredClients(
	configured: readonly ConfiguredClient[],
	cost: ScryptCost,
): Promise<ReadonlyMap<string, ClientRecord>> {
	const records = await Promise.all(configured.map(async (client) => recordOf(client, await hashOf(client, cost))));
	return new Map(records.map((record) => [record.id, record]));
}

async function hashOf({ id, secret, secretHash }: ConfiguredClient, cost: ScryptCost): Promise<string> {
	if (typeof secretHash === 'string' && parseSecretHash(secretHash) !== undefined) return secretHash;
	if (typeof secret === 'string') return hashClientSecret(secret, newDerivation(cost));
	throw new Error(`identity.clients: ${id} has no usable secret: give secret, or secret_hash as scrypt$N$r$p$salt$hash of 32 bytes`);
}

function recordOf({ id, name, scopes }: ConfiguredClient, hash: string): ClientRecord {
	return {
		id,
		name,
		scopes,
		secrets: [{ hash, expiresAtMs: null }],
		isDisabled: false,
		canSetAttributes: false,
		createdAtMs: 0,
		updatedAtMs: 0,
	};
}
