/** Stored records: clients, teams, budgets, prices and keys. Each backend passes `records.contract.ts` unchanged. */

import type { BudgetPolicy } from '../../core/budget.ts';
import type { ProviderReport } from '../../core/health-report.ts';
import type { RoutingRule } from '../../core/routing-rule.ts';
import type { Team } from '../../core/team.ts';
import type { ResponseOwners } from './response-owners.ts';
import type { WebhookDeliveries } from './webhook-deliveries.ts';

export interface RecordStore {
	readonly clients: ClientStore;
	readonly teams: TeamStore;
	readonly budgets: BudgetStore;
	readonly priceOverrides: PriceOverrideStore;
	readonly routingRules: RoutingRuleStore;
	readonly audit: AuditLog;
	readonly signingKeys: SigningKeyStore;
	readonly providerReports: ProviderReports;
	readonly responseOwners: ResponseOwners;
	readonly webhookDeliveries: WebhookDeliveries;
	/** Runs `listener` within a second after any record changed, also in another process. Returns a function that unsubscribes. */
	onChange(listener: () => void): () => void;
	close(): Promise<void>;
}

/** An OAuth client of the embedded identity provider. */
export interface ClientRecord {
	/** 1 to 128 characters of `A-Z a-z 0-9 . _ ~ -`. */
	readonly id: string;
	readonly name: string;
	/**
	 * Encoded password hashes (`scrypt$N$r$p$salt$hash`, base64url), newest first. Two while a rotated secret overlaps; each may have an
	 * expiry `expiresAtMs` (unix), null for none.
	 */
	readonly secrets: readonly { readonly hash: string; readonly expiresAtMs: number | null }[];
	/** Scope names without the scope base, such as `invoke`. */
	readonly scopes: readonly string[];
	readonly isDisabled: boolean;
	/** True if its requests may carry `x-gateway-attributes`. */
	readonly canSetAttributes: boolean;
	readonly createdAtMs: number;
	readonly updatedAtMs: number;
}

/** Author of a change. A change with an author is in the audit log, in the same transaction. */
export interface Author {
	/** Such as `client:console` or `cli`. */
	readonly actor: string;
	/** Unix milliseconds. */
	readonly atMs: number;
	readonly requestId?: string;
}

/**
 * A record as it is stored. No two states of any versioned records ever share a version, so that it serves as an entity tag. It changes
 * with every change, also when a record is deleted and created again.
 */
export type Stored<Value> = Value & { readonly version: number };

export interface ChangeDeps {
	readonly author?: Author;
	/** Version that the record must have; otherwise nothing changes. */
	readonly ifVersion?: number;
}

/** One kind of record. `Conflict` names the reason why another record prevents a change; nothing changed then. */
export interface VersionedStore<Key, Value, Conflict extends string> {
	get(key: Key): Promise<Stored<Value> | undefined>;
	/** Ordered by key. */
	list(): Promise<Stored<Value>[]>;
	/** Ignores a `version` in `value`. */
	create(value: Value, terms?: Pick<ChangeDeps, 'author'>): Promise<'created' | 'id_taken' | Conflict>;
	replace(value: Value, terms?: ChangeDeps): Promise<'replaced' | 'unknown' | 'stale' | Conflict>;
	delete(key: Key, terms?: ChangeDeps): Promise<'deleted' | 'unknown' | 'stale'>;
}

/** Deleting a client removes it from its team. */
export type ClientStore = VersionedStore<string, ClientRecord, never>;

/** Deleting a team deletes its budgets. `client_taken`: a client belongs to another team, or is named twice. */
export type TeamStore = VersionedStore<string, Team, 'client_taken'>;

/** Limit on what a team spends in a window of time, on all of its requests or on some. */
export interface Budget extends BudgetPolicy {
	/** Need not be registered: teams of the configuration and unregistered clients have budgets too. */
	readonly team: string;
	readonly createdAtMs: number;
	readonly updatedAtMs: number;
}

