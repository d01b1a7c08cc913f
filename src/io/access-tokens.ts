/** Verifies access tokens against the key set of their issuer and caches the authenticated clients. */
import { hash } from 'node:crypto';
import { BoundedMap } from '../core/bounded-map.ts';
import type { Caller } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import { UpstreamError } from '../core/upstream-error.ts';
import type { AccessTokenVerifier } from '../policy/access/access-token-verifier.ts';
import { type CallerRules, createCallerReader } from '../policy/access/caller-reader.ts';
import { type ClaimRules, checkClaims, type ReadCaller, readClaimedIssuer } from '../policy/access/claims.ts';
import { type CompactToken, maxAccessTokenLength, readCompactToken } from '../policy/access/compact-token.ts';
import { invalidToken } from '../policy/access/invalid-token.ts';
import type { KeySet } from './key-set.ts';
import { isSignedBy, type VerificationKey } from './verification-keys.ts';

export interface AccessTokenSettings extends ClaimRules {
	/** Number of verified tokens to cache; 0 disables the cache. */
	readonly cacheSize: number;
	/** Issuers in addition to `issuer`. */
	readonly otherIssuers?: readonly Pick<ClaimRules, 'issuer' | 'audience'>[];
	/** Default: the caller as claimed. */
	readonly callers?: CallerRules | undefined;
}

export interface AccessTokenDeps {
	/** The key set, already started. */
	readonly keySet: KeySet;
	/** Key sets of `otherIssuers`, by issuer. */
	readonly otherKeySets?: ReadonlyMap<string, KeySet>;
	readonly clock: Clock;
}

/** Maximum number of requests that wait for one fetch of the key set. Beyond it, a token with an unknown key is rejected at once. */
const maxWaiting = 1000;

export function createAccessTokenVerifier(settings: AccessTokenSettings, parts: AccessTokenDeps): Required<AccessTokenVerifier> {
	return new KeySetVerifier(settings, parts);
}

/** Rules for the tokens of one issuer, and the only keys that verify them. */
interface Issuer {
	readonly rules: ClaimRules;
	readonly keySet: KeySet;
}

class KeySetVerifier implements AccessTokenVerifier {
	readonly #first: Issuer;
	readonly #issuers: ReadonlyMap<string, Issuer>;
	readonly #readCaller: ReadCaller | undefined;
	readonly #clock: Clock;
	readonly #recent: RecentCallers;
	#generation = -1;
	#waiting = 0;

	constructor(settings: AccessTokenSettings, { keySet, otherKeySets, clock }: AccessTokenDeps) {
		const { otherIssuers = [], callers } = settings;
		this.#first = { rules: settings, keySet };
		const others = otherIssuers.map((other): [string, Issuer] => {
			const keys = otherKeySets?.get(other.issuer);
			if (keys === undefined) throw new Error(`no key set of issuer ${other.issuer}`);
			return [other.issuer, { rules: { ...settings, ...other }, keySet: keys }];
		});
		this.#issuers = new Map([[settings.issuer, this.#first], ...others]);
		this.#readCaller = callers && createCallerReader(callers);
		this.#clock = clock;
		this.#recent = new RecentCallers(settings.cacheSize);
	}

	/** Stores a digest instead of the token, so that a memory dump does not expose usable tokens. */
	digest(accessToken: string): string {
		return hash('sha256', accessToken, 'latin1');
	}

	verify(accessToken: string, digest?: string): Caller | Promise<Caller> {
		if (accessToken.length > maxAccessTokenLength) throw invalidToken(`longer than ${maxAccessTokenLength} characters`);
		const generation = this.#currentGeneration();
		if (this.#generation !== generation) {
			this.#recent.clear();
			this.#generation = generation;
		}
		const known = digest ?? this.digest(accessToken);
		return this.#recent.get(known, this.#nowSeconds()) ?? this.#verifyUncached(accessToken, known);
	}

	#verifyUncached(accessToken: string, digest: string): Caller | Promise<Caller> {
		const token = readCompactToken(accessToken);
		const issuer = this.#issuerOf(token);
		const key = issuer.keySet.find(token.keyId);
		if (key !== undefined) return this.#check(token, key, digest, issuer);
		const refetched = this.#waiting < maxWaiting ? issuer.keySet.refetch() : undefined;
		if (refetched === undefined) throw unknownKey(issuer);
		return this.#checkAfter(refetched, token, digest, issuer);
	}

	/** Chooses keys by the claimed issuer, which is checked again after the signature. A single issuer needs no choice. */
	#issuerOf({ payload }: CompactToken): Issuer {
		if (this.#issuers.size === 1) return this.#first;
		const issuer = this.#issuers.get(readClaimedIssuer(payload));
		if (issuer === undefined) throw invalidToken('iss is another issuer');
		return issuer;
	}

	async #checkAfter(refetched: Promise<void>, token: CompactToken, digest: string, issuer: Issuer): Promise<Caller> {
		this.#waiting++;
		try {
			await refetched;
		} finally {
			this.#waiting--;
		}
		const key = issuer.keySet.find(token.keyId);
		if (key === undefined) throw unknownKey(issuer);
		return this.#check(token, key, digest, issuer);
	}

	#check(token: CompactToken, key: VerificationKey, digest: string, { rules }: Issuer): Caller {
		if (!isSignedBy(token, key)) throw invalidToken('signature does not match the key of its kid');
		const nowSeconds = this.#nowSeconds();
		const caller = checkClaims(token.payload, rules, nowSeconds, this.#readCaller);
		// The keys may have been refreshed during the wait and be newer than the cache; the next request clears the cache then.
		if (this.#generation === this.#currentGeneration()) {
			this.#recent.add(digest, caller, caller.expiresAtSeconds + rules.clockSkewSeconds, nowSeconds);
		}
		return caller;
	}

	/** Each key set's generation only grows, so that their sum changes with each of them. */
	#currentGeneration(): number {
		let sum = 0;
		for (const { keySet } of this.#issuers.values()) sum += keySet.generation;
		return sum;
	}

	#nowSeconds(): number {
		return this.#clock.nowMs() / 1000;
	}
}

function unknownKey({ keySet }: Issuer): Error {
	return keySet.isLoaded ? invalidToken('no key with this kid') : new UpstreamError('key_set_unavailable');
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
