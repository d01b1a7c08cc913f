import { describe, expect, it, test } from 'vitest';
import type { Span } from '../guardrail.ts';
import { TextScan } from '../text-scan.ts';
import { createPiiDetector } from './pii-detector.ts';
import { piiKinds } from './pii-kind.ts';

const detector = createPiiDetector(new Set(piiKinds));

function found(text: string): readonly string[] {
	const scan = new TextScan([detector], false);
	return scan.end(text).map(({ category, start, end }) => `${category} ${text.slice(start, end)}`);
}

const card = ['4111', '1111', '1111', '1111'];
const separators = [
	'',
	'  ',
	'\n',
	'\r\n',
	'\t',
	'_',
	'/',
	',',
	'+',
	':',
	'|',
	'*',
	', ',
	' | ',
	'; ',
	'--',
	' - ',
	'\n\n  ',
	'%20',
	'&nbsp;',
	'💳',
];
const disguised: readonly (readonly [string, string])[] = [
	...separators.map((separator) => ['card', card.join(separator)] as const),
	['card', '4111)(1111)(1111)(1111'],
	['card', '4111** **1111** **1111** **1111'],
	['card', '%34111111111111111'],
	['card', '&#52;&#x31;11111111111111'],
	['card', '4111\\u0031111 11111111'],
	['email', 'bob%40example.com'],
	['email', 'bob (at) example (dot) com'],
	['email', 'bob [at] example [dot] com'],
	['email', 'bob@example [dot] co [dot] uk'],
	['email', 'bob&commat;example&period;com'],
	['email', 'bob &#40;at&#41; example&#46;com'],
	['iban', 'DE89_3704_0044_0532_0130_00'],
	['iban', 'GB82\nWEST\n1234\n5698\n7654\n32'],
	['ssn', '078%2D05%2D1120'],
	['phone', '+1%20415%20555%202671'],
	['phone', '+44 20 7946 0958 ext. 123'],
	['phone', '415-555-2671x99'],
	['phone', '+49 (0)30 1234567 Durchwahl 12'],
	['email', 'bob at example dot com'],
	['email', 'bob @ example.com'],
	['email', 'bob(at)example dot com'],
	['ip', '192.0.2[.]17'],
	['api_key', '-----BEGIN RSA PRIVATE KEY-----'],
];

describe('personal data in disguise', () => {
	it.each(disguised)('is found, all of it: %s in %j', (kind, written) => {
		expect(found(`Hello, (${written}) and so on.`)).toEqual([`${kind} ${written}`]);
	});

	test.each(disguised)('is held back from its first character on and found, however it is cut: %s in %j', (kind, written) => {
		const text = `Hello you, ${written} and so on, as it was.`;
		const start = text.indexOf(written);
		const end = start + written.length;
		const cuts = [...Array(text.length).keys()].flatMap((first) => [
			[first],
			...[...Array(text.length - first).keys()].filter((more) => more % 3 === 1).map((more) => [first, first + more]),
		]);
		const mistakes: string[] = [];
		for (const cut of [...cuts, [...Array(text.length).keys()]]) {
			const scan = new TextScan([detector], false);
			const spans: Span[] = [];
			for (const [index, from] of [0, ...cut].entries()) {
				spans.push(...scan.push(text.slice(from, cut[index] ?? text.length)));
				if (spans.length === 0 && scan.decided > start) mistakes.push(`given away at ${scan.decided}, cut at ${cut.join(' and ')}`);
			}
			spans.push(...scan.end());
			const covering = spans.filter((span) => span.category === kind && span.start === start && span.end === end);
			if (covering.length !== 1) mistakes.push(`found ${JSON.stringify(spans)}, cut at ${cut.join(' and ')}`);
		}
		expect(mistakes.slice(0, 5)).toEqual([]);
	});

	test.each([
		['phone', 'Use ', '555-2671', ', my cell phone, or write'],
		['phone', 'Take ', '5552671', ' (tel) or come by'],
		['phone', 'There is ', '415 26 71', ' which is the office phone'],
		['ssn', 'So ', '078 05 1120', ' is my SSN, and more'],
		['ssn', 'So ', '078.05.1120', ' (social security), and more'],
		['ssn', 'So ', '078051120', ' is her social security number'],
	])('is held back until the label after it is known: %s, %s%s%s', (kind, before, number, after) => {
		const text = `${before}${number}${after}`;
		for (let cut = 0; cut < text.length; cut++) {
			for (const step of [1, 7, text.length]) {
				const scan = new TextScan([detector], false);
				const spans: Span[] = [...scan.push(text.slice(0, cut))];
				for (let at = cut; at < text.length; at += step) {
					spans.push(...scan.push(text.slice(at, at + step)));
					if (spans.length === 0) expect(scan.decided).toBeLessThanOrEqual(before.length);
				}
				spans.push(...scan.end());
				expect(spans.map(({ category, start, end }) => [category, text.slice(start, end)])).toEqual([[kind, number]]);
			}
		}
	});

	test('costs no more than a word or two of waiting', () => {
		for (const text of ['It is so.\n', 'Look (at the', 'an array[0] of', 'see a < b and', 'Ask @home how', '100% of']) {
			const scan = new TextScan([detector], false);
			scan.push(`Here we go again, as before: ${text}`);
			expect([text, scan.decided >= 29 + text.lastIndexOf(' ') - 8]).toEqual([text, true]);
		}
	});
});
