/** Tests that values fit any generated schema, with a validator that shares no code with the generator. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { schemaErrors } from '../../test/support/json-schema-validator.ts';
import { createSeededRandom } from '../seeded-random.ts';
import { fillPattern } from './fill-pattern.ts';
import { fillSchema } from './fill-schema.ts';

type Schema = Record<string, unknown>;

const name = fc.constantFrom(
	'city',
	'days',
	'unit',
	'list',
	'a b',
	'né',
	'type',
	'properties',
	'items',
	'__proto__',
	'constructor',
	'$ref',
	'x_1',
);
const bounds = fc.tuple(fc.integer({ min: -50, max: 50 }), fc.integer({ min: 0, max: 60 }));

const strings = fc.oneof(
	fc.record({ type: fc.constant('string'), minLength: fc.nat(40) }, { requiredKeys: ['type'] }),
	fc.nat(12).chain((min) => fc.nat(8).map((more) => ({ type: 'string', minLength: min, maxLength: min + more }))),
	fc
		.constantFrom('date', 'date-time', 'time', 'duration', 'email', 'uri', 'uuid', 'hostname', 'ipv4', 'ipv6')
		.map((format) => ({ type: 'string', format })),
	fc
		.constantFrom(
			'^[A-Z]{3}-\\d{4}$',
			'^\\+?[1-9]\\d{1,14}$',
			'[a-f0-9]+',
			'^(?:red|green)-(\\w+)$',
			'^[^@\\s]+@x\\.org$',
			'^#[0-9A-Fa-f]{6}$',
			'^v\\d+(\\.\\d+){2}$',
		)
		.map((pattern) => ({ type: 'string', pattern })),
);

const numbers = fc.oneof(
	bounds.map(([minimum, spread]) => ({ type: 'integer', minimum, maximum: minimum + spread })),
	bounds.map(([min, spread]) => ({ type: 'integer', exclusiveMinimum: min, exclusiveMaximum: min + spread + 2 })),
	bounds.map(([minimum]) => ({ type: 'number', minimum })),
	bounds.map(([maximum]) => ({ type: 'number', maximum })),
	bounds.map(([min, spread]) => ({ type: 'number', exclusiveMinimum: min / 7, exclusiveMaximum: (min + spread + 1) / 7 })),
	fc.constantFrom(0.01, 0.1, 0.25, 3, 7).chain((multipleOf) => bounds.map(([minimum]) => ({ type: 'number', multipleOf, minimum }))),
	fc.constantFrom(0.5, 2, 5).map((multipleOf) => ({ type: 'integer', multipleOf })),
);

const plain = fc.oneof(
	strings,
	numbers,
	fc.constantFrom<Schema>({ type: 'boolean' }, { type: 'null' }, {}, { type: ['string', 'null'] }, { type: 'integer', nullable: true }),
	fc
		.uniqueArray(fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)), { minLength: 1, maxLength: 4 })
		.map((values) => ({ enum: values })),
	fc.jsonValue({ maxDepth: 2 }).map((value) => ({ const: value })),
);

const { schema } = fc.letrec<{ schema: Schema }>((tie) => ({
	schema: fc.oneof(
		{ depthSize: 'small', withCrossShrink: true },
		plain,
		fc.uniqueArray(fc.tuple(name, tie('schema'), fc.boolean()), { maxLength: 4, selector: ([one]) => one }).map((members) => ({
			type: 'object',
			properties: Object.fromEntries(members.map(([key, value]) => [key, value])),
			required: members.filter(([, , isRequired]) => isRequired).map(([key]) => key),
			additionalProperties: false,
		})),
		fc
			.tuple(tie('schema'), fc.nat(4), fc.nat(3))
			.map(([items, minItems, more]) => ({ type: 'array', items, minItems, maxItems: minItems + more })),
		fc
			.tuple(strings, fc.nat(3))
			.map(([items]) => ({ type: 'array', items: { ...items, minLength: undefined }, uniqueItems: true, minItems: 1 })),
		fc.tuple(tie('schema'), tie('schema')).map(([one, other]) => ({ type: 'array', prefixItems: [one, other], items: false })),
		fc.tuple(tie('schema'), fc.nat(3)).map(([value, minProperties]) => ({ type: 'object', additionalProperties: value, minProperties })),
		fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
		tie('schema').map((one) => ({ oneOf: [one] })),
		fc.tuple(name, tie('schema'), name, tie('schema')).map(([one, first, other, second]) => ({
			allOf: [
				{ type: 'object', properties: { [`1${one}`]: first }, required: [`1${one}`] },
				{ type: 'object', properties: { [`2${other}`]: second } },
			],
		})),
		fc.constantFrom<Schema>({ $ref: '#/$defs/tree' }, { $ref: '#/$defs/chain' }, { $ref: '#/$defs/a~1b%20c' }, { $ref: '#' }),
	),
}));

const $defs = {
	tree: {
		type: 'object',
		properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/tree' } } },
		required: ['name', 'children'],
		additionalProperties: false,
	},
	chain: {
		type: 'object',
		properties: { value: { type: 'integer' }, next: { anyOf: [{ $ref: '#/$defs/chain' }, { type: 'null' }] } },
		required: ['value', 'next'],
		additionalProperties: false,
	},
	'a/b c': { enum: ['x', 'y'], description: 'with a name that a pointer must escape' },
};

/** Tells whether a finite value exists. `#` refers to the whole schema; a schema that requires itself at once has no value. */
function canEnd(root: Schema): boolean {
	const demands = (node: unknown): boolean => {
		if (typeof node !== 'object' || node === null) return false;
		if (Array.isArray(node)) return node.some(demands);
		return Object.entries(node).some(
			([key, value]) => (key === '$ref' && value === '#') || (key !== 'const' && key !== 'enum' && demands(value)),
		);
	};
	return !demands(root);
}

