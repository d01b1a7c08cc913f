/** What is remembered of clients, teams and signing keys. Each backend passes `records-contract.ts` unchanged. */
import type { Team } from '../../core/team.ts';

export interface RecordStore {
	readonly clients: ClientStore;
	readonly teams: TeamStore;
	readonly signingKeys: SigningKeyStore;
	/** Runs `listener` after any record changed, also by another process, within a second. Returns the way to stop it. */
	onChange(listener: () => void): () => void;
	close(): Promise<void>;
}

/** An OAuth client of the embedded identity. */
export interface ClientRecord {
	/** 1 to 128 characters of `A-Z a-z 0-9 . _ ~ -`. */
	readonly id: string;
	readonly name: string;
	/**
	 * Encoded password hashes (`scrypt$N$r$p$salt$hash`, base64url), newest first. Two while a rotated secret
	 * overlaps; each may carry its end as `expiresAtMs` (unix), null for none.
	 */
	readonly secrets: readonly { readonly hash: string; readonly expiresAtMs: number | null }[];
	/** Scope names without the scope base: `invoke`, `admin`. */
	readonly scopes: readonly string[];
	readonly isDisabled: boolean;
	readonly createdAtMs: number;
	readonly updatedAtMs: number;
}

export interface ClientStore {
	get(id: string): Promise<ClientRecord | undefined>;
	/** By id, ascending. */
	list(): Promise<ClientRecord[]>;
	/** @returns false when the id is taken; nothing changed then. */
	create(record: ClientRecord): Promise<boolean>;
	/** @returns false when there is no such client. */
	replace(record: ClientRecord): Promise<boolean>;
	/** Also takes the client out of its team. @returns false when there is no such client. */
	delete(id: string): Promise<boolean>;
}

export interface TeamStore {
	get(id: string): Promise<Team | undefined>;
	list(): Promise<Team[]>;
	/** @returns `id_taken` or `client_taken` when the id, or a client, belongs to another team; nothing changed then. */
	create(team: Team): Promise<'created' | 'id_taken' | 'client_taken'>;
	replace(team: Team): Promise<'replaced' | 'unknown' | 'client_taken'>;
	delete(id: string): Promise<boolean>;
}

/** A key of the embedded issuer. */
export interface SigningKeyRecord {
	readonly kid: string;
	/** Private key as JWK, JSON text. */
	readonly privateJwk: string;
	readonly createdAtMs: number;
	/** From when tokens are signed with it; published before. */
	readonly activeFromMs: number;
	/** Until when it is published. Null while it is the newest. */
	readonly retiredAtMs: number | null;
}

export interface SigningKeyStore {
	/** Oldest first. */
	list(): Promise<SigningKeyRecord[]>;
	/**
	 * Atomically: adds `key`, sets `retiredAtMs` on those named, unless another process has added a key since
	 * `expectedNewestKid` (null: there was none) was the newest. @returns whether it was added.
	 */
	rotate(key: SigningKeyRecord, expectedNewestKid: string | null, retire: { kid: string; retiredAtMs: number }[]): Promise<boolean>;
	/** Removes keys whose `retiredAtMs` lies before `nowMs`. */
	prune(nowMs: number): Promise<void>;
}
