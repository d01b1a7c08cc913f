import fc from 'fast-check';
import { expect, it } from 'vitest';
import { KeyScan, WantedKeys } from './key-scan.ts';

const names = ['content', 'text', 'usage'];
const wanted = new WantedKeys(names);

/** `depth name length` of each wanted member, found by the scan; the length of a text as written, -1 for other values. */
function scanned(bytes: Buffer, from = 0, end = bytes.length): string[] {
	const scan = new KeyScan(wanted);
	const found: string[] = [];
	scan.start(bytes, from, end);
	while (scan.next()) found.push(`${scan.depth} ${names[scan.name]} ${scan.skipText()}`);
	return found;
}

/** The same, found by walking over the value. */
function walked(value: unknown, depth = 0): string[] {
	if (typeof value !== 'object' || value === null) return [];
	if (Array.isArray(value)) return value.flatMap((item) => walked(item, depth + 1));
	return Object.entries(value).flatMap(([name, member]) => {
		const length = typeof member === 'string' ? Buffer.byteLength(JSON.stringify(member)) - 2 : -1;
		return [...(names.includes(name) ? [`${depth + 1} ${name} ${length}`] : []), ...walked(member, depth + 1)];
	});
}

const text = fc.oneof(
	fc.string(),
	fc.string({ unit: 'binary' }),
	fc.array(fc.constantFrom('\\', '"', '"content":"', 'x'.repeat(50), '{', ']'), { maxLength: 12 }).map((pieces) => pieces.join('')),
);
const { value: json } = fc.letrec<{ value: unknown }>((tie) => ({
	value: fc.oneof(
		{ maxDepth: 5 },
		text,
		fc.constantFrom(null, true, 1.5e9),
		fc.array(tie('value'), { maxLength: 3 }),
		fc.dictionary(fc.oneof(fc.constantFrom(...names), text), tie('value'), { maxKeys: 4 }),
	),
}));

it('finds what parsing finds, however the JSON is spaced', () => {
	fc.assert(
		fc.property(json, fc.constantFrom(undefined, 1, '\t'), (value, space) => {
			// Events contain JSON line by line; here all is one line.
			const line = JSON.stringify(value, null, space).replaceAll('\n', ' ');
			expect(scanned(Buffer.from(line))).toEqual(walked(JSON.parse(line)));
		}),
		{ numRuns: 1000 },
	);
});

it('stays within its line', () => {
	const bytes = Buffer.from('{"content":"abc","text" "usage":{}}"text":"def"');
	for (let end = 0; end <= bytes.length; end++) expect(scanned(bytes, 0, end).length).toBeLessThanOrEqual(3);
	expect(scanned(bytes, 0, 14)).toEqual(['1 content 2']);
	expect(scanned(bytes, 17, 34)).toEqual(['0 usage -1']);
});
