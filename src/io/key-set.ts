/** The issuer's keys, kept near. Fetching happens beside the requests: none that names a known key ever waits for it. */
import type { Clock, Timer } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { KeySetSource } from './key-set-source.ts';
import { type ParsedKeySet, parseKeySet, type VerificationKey } from './verification-keys.ts';

export interface KeySetSettings {
	/** Age at which the set is fetched anew. */
	readonly maxAgeMs: number;
	/** Within this time unknown keys cause at most one fetch; also the time between tries while fetching fails and keys are held. */
	readonly coolDownMs: number;
	/** How long beyond its age the last good set still counts while fetching fails. */
	readonly graceMs: number;
}

export interface KeySetState {
	/** A set is held, and it has at least one usable key. */
	readonly isReady: boolean;
	readonly keyCount: number;
	readonly fetches: number;
	readonly failures: number;
	/** Unix time of the set in use. */
	readonly lastFetchedMs: number | null;
	/** What the last fetch failed with; null when it did not. */
	readonly lastError: string | null;
}

const shortestRetryMs = 1000;

export class KeySet {
	/** Grows whenever the keys change: what was concluded from them before no longer holds. */
	generation = 0;

	readonly #source: KeySetSource;
	readonly #settings: KeySetSettings;
	readonly #clock: Clock;
	readonly #log: Log;
	#keys: ReadonlyMap<string, VerificationKey> | undefined;
	#fingerprint = '';
	#started: Promise<void> | undefined;
	#fetching: Promise<void> | undefined;
	#isFetchDue = false;
	#isStopped = false;
	#timer: Timer | undefined;
	#unsubscribe: (() => void) | undefined;
	/** Without any keys every request fails, so tries are closer together at first. */
	#retryMs = shortestRetryMs;
	#fetches = 0;
	#failures = 0;
	#lastError: string | null = null;
	#lastFetchedMs: number | null = null;
	#usableUntilMs = 0;
	#coolUntilMs = Number.NEGATIVE_INFINITY;

	constructor(source: KeySetSource, settings: KeySetSettings, parts: { readonly clock: Clock; readonly log: Log }) {
		this.#source = source;
		this.#settings = settings;
		this.#clock = parts.clock;
		this.#log = parts.log;
	}

	/**
	 * Begins to fetch, at once and then for as long as it is not stopped. Resolves when the first try is over, good or not. Roles that share
	 * the set may each start it.
	 */
	start(): Promise<void> {
		this.#started ??= this.#begin();
		return this.#started;
	}

	#begin(): Promise<void> {
		this.#unsubscribe = this.#source.onChange?.(() => {
			this.#isFetchDue = true;
			void this.#fetch();
		});
		return this.#fetch();
	}

	stop(): void {
		this.#isStopped = true;
		this.#timer?.cancel();
		this.#unsubscribe?.();
	}

	/** False until a set was fetched, and again when the last good one has outlived its grace. */
	get isLoaded(): boolean {
		return this.#keys !== undefined;
	}

	find(keyId: string): VerificationKey | undefined {
		return this.#keys?.get(keyId);
	}

	/** For a key that is not in the set: resolves when the set is fetched anew. Undefined when waiting would not help now. */
	refetch(): Promise<void> | undefined {
		// While the issuer fails, nobody waits for the next try to fail as well.
		if (this.#fetching !== undefined) return this.#lastError === null ? this.#fetching : undefined;
		const nowMs = this.#clock.monotonicMs();
		if (!this.isLoaded || nowMs < this.#coolUntilMs) return undefined;
		this.#coolUntilMs = nowMs + this.#settings.coolDownMs;
		return this.#fetch();
	}

	state(): KeySetState {
		const keyCount = this.#keys?.size ?? 0;
		return {
			isReady: keyCount > 0,
			keyCount,
			fetches: this.#fetches,
			failures: this.#failures,
			lastFetchedMs: this.#lastFetchedMs,
			lastError: this.#lastError,
		};
	}

	/** One fetch at a time; never rejects. */
	#fetch(): Promise<void> {
		this.#fetching ??= this.#fetchOnce().finally(() => {
			this.#fetching = undefined;
			// Changed while it was being read: what was read may be the old set.
			if (this.#isFetchDue && !this.#isStopped) void this.#fetch();
		});
		return this.#fetching;
	}

	async #fetchOnce(): Promise<void> {
		const startedMs = this.#clock.monotonicMs();
		this.#isFetchDue = false;
		this.#timer?.cancel();
		this.#fetches++;
		try {
			this.#accept(parseKeySet(await this.#source.read()), startedMs);
		} catch (cause) {
			this.#keepLast(cause instanceof Error ? cause : new Error(String(cause)));
		}
	}

	#accept({ keys, skipped }: ParsedKeySet, startedMs: number): void {
		const { maxAgeMs, graceMs } = this.#settings;
		if (this.#lastError !== null) this.#log.info('key set fetched again', { keyIds: [...keys.keys()] });
		this.#lastError = null;
		this.#lastFetchedMs = this.#clock.nowMs();
		this.#retryMs = shortestRetryMs;
		this.#usableUntilMs = startedMs + maxAgeMs + graceMs;
		// Counted from the start, so that a key withdrawn right after it was read is gone one age and one fetch later.
		this.#schedule(startedMs + maxAgeMs - this.#clock.monotonicMs());
		const fingerprint = fingerprintOf(keys);
		if (this.#keys !== undefined && fingerprint === this.#fingerprint) return;
		this.#keys = keys;
		this.#fingerprint = fingerprint;
		this.generation++;
		this.#log.info('key set changed', { keyIds: [...keys.keys()], skipped });
	}

	#keepLast(cause: Error): void {
		this.#failures++;
		if (this.#lastError === null) {
			this.#log.warn('key set could not be fetched', { reason: reasonOf(cause), keysInUse: this.#keys?.size ?? 0 });
		}
		this.#lastError = reasonOf(cause);
		const leftMs = this.#usableUntilMs - this.#clock.monotonicMs();
		if (this.#keys !== undefined && leftMs <= 0) {
			this.#keys = undefined;
			this.generation++;
			this.#log.error('key set expired: access tokens are rejected until it can be fetched', { reason: reasonOf(cause) });
		}
		if (this.#keys === undefined) {
			this.#schedule(this.#retryMs);
			this.#retryMs = Math.min(2 * this.#retryMs, this.#settings.coolDownMs);
		} else {
			this.#schedule(Math.min(this.#settings.coolDownMs, leftMs));
		}
	}

	#schedule(delayMs: number): void {
		if (this.#isStopped) return;
		this.#timer?.cancel();
		this.#timer = this.#clock.after(Math.max(0, delayMs), () => void this.#fetch());
	}
}

function fingerprintOf(keys: ReadonlyMap<string, VerificationKey>): string {
	const lines = [...keys.values()].map(({ keyId, algorithm, key }) => {
		return JSON.stringify([keyId, algorithm, key.export({ type: 'spki', format: 'der' }).toString('base64')]);
	});
	return lines.toSorted().join('\n');
}

/** A connection that failed on several addresses has a code but no message. */
function reasonOf(cause: Error): string {
	const { code } = cause as NodeJS.ErrnoException;
	return cause.message === '' ? (code ?? cause.name) : cause.message;
}