/** `scope_taken`: another budget has the same team, scope and window. */
export type BudgetStore = VersionedStore<string, Budget, 'scope_taken'>;

export interface PriceKey {
	readonly provider: string;
	readonly model: string;
}

/** An operator's price of a model. Rates are whole pico-US-dollars a token. */
export interface PriceOverride extends PriceKey {
	readonly inputPicoUsd: bigint;
	readonly outputPicoUsd: bigint;
	readonly cacheReadPicoUsd: bigint;
	readonly cacheWritePicoUsd: bigint;
	readonly updatedAtMs: number;
}

/** Ordered by provider, then model. */
export type PriceOverrideStore = VersionedStore<PriceKey, PriceOverride, never>;

export type RoutingRuleStore = VersionedStore<string, RoutingRule, never>;

export const auditActions = ['create', 'replace', 'delete'] as const;
export const auditKinds = ['client', 'team', 'budget', 'price_override', 'routing_rule'] as const;

export interface AuditEntry {
	/** Unix milliseconds. */
	readonly atMs: number;
	readonly actor: string;
	readonly requestId: string | null;
	readonly action: (typeof auditActions)[number];
	readonly kind: (typeof auditKinds)[number];
	/** Key of the record; `provider/model` for a price. */
	readonly key: string;
	/** The record as JSON, amounts as decimal strings, without secrets. Null before its creation and after its deletion. */
	readonly before: string | null;
	readonly after: string | null;
}

export interface AuditQuery {
	readonly kind?: AuditEntry['kind'];
	readonly key?: string;
	/** 1 to 1,000. */
	readonly limit: number;
	/** From an earlier page. */
	readonly cursor?: string;
}

export interface AuditPage {
	readonly entries: readonly AuditEntry[];
	readonly nextCursor: string | null;
}

/** An append-only log. */
export interface AuditLog {
	/** Adds an entry for a change made elsewhere; changes of this store's records add their own. */
	append(entry: AuditEntry): Promise<void>;
	/** Newest first. @throws RangeError for a cursor that no page returned. */
	list(query: AuditQuery): Promise<AuditPage>;
}

/** A key of the embedded issuer. */
export interface SigningKeyRecord {
	readonly kid: string;
	/** Private key as JWK, JSON text; or that text encrypted (`encrypted-signing-keys.ts`). */
	readonly privateJwk: string;
	readonly createdAtMs: number;
	/** Time from which tokens are signed with it; it is published before. */
	readonly activeFromMs: number;
	/** Time until which it is published. Null while it is the newest. */
	readonly retiredAtMs: number | null;
}

export interface PrivateJwkChange {
	readonly kid: string;
	readonly from: string;
	readonly to: string;
}

export interface SigningKeyStore {
	/** Oldest first. */
	list(): Promise<SigningKeyRecord[]>;
	/**
	 * Atomically adds `key` and sets `retiredAtMs` on those named. Changes nothing if another process has added a key since
	 * `expectedNewestKid` (null: there was none) was the newest.
	 * @returns true if it was added.
	 */
	rotate(key: SigningKeyRecord, expectedNewestKid: string | null, retire: { kid: string; retiredAtMs: number }[]): Promise<boolean>;
	/** Removes keys whose `retiredAtMs` is before `nowMs`. */
	prune(nowMs: number): Promise<void>;
	/**
	 * Atomically replaces the text of the same private keys where the current text matches. Sends no notification, because no key has
	 * changed. Leaves nothing of the former text in its files, as far as the store can.
	 */
	replacePrivateJwks(changes: readonly PrivateJwkChange[]): Promise<void>;
}

/** Health reports of serving processes about their providers, for admin APIs in other processes. Changes are not announced. */
export interface ProviderReports {
	/** Replaces the earlier report of `process`. It expires after `lifeMs`, by the clock of the store. */
	put(process: string, report: ProviderReport, lifeMs: number): Promise<void>;
	forget(process: string): Promise<void>;
	/** Reports that have not expired, by process. */
	read(): Promise<ReadonlyMap<string, ProviderReport>>;
}
