import type { Clock } from '../../src/core/clock.ts';
import { type MatchedRequest, matchesRequest, type RequestMatch } from './fault-rules.ts';

/** Limit of an account. Requests above it get the vendor's 429. */
export interface RateLimitRule extends RequestMatch {
	readonly requests?: number | undefined;
	/** Input tokens. */
	readonly tokens?: number | undefined;
	readonly windowMs: number;
}

/** State of an account's limits for the header fields of a response; undefined members have no limit. */
export interface AccountLimits {
	readonly requests: { readonly limit: number; readonly remaining: number } | undefined;
	readonly tokens: { readonly limit: number; readonly remaining: number } | undefined;
	readonly resetMs: number;
}

/** Account of one request. */
export interface CountedAccount {
	readonly isExceeded: boolean;
	countTokens(inputTokens: number): void;
	limits(): AccountLimits;
}

export interface RateLimits {
	/** @returns false if there are too many rules. */
	add(rule: RateLimitRule): boolean;
	clear(): void;
	/** Counts a request toward the latest rule that matches it; undefined for none. Rejected requests do not count. */
	take(request: MatchedRequest): CountedAccount | undefined;
}

const maxRules = 100;

/** A window begins with its first request. */
class Account {
	readonly rule: RateLimitRule;
	readonly #clock: Clock;
	#endsMs = 0;
	#requests = 0;
	#tokens = 0;

	constructor(rule: RateLimitRule, clock: Clock) {
		this.rule = rule;
		this.#clock = clock;
	}

	take(): CountedAccount {
		const nowMs = this.#clock.monotonicMs();
		if (nowMs >= this.#endsMs) {
			this.#endsMs = nowMs + this.rule.windowMs;
			this.#requests = 0;
			this.#tokens = 0;
		}
		const { requests = Number.POSITIVE_INFINITY, tokens = Number.POSITIVE_INFINITY } = this.rule;
		const isExceeded = this.#requests >= requests || this.#tokens >= tokens;
		if (!isExceeded) this.#requests++;
		return {
			isExceeded,
			countTokens: (inputTokens) => {
				this.#tokens += inputTokens;
			},
			limits: () => this.#limits(),
		};
	}

	#limits(): AccountLimits {
		const { requests, tokens } = this.rule;
		return {
			requests: requests === undefined ? undefined : { limit: requests, remaining: requests - this.#requests },
			tokens: tokens === undefined ? undefined : { limit: tokens, remaining: Math.max(0, tokens - this.#tokens) },
			resetMs: Math.max(0, Math.ceil(this.#endsMs - this.#clock.monotonicMs())),
		};
	}
}

export function createRateLimits(clock: Clock): RateLimits {
	const accounts: Account[] = [];
	return {
		add(rule) {
			if (accounts.length >= maxRules) return false;
			accounts.push(new Account(rule, clock));
			return true;
		},
		clear() {
			accounts.length = 0;
		},
		take: (request) => accounts.findLast(({ rule }) => matchesRequest(rule, request))?.take(),
	};
}
