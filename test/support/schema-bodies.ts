/** Bodies that are valid under a JSON Schema, and bodies that are nearly valid. */
import fc from 'fast-check';

type Json = Readonly<Record<string, unknown>>;

export interface Hints {
	/** Texts with a meaning for the receiver, such as ids of records. */
	readonly texts: readonly string[];
	/** Texts that most members of this name consist of. */
	readonly members: Readonly<Record<string, readonly string[]>>;
}

const hostileTexts = [
	'',
	' ',
	'0',
	'-1',
	'1e999',
	'null',
	'\u0000',
	'\ud800',
	'../..',
	"'; DROP TABLE teams; --",
	'٣',
	'x'.repeat(300),
	'=1+1',
	'__proto__',
];
const hostileNumbers = [-1, -0, 0.5, 1e21, Number.MAX_SAFE_INTEGER, 2 ** 53, -(2 ** 31), 1e-9];

export function schemaBodies(schema: Json, hints: Hints): fc.Arbitrary<unknown> {
	const { $defs = {}, ...root } = schema as Json & { $defs?: Readonly<Record<string, Json>> };
	const maker = new BodyMaker($defs, hints);
	return fc.oneof({ weight: 30, arbitrary: maker.legal(root) }, { weight: 1, arbitrary: maker.junk });
}

class BodyMaker {
	readonly junk: fc.Arbitrary<unknown>;
	readonly #defs: Readonly<Record<string, Json>>;
	readonly #hints: Hints;

	constructor(defs: Readonly<Record<string, Json>>, hints: Hints) {
		this.#defs = defs;
		this.#hints = hints;
		this.junk = fc.oneof(
			fc.constantFrom(...hostileTexts, ...hints.texts),
			fc.constantFrom(...hostileNumbers),
			fc.jsonValue({ maxDepth: 2 }),
			fc.constantFrom(null, true, [], {}, [[]], { a: {} }),
		);
	}

	/** Generates valid values, and objects with one error. */
	legal(schema: Json, name?: string): fc.Arbitrary<unknown> {
		const { $ref, anyOf, type, items } = schema;
		if (typeof $ref === 'string') return this.legal(this.#defs[$ref.replace('#/$defs/', '')] ?? {}, name);
		if (Array.isArray(anyOf)) return fc.oneof(...(anyOf as Json[]).map((one) => this.legal(one, name)));
		if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as unknown[]));
		if ('const' in schema) return fc.constant(schema['const']);
		if (Array.isArray(type)) return fc.oneof(...type.map((one) => this.legal({ ...schema, type: one as unknown }, name)));
		switch (type) {
			case 'object':
				return this.#object(schema, name === undefined);
			case 'array':
				return fc.uniqueArray(this.legal(items as Json, name), { minLength: numberOf(schema['minItems'], 0), maxLength: 4 });
			case 'string':
				return this.#text(schema, name);
			case 'integer':
				return fc.integer({ min: numberOf(schema['minimum'], 0), max: Math.min(numberOf(schema['maximum'], 1000), 2 ** 31) });
			case 'boolean':
				return fc.boolean();
			case 'null':
				return fc.constant(null);
			default:
				return this.junk;
		}
	}

	#object({ properties = {}, required = [], additionalProperties: others }: Json, isRoot: boolean): fc.Arbitrary<unknown> {
		const known = Object.entries(properties as Record<string, Json>);
		const names = known.map(([name]) => name);
		const legal = fc.record(Object.fromEntries(known.map(([name, schema]) => [name, this.legal(schema, name)])), {
			requiredKeys: required as string[],
		});
		if (names.length === 0) {
			const keys = fc.oneof({ weight: 15, arbitrary: fc.constantFrom('owner', 'cost-centre') }, fc.constantFrom('', '__proto__'));
			return fc.dictionary(keys, this.legal(others as Json, 'value'), { maxKeys: 2 });
		}
		const wrongNames = fc.constantFrom(...names, 'extra', 'Name', '__proto__', 'constructor');
		const wrong = fc.tuple(legal, wrongNames, this.junk).map(([body, name, value]) => ({ ...body, [name]: value }));
		const lacking = fc
			.tuple(legal, fc.constantFrom(...names))
			.map(([body, lost]) => Object.fromEntries(Object.entries(body).filter(([name]) => name !== lost)));
		// Errors are rare further down, or a body with many members would never be valid.
		return fc.oneof({ weight: isRoot ? 5 : 40, arbitrary: legal }, { weight: 2, arbitrary: wrong }, { weight: 1, arbitrary: lacking });
	}

	#text({ pattern, maxLength }: Json, name: string | undefined): fc.Arbitrary<string> {
		const hinted = name !== undefined && Object.hasOwn(this.#hints.members, name) ? this.#hints.members[name] : undefined;
		if (hinted !== undefined) return fc.oneof({ weight: 15, arbitrary: fc.constantFrom(...hinted) }, fc.constantFrom(...hostileTexts));
		const free = fc.string({ maxLength: Math.min(numberOf(maxLength, 40), 40) });
		if (typeof pattern !== 'string') return fc.oneof(fc.constantFrom(...this.#hints.texts), free);
		const exact = new RegExp(pattern, 'u');
		const fitting = this.#hints.texts.filter((text) => exact.test(text));
		return fitting.length === 0 ? fc.stringMatching(exact) : fc.oneof(fc.stringMatching(exact), fc.constantFrom(...fitting));
	}
}

function numberOf(value: unknown, otherwise: number): number {
	return typeof value === 'number' ? value : otherwise;
}
