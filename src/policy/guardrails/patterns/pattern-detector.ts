/** Operators' own patterns, on an engine whose time is linear in the text: nobody's pattern can hold up the process. */
import { RE2JS } from 're2js';
import type { Span, SpanDetector } from '../guardrail.ts';

export interface PatternSettings {
	readonly name: string;
	readonly pattern: string;
}

export const longestPattern = 500;
/** Instructions that a pattern may become: `(a{100}){100}` is short and costs as much as a long one. */
const largestProgram = 2000;
/** In streams, what is longer than this is found only in part. */
export const patternWindow = 256;
const mostMatches = 1000;

/** @returns why the pattern cannot be used; undefined when it can. */
export function whyNotPattern(pattern: string): string | undefined {
	if (pattern.length > longestPattern) return `is longer than ${longestPattern} characters`;
	try {
		const compiled = RE2JS.compile(pattern);
		if (compiled.programSize() > largestProgram) return 'is too large once its repetitions are written out';
		return compiled.matcher('').find() ? 'matches the empty text' : undefined;
	} catch (cause) {
		return `is not a pattern that RE2 takes: ${cause instanceof Error ? cause.message : String(cause)}`;
	}
}

/** @throws RE2JSException for what `whyNotPattern` complains of. */
export function createPatternDetector(patterns: readonly PatternSettings[]): SpanDetector {
	const compiled = patterns.map(({ name, pattern }) => ({ name, compiled: RE2JS.compile(pattern) }));
	return {
		find(text, isOpen, spans) {
			for (const { name, compiled: pattern } of compiled) addMatches(pattern, name, text, spans);
			return isOpen ? Math.max(0, text.length - patternWindow) : text.length;
		},
	};
}

function addMatches(pattern: RE2JS, category: string, text: string, spans: Span[]): void {
	const matcher = pattern.matcher(text);
	for (let count = 0; count < mostMatches && matcher.find(); count++) {
		if (matcher.end() > matcher.start()) spans.push({ policy: 'patterns', category, start: matcher.start(), end: matcher.end() });
	}
}
