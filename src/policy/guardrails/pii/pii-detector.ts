import { type PlainText, plainDigits, unescapedDigits } from '../folding/plain-digits.ts';
import { settledEnd } from '../folding/read-unit.ts';
import type { Span, SpanDetector } from '../guardrail.ts';
import { findPii } from './find-pii.ts';
import { livePiiStart } from './live-start.ts';
import type { PiiKind } from './pii-kind.ts';

/** Texts are read as they stand, and once more with their escapes resolved. */
export function createPiiDetector(wanted: ReadonlySet<PiiKind>): SpanDetector {
	const read = ({ text, places }: PlainText, isOpen: boolean, spans: Span[]): number => {
		for (const { kind, start, end } of findPii(text, wanted)) {
			spans.push({ policy: 'pii', category: kind, start: places?.[start] ?? start, end: places?.[end] ?? end });
		}
		const live = isOpen ? livePiiStart(text) : text.length;
		return places?.[live] ?? live;
	};
	return {
		find(text, isOpen, spans) {
			const live = read(plainDigits(text), isOpen, spans);
			// Half an escape says nothing yet.
			const settled = isOpen ? text.slice(0, settledEnd(text)) : text;
			const unescaped = unescapedDigits(settled) ?? (settled.length < text.length ? plainDigits(settled) : undefined);
			return unescaped === undefined ? live : Math.min(live, read(unescaped, isOpen, spans));
		},
	};
}
