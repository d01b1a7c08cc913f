import { plainDigits } from '../folding/plain-digits.ts';
import type { Span, SpanDetector } from '../guardrail.ts';
import { findPii, livePiiStart } from './find-pii.ts';
import type { PiiKind } from './pii-kind.ts';

export function createPiiDetector(wanted: ReadonlySet<PiiKind>): SpanDetector {
	return {
		find(text, isOpen, spans) {
			const plain = plainDigits(text);
			const { places } = plain;
			for (const { kind, start, end } of findPii(plain.text, wanted)) spans.push(span(kind, start, end, places));
			if (!isOpen) return text.length;
			const live = livePiiStart(plain.text);
			return places?.[live] ?? live;
		},
	};
}

function span(kind: PiiKind, start: number, end: number, places: Int32Array | undefined): Span {
	return { policy: 'pii', category: kind, start: places?.[start] ?? start, end: places?.[end] ?? end };
}
