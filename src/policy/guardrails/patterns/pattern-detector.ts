/** Detects operators' own patterns with RE2, whose time is linear in the text, so that no pattern can block the process. */
import { RE2JS } from 're2js';
import type { Span, SpanDetector } from '../guardrail.ts';
import { PatternProgress } from './pattern-progress.ts';

export interface PatternSettings {
	readonly name: string;
	readonly pattern: string;
}

export const maxPatternLength = 500;
/** Maximum number of instructions of a compiled pattern: `(a{100}){100}` is short but costs as much as a long one. */
const maxProgram = 500;
const maxMatches = 1000;

/** @returns the reason why the pattern is not supported; undefined if it is. */
export function whyNotPattern(pattern: string): string | undefined {
	if (pattern.length > maxPatternLength) return `is longer than ${maxPatternLength} characters`;
	try {
		const compiled = RE2JS.compile(pattern);
		if (compiled.programSize() > maxProgram) return 'is too large once its repetitions are written out';
		return compiled.matcher('').find() ? 'matches the empty text' : undefined;
	} catch (cause) {
		return `is not a valid RE2 pattern: ${cause instanceof Error ? cause.message : String(cause)}`;
	}
}

/** @throws RE2JSException for a pattern that `whyNotPattern` rejects. */
export function createPatternDetector(patterns: readonly PatternSettings[]): SpanDetector {
	const compiled = patterns.map(({ name, pattern }) => {
		const one = RE2JS.compile(pattern);
		return { name, compiled: one, progress: new PatternProgress(one) };
	});
	return {
		find(text, isOpen, spans) {
			let live = text.length;
			for (const { name, compiled: pattern, progress } of compiled) {
				const { canMatch, openFrom } = progress.read(text);
				if (canMatch) addMatches(pattern, name, text, spans);
				if (isOpen) live = Math.min(live, openFrom);
			}
			return live;
		},
	};
}

function addMatches(pattern: RE2JS, category: string, text: string, spans: Span[]): void {
	const matcher = pattern.matcher(text);
	for (let count = 0; count < maxMatches && matcher.find(); count++) {
		if (matcher.end() > matcher.start()) spans.push({ policy: 'patterns', category, start: matcher.start(), end: matcher.end() });
	}
}
