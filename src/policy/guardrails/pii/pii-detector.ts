import { type PlainText, plainDigits, unescapedDigits } from '../folding/plain-digits.ts';
import { settledEnd } from '../folding/read-unit.ts';
import type { Span, SpanDetector } from '../guardrail.ts';
import { findPii } from './find-pii.ts';
import { livePiiStart, longestPii } from './live-start.ts';
import type { PiiKind, PiiMatch } from './pii-kind.ts';

/** What overlaps is one match: beyond, no more of a chain of addresses waits for its end. */
const mostHeld = 2 * longestPii;

/** What an escape begins with, and the first half of a character. */
const mayChange = /[%&\\\ud800-\udbff]/;

/** Texts are read as they stand, and once more with their escapes resolved. */
export function createPiiDetector(wanted: ReadonlySet<PiiKind>): SpanDetector {
	const read = ({ text, places }: PlainText, isOpen: boolean, spans: Span[]): number => {
		const matches = findPii(text, wanted);
		for (const { kind, start, end } of matches) {
			spans.push({ policy: 'pii', category: kind, start: places?.[start] ?? start, end: places?.[end] ?? end });
		}
		const live = isOpen ? beforeMatch(matches, livePiiStart(text), text.length - mostHeld) : text.length;
		return places?.[live] ?? live;
	};
	return {
		find(text, isOpen, spans) {
			const live = read(plainDigits(text), isOpen, spans);
			if (!mayChange.test(text)) return live;
			// Half an escape says nothing yet.
			const settled = isOpen ? text.slice(0, settledEnd(text)) : text;
			const unescaped = unescapedDigits(settled) ?? (settled.length < text.length ? plainDigits(settled) : undefined);
			return unescaped === undefined ? live : Math.min(live, read(unescaped, isOpen, spans));
		},
	};
}

/** @returns where the match begins that goes on with what is undecided, as long as that is not before `least`. */
function beforeMatch(matches: readonly PiiMatch[], live: number, least: number): number {
	return matches.find(({ start, end }) => start < live && end > live && start >= least)?.start ?? live;
}
