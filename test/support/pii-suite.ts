/** Runs the PII detector over the suite of annotated texts. */
import { readFileSync } from 'node:fs';
import { plainDigits } from '../../src/policy/guardrails/folding/plain-digits.ts';
import { findPii } from '../../src/policy/guardrails/pii/pii-detector.ts';
import { type PiiKind, piiKinds } from '../../src/policy/guardrails/pii/pii-kind.ts';

interface SuiteRow {
	readonly template_id: number;
	readonly text: string;
	readonly spans: readonly { readonly type: string; readonly start: number; readonly end: number }[];
}

export interface Recall {
	readonly kind: PiiKind;
	readonly found: number;
	readonly marked: number;
}

export interface PiiMeasurements {
	/** Recall for the templates that were read while rules were written, and for the others. */
	readonly tuned: readonly Recall[];
	readonly other: readonly Recall[];
	readonly cleanRows: number;
	readonly flaggedRows: number;
}

const kindOf: Readonly<Record<string, PiiKind>> = {
	EMAIL_ADDRESS: 'email',
	CREDIT_CARD: 'card',
	US_SSN: 'ssn',
	IBAN_CODE: 'iban',
	IP_ADDRESS: 'ip',
	PHONE_NUMBER: 'phone',
};
const wanted: ReadonlySet<PiiKind> = new Set(piiKinds);

export function measurePii(): PiiMeasurements {
	const halves = [new Map<PiiKind, [number, number]>(), new Map<PiiKind, [number, number]>()] as const;
	let cleanRows = 0;
	let flaggedRows = 0;
	for (const row of readRows()) {
		const { text, positions: places } = plainDigits(row.text);
		const found = findPii(text, wanted);
		const marked = row.spans.filter(({ type }) => kindOf[type] !== undefined);
		if (marked.length === 0) {
			cleanRows++;
			if (found.length > 0) flaggedRows++;
		}
		const half = halves[row.template_id % 3 === 2 ? 1 : 0];
		for (const { type, start, end } of marked) {
			const kind = kindOf[type] as PiiKind;
			const hit = found.some(
				(one) => one.kind === kind && (places?.[one.start] ?? one.start) < end && (places?.[one.end] ?? one.end) > start,
			);
			const [hits, all] = half.get(kind) ?? [0, 0];
			half.set(kind, [hits + (hit ? 1 : 0), all + 1]);
		}
	}
	return { tuned: recallOf(halves[0]), other: recallOf(halves[1]), cleanRows, flaggedRows };
}

function readRows(): readonly SuiteRow[] {
	const lines = readFileSync(new URL('../suites/pii/rows.jsonl', import.meta.url), 'utf8')
		.trim()
		.split('\n');
	return lines.map((line) => JSON.parse(line) as SuiteRow);
}

function recallOf(half: ReadonlyMap<PiiKind, readonly [number, number]>): readonly Recall[] {
	return [...half].map(([kind, [found, marked]]) => ({ kind, found, marked })).toSorted((one, other) => (one.kind < other.kind ? -1 : 1));
}