test('values fit generated schemas', () => {
	fc.assert(
		fc.property(schema, fc.nat(), (generated, seed) => {
			const root = { $defs, ...generated };
			fc.pre(canEnd(root));
			const value: unknown = JSON.parse(JSON.stringify(fillSchema(root, { random: createSeededRandom(seed), strings: [] })));
			expect(schemaErrors(root, value)).toEqual([]);
		}),
		{ numRuns: 1500 },
	);
});

test('a schema that leads back to itself ends, whatever it demands', () => {
	fc.assert(
		fc.property(schema, (generated) => {
			const text = JSON.stringify(fillSchema({ $defs, ...generated }, { random: createSeededRandom(1), strings: [] }));
			expect(text === undefined || text.length < 10_000_000).toBe(true);
		}),
		{ numRuns: 300 },
	);
	const all = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`p${index}`, { $ref: '#' }]));
	const endless = { type: 'object', properties: all, required: Object.keys(all) };
	expect(() => fillSchema(endless, { random: createSeededRandom(1), strings: [] })).not.toThrow();
});

const linked: Schema = {
	type: 'object',
	properties: {
		head: { $ref: '#/$defs/node', description: 'beside a reference' },
		kind: {
			oneOf: [
				{ type: 'string', const: 'a' },
				{ type: 'integer', minimum: 3 },
			],
		},
		shape: {
			anyOf: [
				{
					type: 'object',
					properties: { type: { const: 'circle' }, radius: { type: 'number', exclusiveMinimum: 0 } },
					required: ['type', 'radius'],
				},
				{ type: 'object', properties: { type: { const: 'square' } }, required: ['type'] },
			],
		},
		pair: { type: 'array', contains: { type: 'integer', minimum: 5 }, items: { type: 'integer' }, minItems: 2 },
		map: { type: 'object', propertyNames: { pattern: '^[a-z]{4,6}$' }, additionalProperties: { type: 'boolean' }, minProperties: 2 },
		flags: {
			type: 'object',
			patternProperties: { '^x_': { type: 'integer' } },
			properties: { x_a: { minimum: 9 } },
			required: ['x_a', 'x_b'],
		},
		unique: { type: 'array', items: { enum: ['a', 'b', 'c'] }, uniqueItems: true, minItems: 3 },
	},
	required: ['head', 'kind', 'shape', 'pair', 'map', 'flags', 'unique'],
	additionalProperties: false,
	$defs: {
		node: { type: 'object', properties: { next: { oneOf: [{ type: 'null' }, { $ref: '#/$defs/node' }] } }, required: ['next'] },
		required: { type: 'object', properties: { self: { anyOf: [{ $ref: '#/$defs/required' }, { type: 'string' }] } }, required: ['self'] },
	},
};

test.each([
	['references, unions, records and sets', linked],
	['a branch that cannot end is not taken', { $ref: '#/$defs/required', $defs: linked['$defs'] }],
	['types in capitals, as Gemini writes them', { type: 'OBJECT', properties: { n: { type: 'INTEGER', nullable: true } }, required: ['n'] }],
])('%s', (_name, root) => {
	for (let seed = 0; seed < 50; seed++) {
		const value = fillSchema(root, { random: createSeededRandom(seed), strings: ['Paris'] });
		expect(schemaErrors(root, value)).toEqual([]);
	}
});

test.each([
	['^a{2,}$', 9, 9],
	['^(ab)+$', 5, 10],
	['x|y', 0, 1],
	['^\\d{3}-[\\w.]{2}\\/\\x41\\u0042$', 0, 99],
	['^[^a-z]$', 0, 1],
	['^\\S+\\s\\D$', 10, 20],
	['b+', 0, 30],
	['b', 30, 30],
	['^b', 30, 30],
	['b$', 30, 30],
	['^(?<year>\\d{4})(?:-\\d\\d)?$', 5, 7],
])('of %s a text of %i to %i characters', (pattern, min, max) => {
	const text = fillPattern(pattern, min, max) ?? '';
	expect(text).toMatch(new RegExp(pattern, 'u'));
	expect(text.length).toBeGreaterThanOrEqual(min);
	expect(text.length).toBeLessThanOrEqual(max);
});

test.each(['(?=a)b', '(a)\\1', '\\bword', '\\p{L}+', '(', '[', 'a{', '*', '(?i)x'])('%j is left to a plain text, or matched', (pattern) => {
	expect(() => fillPattern(pattern, 0, 10)).not.toThrow();
});
