/** Cached keys of the issuer. They are fetched in the background: no token with a known key waits for a fetch. */
import type { Clock, Timer } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { KeySetSource } from './key-set-source.ts';
import { type ParsedKeySet, parseKeySet, type VerificationKey } from './verification-keys.ts';

export interface KeySetSettings {
	/** Age at which the set is fetched again. */
	readonly maxAgeMs: number;
	/** Minimum time between fetches for unknown keys, and between retries while fetching fails and keys are cached. */
	readonly coolDownMs: number;
	/** Time beyond its age for which the last good set stays valid while fetching fails. */
	readonly graceMs: number;
}

export interface KeySetState {
	/** True if a set is cached that has at least one usable key. */
	readonly isReady: boolean;
	readonly keyCount: number;
	readonly fetches: number;
	readonly failures: number;
	/** Unix milliseconds at which the current set was fetched. */
	readonly lastFetchedMs: number | null;
	/** Error of the last fetch; null if it succeeded. */
	readonly lastError: string | null;
}

const minRetryMs = 1000;

export class KeySet {
	/** Grows whenever the keys change, which invalidates results based on earlier keys. */
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
	/** Without any keys every request fails, so the first retries follow more quickly. */
	#retryMs = minRetryMs;
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
	 * Fetches at once, and then repeatedly until stopped. Resolves after the first attempt, successful or not. Roles that share the set may
	 * each call it.
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

	/** False until a set was fetched, and again after the last good one has outlived its grace time. */
	get isLoaded(): boolean {
		return this.#keys !== undefined;
	}

	find(keyId: string): VerificationKey | undefined {
		return this.#keys?.get(keyId);
	}

	/** Fetches the set again for an unknown key. Returns undefined if waiting would not help now. */
	refetch(): Promise<void> | undefined {
		// While the issuer fails, no request waits for the next attempt.
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

	/** Runs one fetch at a time; never rejects. */
	#fetch(): Promise<void> {
		this.#fetching ??= this.#fetchOnce().finally(() => {
			this.#fetching = undefined;
			// The key set changed during the read, which may have returned the old one.
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
		this.#retryMs = minRetryMs;
		this.#usableUntilMs = startedMs + maxAgeMs + graceMs;
		// Measured from the start of the fetch, so that a key withdrawn right after the read expires within one age and one fetch.
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
		const remainingMs = this.#usableUntilMs - this.#clock.monotonicMs();
		if (this.#keys !== undefined && remainingMs <= 0) {
			this.#keys = undefined;
			this.generation++;
			this.#log.error('key set expired: access tokens are rejected until it can be fetched', { reason: reasonOf(cause) });
		}
		if (this.#keys === undefined) {
			this.#schedule(this.#retryMs);
			this.#retryMs = Math.min(2 * this.#retryMs, this.#settings.coolDownMs);
		} else {
			this.#schedule(Math.min(this.#settings.coolDownMs, remainingMs));
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
