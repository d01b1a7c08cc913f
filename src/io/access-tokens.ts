/** Verifies access tokens against the issuer's key set and caches the authenticated clients. */
import { hash } from 'node:crypto';
import { BoundedMap } from '../core/bounded-map.ts';
import type { Caller } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import { UpstreamError } from '../core/upstream-error.ts';
import type { AccessTokenVerifier } from '../policy/access/access-token-verifier.ts';
import { type ClaimRules, checkClaims } from '../policy/access/claims.ts';
import { type CompactToken, maxAccessTokenLength, readCompactToken } from '../policy/access/compact-token.ts';
import { invalidToken } from '../policy/access/invalid-token.ts';
import type { KeySet } from './key-set.ts';
import { isSignedBy, type VerificationKey } from './verification-keys.ts';

export interface AccessTokenSettings extends ClaimRules {
	/** Number of verified tokens to cache; 0 disables the cache. */
	readonly cacheSize: number;
}

export interface AccessTokenDeps {
	/** The key set, already started. */
	readonly keySet: KeySet;
	readonly clock: Clock;
}

/** Maximum number of requests that wait for one fetch of the key set. Beyond it, a token with an unknown key is rejected at once. */
const maxWaiting = 1000;

export function createAccessTokenVerifier(settings: AccessTokenSettings, parts: AccessTokenDeps): Required<AccessTokenVerifier> {
	return new KeySetVerifier(settings, parts);
}

class KeySetVerifier implements AccessTokenVerifier {
	readonly #rules: ClaimRules;
	readonly #keySet: KeySet;
	readonly #clock: Clock;
	readonly #recent: RecentCallers;
	#generation = -1;
	#waiting = 0;

	constructor(settings: AccessTokenSettings, { keySet, clock }: AccessTokenDeps) {
		this.#rules = settings;
		this.#keySet = keySet;
		this.#clock = clock;
		this.#recent = new RecentCallers(settings.cacheSize);
	}

	/** Stores a digest instead of the token, so that a memory dump does not expose usable tokens. */
	digest(accessToken: string): string {
		return hash('sha256', accessToken, 'latin1');
	}

	verify(accessToken: string, digest?: string): Caller | Promise<Caller> {
		if (accessToken.length > maxAccessTokenLength) throw invalidToken(`longer than ${maxAccessTokenLength} characters`);
		if (this.#generation !== this.#keySet.generation) {
			this.#recent.clear();
			this.#generation = this.#keySet.generation;
		}
		const known = digest ?? this.digest(accessToken);
		return this.#recent.get(known, this.#nowSeconds()) ?? this.#verifyUncached(accessToken, known);
	}

	#verifyUncached(accessToken: string, digest: string): Caller | Promise<Caller> {
		const token = readCompactToken(accessToken);
		const key = this.#keySet.find(token.keyId);
		if (key !== undefined) return this.#check(token, key, digest);
		const refetched = this.#waiting < maxWaiting ? this.#keySet.refetch() : undefined;
		if (refetched === undefined) throw this.#unknownKey();
		return this.#checkAfter(refetched, token, digest);
	}

	async #checkAfter(refetched: Promise<void>, token: CompactToken, digest: string): Promise<Caller> {
		this.#waiting++;
		try {
			await refetched;
		} finally {
			this.#waiting--;
		}
		const key = this.#keySet.find(token.keyId);
		if (key === undefined) throw this.#unknownKey();
		return this.#check(token, key, digest);
	}

	#check(token: CompactToken, key: VerificationKey, digest: string): Caller {
		if (!isSignedBy(token, key)) throw invalidToken('signature does not match the key of its kid');
		const nowSeconds = this.#nowSeconds();
		const caller = checkClaims(token.payload, this.#rules, nowSeconds);
		// The keys may have been refreshed during the wait and be newer than the cache; the next request clears the cache then.
		if (this.#generation === this.#keySet.generation) {
			this.#recent.add(digest, caller, caller.expiresAtSeconds + this.#rules.clockSkewSeconds, nowSeconds);
		}
		return caller;
	}

	#unknownKey(): Error {
		return this.#keySet.isLoaded ? invalidToken('no key with this kid') : new UpstreamError('key_set_unavailable');
	}

	#nowSeconds(): number {
		return this.#clock.nowMs() / 1000;
	}
}

interface Entry {
	readonly caller: Caller;
	readonly usableUntilSeconds: number;
	/** Time at which the entry was last moved to the newest end. */
	placedSeconds: number;
}

/** Clients of recently verified access tokens, by digest. When full, the least recently used are evicted. */
export class RecentCallers {
	/** Reading an entry sets it again, at most once a second: the oldest entries are the least recently used. */
	readonly #entries: BoundedMap<string, Entry>;

	constructor(capacity: number) {
		this.#entries = new BoundedMap(capacity);
	}

	get size(): number {
		return this.#entries.size;
	}

	get(digest: string, nowSeconds: number): Caller | undefined {
		const entry = this.#entries.get(digest);
		if (entry === undefined) return undefined;
		if (nowSeconds >= entry.usableUntilSeconds) {
			this.#entries.delete(digest);
			return undefined;
		}
		if (nowSeconds - entry.placedSeconds >= 1) {
			entry.placedSeconds = nowSeconds;
			this.#entries.set(digest, entry);
		}
		return entry.caller;
	}

	add(digest: string, caller: Caller, usableUntilSeconds: number, nowSeconds: number): void {
		this.#entries.set(digest, { caller, usableUntilSeconds, placedSeconds: nowSeconds });
	}

	clear(): void {
		this.#entries.clear();
	}
}
