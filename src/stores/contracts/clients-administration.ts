/** Creates and changes clients for the command line, the admin API and the demo. */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import { Rejection } from '../../core/rejection.ts';
import { isScopeName, maxScopes, scopeNameRule } from '../../core/scope-names.ts';
import { hashClientSecret, parseSecretHash } from './client-secret.ts';
import type { ChangeDeps, ClientRecord, ClientStore } from './records.ts';

export interface ClientsAdministration {
	/**
	 * @returns the record with its secret, which is shown only once and never stored; `id_taken` if the id exists.
	 * @throws `Rejection` `field_invalid`.
	 */
	createClient(input: ClientInput, terms?: Pick<ChangeDeps, 'author'>): Promise<ClientWithSecret | 'id_taken'>;
	/**
	 * Issues a new secret; the newest of the old ones stays valid for `overlapSeconds`.
	 * @returns undefined when there is no such client.
	 * @throws `Rejection` `field_invalid`; `record_stale` when somebody else changes the client at the same time.
	 */
	rotateSecret(id: string, overlapSeconds: number, terms?: ChangeDeps): Promise<ClientWithSecret | undefined>;
}

export interface ClientInput {
	/** By default made from the name and a random suffix. */
	readonly id?: string | undefined;
	readonly name: string;
	/** Scope names without the scope base. */
	readonly scopes: readonly string[];
	/** Default false. */
	readonly canSetAttributes?: boolean | undefined;
	/** Default 32 random bytes. */
	readonly secret?: string | undefined;
}

export interface ClientWithSecret {
	readonly record: ClientRecord;
	readonly secret: string;
}

export interface ClientsAdministrationDeps {
	readonly clients: ClientStore;
	readonly clock: Clock;
	/** Defaults to the operating system's generator. */
	readonly random?: (bytes: number) => Buffer;
}

const minSecretLength = 16;

export function createClientsAdministration({ clients, clock, random = randomBytes }: ClientsAdministrationDeps): ClientsAdministration {
	const newSecret = (): string => random(32).toString('base64url');
	return {
		async createClient(input, terms) {
			checkInput(input);
			const secret = input.secret ?? newSecret();
			const nowMs = clock.nowMs();
			const record: ClientRecord = {
				id: input.id ?? `${slugOf(input.name)}-${random(5).toString('hex')}`,
				name: input.name,
				secrets: [{ hash: await hashClientSecret(secret), expiresAtMs: null }],
				scopes: [...new Set(input.scopes)],
				isDisabled: false,
				canSetAttributes: input.canSetAttributes ?? false,
				createdAtMs: nowMs,
				updatedAtMs: nowMs,
			};
			return (await clients.create(record, terms)) === 'created' ? { record, secret } : 'id_taken';
		},

		async rotateSecret(id, overlapSeconds, terms = {}) {
			if (!(overlapSeconds >= 0 && Number.isFinite(overlapSeconds))) {
				throw new Rejection('field_invalid', {
					param: 'overlap_seconds',
					message: 'overlap_seconds: must be a number of seconds, 0 or more',
				});
			}
			const before = await clients.get(id);
			if (before === undefined) return undefined;
			const secret = newSecret();
			const nowMs = clock.nowMs();
			const previous = before.secrets.find(({ expiresAtMs }) => expiresAtMs === null || expiresAtMs > nowMs);
			const hash = await hashClientSecret(secret, previous && parseSecretHash(previous.hash)?.derivation);
			const endMs = Math.min(nowMs + overlapSeconds * 1000, previous?.expiresAtMs ?? Infinity);
			const retained = previous === undefined || overlapSeconds === 0 ? [] : [{ hash: previous.hash, expiresAtMs: endMs }];
			const record: ClientRecord = { ...before, secrets: [{ hash, expiresAtMs: null }, ...retained], updatedAtMs: nowMs };
			const outcome = await clients.replace(record, { ifVersion: before.version, ...terms });
			if (outcome === 'stale') throw new Rejection('record_stale');
			return outcome === 'replaced' ? { record, secret } : undefined;
		},
	};
}

function checkInput({ id, name, scopes, secret }: ClientInput): void {
	if (id !== undefined && !/^[A-Za-z0-9._~-]{1,128}$/.test(id)) {
		throw new Rejection('field_invalid', { param: 'id', message: 'id: must be 1 to 128 characters of A-Z a-z 0-9 . _ ~ -' });
	}
	if (name.trim() === '' || name.length > 200) {
		throw new Rejection('field_invalid', { param: 'name', message: 'name: must be 1 to 200 characters' });
	}
	if (scopes.length > maxScopes) throw new Rejection('field_invalid', { param: 'scopes', message: `scopes: must be at most ${maxScopes}` });
	const unknown = scopes.find((scope) => !isScopeName(scope));
	if (unknown !== undefined) {
		throw new Rejection('field_invalid', { param: 'scopes', message: `scopes: ${JSON.stringify(unknown)} ${scopeNameRule}` });
	}
	// RFC 6749 appendix A.2 allows these characters in a client secret, and no others.
	if (secret !== undefined && (secret.length < minSecretLength || !/^[\x20-\x7e]{1,512}$/.test(secret))) {
		throw new Rejection('field_invalid', {
			param: 'secret',
			message: `secret: must be ${minSecretLength} to 512 printable ASCII characters`,
		});
	}
}

function slugOf(name: string): string {
	const slug = name
		.normalize('NFKD')
		.toLowerCase()
		.replace(/[^a-z0-9]+/g, '-')
		.slice(0, 40)
		.replace(/^-|-$/g, '');
	return slug === '' ? 'client' : slug;
}
