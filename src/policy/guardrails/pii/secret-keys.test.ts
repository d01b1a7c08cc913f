/** Tests API keys by vendor, in code, settings, commands and prose, and ordinary text that resembles keys. */
import { describe, expect, it } from 'vitest';
import { isKeyFound, keyHalves, keyRows, keySeed, measureKeys, vendorCount } from '../../../../test/support/key-suite.ts';
import { TextScan } from '../text-scan.ts';
import { createPiiDetector } from './pii-detector.ts';
import { piiKinds } from './pii-kind.ts';

describe.each(keyHalves)(`keys of many vendors, %s, seed ${keySeed}`, (half) => {
	const figures = measureKeys(half);

	it('at least nine in ten are found, and nearly all that a label stands before', () => {
		expect(figures.keys).toBeGreaterThanOrEqual(350);
		expect(figures.found / figures.keys).toBeGreaterThanOrEqual(0.9);
		expect(figures.foundLabelled / figures.labelled).toBeGreaterThanOrEqual(0.97);
	});

	it('at most one in a hundred rows that only look like keys is flagged', () => {
		expect(figures.ordinary).toBeGreaterThanOrEqual(170);
		expect(figures.flagged / figures.ordinary).toBeLessThanOrEqual(0.01);
	});
});

it('the suite has many vendors and no row twice', () => {
	expect(vendorCount).toBeGreaterThanOrEqual(120);
	expect(new Set(keyRows.map(({ text }) => text)).size).toBe(keyRows.length);
});

describe('a key', () => {
	const detector = createPiiDetector(new Set(piiKinds));
	const bare = 'a7Kd93jQ2xLmP04vTzW8rB5y';
	const found = (text: string): readonly string[] =>
		new TextScan([detector], false).end(text).map(({ category, start, end }) => `${category} ${text.slice(start, end)}`);

	it.each([
		['that its label is all that tells of', `MISTRAL_API_KEY=${bare}`, bare],
		['in a header', `Authorization: Bearer ${bare}`, bare],
		['of an object in code', `new Client({ apiKey: '${bare}' })`, bare],
		['in a query', `https://api.example.com/?api_key=${bare}&page=2`, bare],
		['in German', `Mein API-Schlüssel lautet ${bare}.`, bare],
		['in French', `ma clé API est ${bare}`, bare],
		['whose beginning no list has, and that says what it is', `see acme_pat_${bare}`, `acme_pat_${bare}`],
		['that begins and ends in a sign', `token: -${bare}_`, `-${bare}_`],
	])('%s is found', (_what, text, key) => {
		expect(found(text)).toEqual([`api_key ${key}`]);
	});

	it.each([
		`cache key: ${bare}`,
		`next_page_token=${bare}`,
		`idempotency-key: ${bare}`,
		`the key to ${bare}`,
		'token: 2026-11-25T10:00:00Z-2026-11-26',
		'api_key = settings_for_the_customer_of_2024',
		`AIza${'X'.repeat(35)}`,
		`secret: sha256:${'0a1b2c3d'.repeat(8)}`,
	])('is not seen in %s', (text) => {
		expect(found(text)).toEqual([]);
	});

	it('is found however the text is cut', () => {
		for (const row of keyRows.filter(({ key, isLabelled }) => key !== '' && isLabelled).filter((_row, index) => index % 97 === 0)) {
			if (!isKeyFound(row)) continue;
			const start = row.text.indexOf(row.key);
			for (let cut = 1; cut < row.text.length; cut++) {
				const scan = new TextScan([detector], false);
				const first = scan.push(row.text.slice(0, cut));
				expect([row.family, cut, cut <= start || scan.decided <= start || first.length > 0]).toEqual([row.family, cut, true]);
				const spans = [...first, ...scan.end(row.text.slice(cut))];
				expect([row.family, cut, spans.some((span) => span.start <= start && span.end >= start + row.key.length)]).toEqual([
					row.family,
					cut,
					true,
				]);
			}
		}
	});
});
