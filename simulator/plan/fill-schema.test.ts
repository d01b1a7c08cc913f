import { expect, test } from 'vitest';
import { z } from 'zod';
import { createSeededRandom } from '../seeded-random.ts';
import { fillSchema } from './fill-schema.ts';

const schemas: Record<string, object> = {
	'plain object': {
		type: 'object',
		properties: { city: { type: 'string' }, days: { type: 'integer' }, metric: { type: 'boolean' } },
		required: ['city'],
	},
	bounds: {
		type: 'object',
		properties: {
			low: { type: 'integer', minimum: 5, maximum: 6 },
			high: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
			step: { type: 'integer', multipleOf: 5, minimum: 12, maximum: 40 },
			long: { type: 'string', minLength: 30, maxLength: 31 },
			list: { type: 'array', items: { type: 'number' }, minItems: 3, maxItems: 3 },
		},
		required: ['low', 'high', 'step', 'long', 'list'],
	},
	'enum, const, null': {
		type: 'object',
		properties: { unit: { enum: ['C', 'F'] }, kind: { const: 'report' }, none: { type: 'null' }, maybe: { type: ['string', 'null'] } },
		required: ['unit', 'kind', 'none', 'maybe'],
		additionalProperties: false,
	},
	unions: { anyOf: [{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }, { type: 'number' }] },
	formats: {
		type: 'object',
		properties: {
			at: { type: 'string', format: 'date-time' },
			who: { type: 'string', format: 'email' },
			id: { type: 'string', format: 'uuid' },
		},
	},
	definitions: {
		type: 'object',
		properties: { items: { type: 'array', items: { $ref: '#/$defs/item' } } },
		required: ['items'],
		$defs: { item: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } },
	},
};

test.each(Object.entries(schemas))('%s', (_name, schema) => {
	for (let seed = 0; seed < 20; seed++) {
		const value = fillSchema(schema, { random: createSeededRandom(seed), strings: ['Paris'] });
		expect(z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]).safeParse(value)).toMatchObject({ success: true });
	}
});

test('a schema that contains itself ends', () => {
	const tree = {
		type: 'object',
		properties: { value: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } },
		required: ['value', 'children'],
	};
	expect(JSON.stringify(fillSchema(tree, { random: createSeededRandom(1), strings: [] })).length).toBeLessThan(10_000);
});

test('a property called __proto__ is a property', () => {
	const value = fillSchema(JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}'), {
		random: createSeededRandom(1),
		strings: ['x'],
	});
	expect(JSON.stringify(value)).toBe('{"__proto__":"x"}');
});
