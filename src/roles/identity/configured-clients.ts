import type { ScryptCost } from '../../stores/contracts/client-secret.ts';
import { hashClientSecret, newDerivation, parseSecretHash } from '../../stores/contracts/client-secret.ts';
import type { ClientRecord } from '../../stores/contracts/records.ts';
import type { ConfiguredClient } from './settings.ts';

/**
 * The configured clients as if they were in the store, by id. Secrets given in clear are hashed, so that they are checked
 * with the same work as any other.
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
	return { id, name, scopes, secrets: [{ hash, expiresAtMs: null }], isDisabled: false, createdAtMs: 0, updatedAtMs: 0 };
}
