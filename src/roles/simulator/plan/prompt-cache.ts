/** Which prompts each account sent before, as far as a provider's prompt cache would know. Bounded; oldest out first. */
import { hashText } from '../seeded-random.ts';
import { unitsPerToken } from '../token-count.ts';
import type { InputUsage } from './plan-answer.ts';
import type { PromptSegment } from './prompt.ts';

export interface PromptCache {
	/** Caches what the caller marked: the longest marked prefix that is known is read, the rest up to the last mark is written. */
	useMarked(account: string, segments: readonly PromptSegment[], nowMs: number): InputUsage;
	/**
	 * Caches by itself, in steps of 128 tokens; a hit is a prefix of at least the minimum.
	 * @param countsWrites - what is new in the cache is told apart, as models that charge for it do.
	 */
	useImplicit(account: string, segments: readonly PromptSegment[], nowMs: number, countsWrites: boolean): InputUsage;
	clear(): void;
}

const mostEntries = 20_000;
const implicitStepTokens = 128;
const implicitSeconds = 3600;

/** @param minimumTokens - shorter prefixes are not cached. */
export function createPromptCache(minimumTokens: number): PromptCache {
	const endMsByPrefix = new Map<string, number>();

	const isKnown = (prefix: string, nowMs: number): boolean => (endMsByPrefix.get(prefix) ?? 0) > nowMs;
	const remember = (prefix: string, endMs: number): void => {
		endMsByPrefix.delete(prefix);
		endMsByPrefix.set(prefix, endMs);
		if (endMsByPrefix.size <= mostEntries) return;
		for (const oldest of endMsByPrefix.keys()) {
			endMsByPrefix.delete(oldest);
			break;
		}
	};

	return {
		useMarked(account, segments, nowMs) {
			let hash = hashText(account);
			let tokens = 0;
			let read = 0;
			let written = 0;
			let writtenLong = 0;
			for (const segment of segments) {
				hash = hashText('\u0000', hashText(segment.text, hash));
				tokens += segment.tokens;
				if (segment.cacheSeconds === undefined || tokens < minimumTokens) continue;
				const prefix = `${account} ${hash} ${tokens}`;
				if (isKnown(prefix, nowMs)) {
					read = tokens;
					written = 0;
					writtenLong = 0;
				} else {
					const added = tokens - read - written;
					written += added;
					if (segment.cacheSeconds >= 3600) writtenLong += added;
				}
				remember(prefix, nowMs + segment.cacheSeconds * 1000);
			}
			return { input: tokens - read - written, cacheWrite: written, cacheWriteLong: writtenLong, cacheRead: read };
		},
		useImplicit(account, segments, nowMs, countsWrites) {
			const tokens = sumTokens(segments);
			if (tokens < minimumTokens) return { input: tokens, cacheWrite: 0, cacheWriteLong: 0, cacheRead: 0 };
			const text = segments.map((segment) => segment.text).join('\u0000');
			const stepUnits = implicitStepTokens * unitsPerToken;
			let hash = hashText(account);
			let read = 0;
			let cached = 0;
			for (let start = 0; start + stepUnits <= text.length; start += stepUnits) {
				hash = hashText(text.slice(start, start + stepUnits), hash);
				const end = (start + stepUnits) / unitsPerToken;
				if (end < minimumTokens || end >= tokens) continue;
				const prefix = `${account} ${hash} ${end}`;
				if (isKnown(prefix, nowMs)) read = end;
				cached = end;
				remember(prefix, nowMs + implicitSeconds * 1000);
			}
			const cacheWrite = countsWrites ? cached - read : 0;
			return { input: tokens - read - cacheWrite, cacheWrite, cacheWriteLong: 0, cacheRead: read };
		},
		clear: () => endMsByPrefix.clear(),
	};
}

export function sumTokens(segments: readonly PromptSegment[]): number {
	let tokens = 0;
	for (const segment of segments) tokens += segment.tokens;
	return tokens;
}
