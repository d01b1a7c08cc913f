/** Remembers the prompts of each account, as a provider's prompt cache would. Bounded; evicts the oldest first. */
import type { ModelRequest } from '../wires/wire.ts';
import type { InputUsage } from './plan-response.ts';
import { type PromptDigest, stepTokens } from './prompt-digest.ts';

export interface PromptCache {
	/**
	 * Returns the input of a prompt, and caches it.
	 * - `marked`: the longest known one of the marked prefixes is read, and the rest up to the last mark is written.
	 * - `implicit`: in steps of 128 tokens, up to 262,144; a hit is a prefix of at least the minimum.
	 * - `implicit-counted`: also reports new cache content, as models that charge for it do.
	 */
	use(caching: ModelRequest['caching'], account: string, digest: PromptDigest, nowMs: number): InputUsage;
	clear(): void;
}

const maxEntries = 20_000;
const implicitSeconds = 3600;

/** @param minimumTokens - shorter prefixes are not cached. */
export function createPromptCache(minimumTokens: number): PromptCache {
	const endMsByPrefix = new Map<string, number>();

	const isKnown = (prefix: string, nowMs: number): boolean => (endMsByPrefix.get(prefix) ?? 0) > nowMs;
	const cache = (prefix: string, endMs: number): void => {
		endMsByPrefix.delete(prefix);
		endMsByPrefix.set(prefix, endMs);
		if (endMsByPrefix.size <= maxEntries) return;
		for (const oldest of endMsByPrefix.keys()) {
			endMsByPrefix.delete(oldest);
			break;
		}
	};

	const useMarked = (account: string, { tokens, marks }: PromptDigest, nowMs: number): InputUsage => {
		let read = 0;
		let written = 0;
		let writtenLong = 0;
		for (const mark of marks) {
			if (mark.tokens < minimumTokens) continue;
			const prefix = `${account} ${mark.hash} ${mark.tokens}`;
			if (isKnown(prefix, nowMs)) {
				read = mark.tokens;
				written = 0;
				writtenLong = 0;
			} else {
				const added = mark.tokens - read - written;
				written += added;
				if (mark.seconds >= 3600) writtenLong += added;
			}
			cache(prefix, nowMs + mark.seconds * 1000);
		}
		return { input: tokens - read - written, cacheWrite: written, cacheWriteLong: writtenLong, cacheRead: read };
	};
	const useImplicit = (account: string, { tokens, steps }: PromptDigest, nowMs: number, countsWrites: boolean): InputUsage => {
		let read = 0;
		let cached = 0;
		for (const [index, hash] of steps.entries()) {
			const end = (index + 1) * stepTokens;
			if (end < minimumTokens || end >= tokens) continue;
			const prefix = `${account} ${hash} ${end}`;
			if (isKnown(prefix, nowMs)) read = end;
			cached = end;
			cache(prefix, nowMs + implicitSeconds * 1000);
		}
		const cacheWrite = countsWrites ? cached - read : 0;
		return { input: tokens - read - cacheWrite, cacheWrite, cacheWriteLong: 0, cacheRead: read };
	};

	return {
		use(caching, account, digest, nowMs) {
			return caching === 'marked' ? useMarked(account, digest, nowMs) : useImplicit(account, digest, nowMs, caching === 'implicit-counted');
		},
		clear: () => endMsByPrefix.clear(),
	};
}
