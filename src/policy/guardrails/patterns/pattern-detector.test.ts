import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TextScan } from '../text-scan.ts';
import { createPatternDetector, whyNotPattern } from './pattern-detector.ts';

const shapes: readonly ((of: string, count: number) => string)[] = [
	(of) => `(${of}+)+$`,
	(of) => `(${of}|${of}${of})+$`,
	(of) => `(${of}*)*b`,
	(of) => `(.*${of}){12}`,
	(of) => `(${of}+${of}+)+y`,
	(of) => `^((${of})+.)+[A-Z]`,
	(of) => `(${of}+\\s?)+$`,
	(of) => `(.*)(.*)(.*)${of}(.*)x`,
	(of, count) => `${of}.{${count * 60}}b`,
	(of, count) => `(${of}?){${count * 15}}${of}{${count * 15}}`,
	(of, count) => `((${of}{1,${count * 8}}){1,${count * 8}})`,
	(of, count) => `(?i)(${of}|b|c){1,${count * 50}}z`,
	(of) => `(${of}|${of}?)+$`,
	(of) => `(${of}`,
	(of) => `(?=${of})`,
	(of) => `(${of})\\1`,
	(of) => `${of}{1001}`,
];
const atoms = ['a', '[a-z]', '\\w', '(?:a|b|ab)', '[^b]', '\\p{L}', '(?i:a)', '(?:é?a)'];
const hostile = atoms.flatMap((of) => shapes.flatMap((shape) => [1, 2, 5].map((count) => shape(of, count))));
const texts = ['a'.repeat(4096), 'ab '.repeat(1365), '1-'.repeat(2048), 'aé'.repeat(2048), '漢字'.repeat(2048)];

function find(pattern: string, text: string, isOpen = false): number {
	return createPatternDetector([{ name: 'one', pattern }]).find(text, isOpen, []);
}

/** Returns the text delivered before the first match; undefined if there is none. */
function deliveredBefore(pattern: string, pieces: readonly string[]): string | undefined {
	const scan = new TextScan([createPatternDetector([{ name: 'one', pattern }])], false);
	const text = pieces.join('');
	for (const piece of pieces) {
		const before = scan.decided;
		if (scan.push(piece).length > 0) return text.slice(0, before);
	}
	return scan.end().length > 0 ? text.slice(0, scan.decided === text.length ? scan.decided : 0) : undefined;
}

describe('patterns', () => {
	it('are rejected with the reason, or read 4 K characters in less than 100 ms, however hostile: two hundred of them', () => {
		expect(new Set(hostile).size).toBeGreaterThanOrEqual(200);
		let rejected = 0;
		for (const pattern of hostile) {
			if (whyNotPattern(pattern) !== undefined) {
				rejected++;
				continue;
			}
			for (const text of texts) {
				const cpuMs = (): number => {
					const before = process.threadCpuUsage();
					find(pattern, text, true);
					const { user, system } = process.threadCpuUsage(before);
					return (user + system) / 1000;
				};
				let best = cpuMs();
				for (let again = 0; again < 3 && best >= 100; again++) best = Math.min(best, cpuMs());
				expect([pattern, best < 100]).toEqual([pattern, true]);
			}
		}
		expect(rejected).toBeGreaterThan(80);
		expect(rejected).toBeLessThan(160);
	});

	it.each([
		['(', 'is not a valid RE2 pattern: error parsing regexp: missing closing ): `(`'],
		['a*', 'matches the empty text'],
		['(a{1,30}){1,30}', 'is too large once its repetitions are written out'],
		['x'.repeat(501), 'is longer than 500 characters'],
	])('reject %s', (pattern, why) => {
		expect(whyNotPattern(pattern)).toBe(why);
	});

	it.each([
		['TCK-[0-9]{6}', 'see TCK-12', 4],
		['TCK-[0-9]+', 'see TCK-123456', 4],
		['TCK-[0-9]+', 'see TCK-123456 and', 18],
		['\\bEMP\\d+\\b', 'an EMP12', 3],
		['A.*B', 'xA and so on', 1],
		['A.*B', 'xA and so on\n', 13],
		['foo', 'nothing here', 12],
		['foo$', 'say foo', 4],
		['(?i)straße', 'die STRAẞ', 4],
		['[\u{1f600}-\u{1f64f}]{3}', 'a \u{1f600}\u{1f601}', 2],
	])('%s is undecided in %j from %d on', (pattern, text, from) => {
		expect(find(pattern, text, true)).toBe(from);
	});

	it('deliver nothing of a match, however long it takes to become one', () => {
		const secret = `A${'x'.repeat(3000)}B`;
		for (const size of [1, 7, 100]) {
			const pieces = `it is ${secret}!`.match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
			expect(deliveredBefore('Ax+B', pieces)).toBe('it is ');
		}
	});

	it('find the same in a stream as in the whole, whatever the pattern and the text', () => {
		const patterns = ['TCK-[0-9]+', 'a+b', '\\bab\\b', '(ab|ba)+c', 'a.*c', '[ab]{3,5}c', '(?i)A{2}', 'é+\u{1f600}', 'ab$'];
		const piece = fc
			.stringMatching(/^(?:TCK-|[abc ]|1|é|A){0,4}$/u)
			.chain((text) => fc.constantFrom(text, `${text}\u{1f600}`, `${text}\n`));
		fc.assert(
			fc.property(fc.constantFrom(...patterns), fc.array(piece, { maxLength: 12 }), (pattern, pieces) => {
				const found = (parts: readonly string[]): readonly (readonly [number, number])[] => {
					const scan = new TextScan([createPatternDetector([{ name: 'one', pattern }])], false);
					const spans = [...parts.flatMap((part) => [...scan.push(part)]), ...scan.end()];
					return spans.map(({ start, end }) => [start, end]);
				};
				const whole = new TextScan([createPatternDetector([{ name: 'one', pattern }])], false);
				const expected = whole.end(pieces.join('')).map(({ start, end }) => [start, end]);
				expect(found(pieces)).toEqual(expected);
			}),
			{ numRuns: 1000 },
		);
	});
});
