import { RE2JS } from 're2js';
import { isObject, type JsonObject, listOf, numberOf, textOf } from '../json-value.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { fillNumber } from './fill-number.ts';
import { fillPattern } from './fill-pattern.ts';
import { mergeSchemas, typesOf } from './merge-schemas.ts';

export interface SchemaFilling {
	readonly random: SeededRandom;
	/** Names and the like, which string fields use in order. */
	readonly strings: readonly string[];
}

/** Depth from which a schema gets its minimal value, so that recursive schemas end. */
const deepest = 8;
const maxValues = 2000;
/** Maximum length of a chain of references. */
const maxReferences = 32;
/** Maximum number of measured schemas, because schemas can refer to each other in many ways. */
const maxMeasured = 20_000;
/** Depth limit for schemas that require themselves, whose value would exceed memory and the call stack. */
const hardDepth = 60;
const hardValues = 10_000;

/** Generates a value that fits a JSON schema, with required and optional properties, in JSON Schema's or Gemini's keywords. */
export function fillSchema(schema: unknown, filling: SchemaFilling): unknown {
	return new SchemaFiller(schema, filling).fill(schema, 0);
}

class SchemaFiller {
	readonly #root: unknown;
	readonly #random: SeededRandom;
	readonly #strings: readonly string[];
	readonly #heights = new Map<unknown, number>();
	#usedStrings = 0;
	#values = 0;
	#measured = 0;

	constructor(root: unknown, { random, strings }: SchemaFilling) {
		this.#root = root;
		this.#random = random;
		this.#strings = strings;
	}

	fill(schema: unknown, depth: number): unknown {
		this.#values++;
		if (depth > hardDepth || this.#values > hardValues) return null;
		const isMinimal = depth >= deepest || this.#values > maxValues;
		const node = this.#choose(schema, isMinimal);
		if ('const' in node) return node['const'];
		const types = node['nullable'] === true ? [...typesOf(node['type']), 'null'] : typesOf(node['type']);
		if (Array.isArray(node['enum'])) {
			const fitting = listOf(node['enum']).filter((value) => types.length === 0 || types.some((type) => isOfType(value, type)));
			return this.#random.pick(fitting, listOf(node['enum'])[0] ?? null);
		}
		switch (isMinimal && types.includes('null') ? 'null' : (types[0] ?? guessType(node))) {
			case 'object':
				return this.#fillObject(node, depth, isMinimal);
			case 'array':
				return this.#fillArray(node, depth, isMinimal);
			case 'integer':
				return fillNumber(node, true, this.#random);
			case 'number':
				return fillNumber(node, false, this.#random);
			case 'boolean':
				return this.#random.next() < 0.5;
			case 'null':
				return null;
			default:
				return this.#fillString(node);
		}
	}

	/** Resolves a schema to a plain one: follows references, merges `allOf`, picks one option of a union. */
	#choose(schema: unknown, isMinimal: boolean): JsonObject {
		let node: JsonObject = isObject(schema) ? schema : {};
		for (let step = 0; step < maxReferences; step++) {
			const { $ref: reference, allOf, anyOf, oneOf, ...rest } = node;
			if (typeof reference === 'string') {
				const found = resolve(this.#root, reference);
				node = mergeSchemas(isObject(found) ? found : {}, { ...rest, ...givenOf({ allOf, anyOf, oneOf }) });
			} else if (Array.isArray(allOf)) {
				node = allOf.filter(isObject).reduce<JsonObject>(mergeSchemas, { ...rest, ...givenOf({ anyOf, oneOf }) });
			} else if (Array.isArray(anyOf) && anyOf.length > 0) {
				node = mergeSchemas({ ...rest, ...givenOf({ oneOf }) }, this.#pickOption(anyOf, isMinimal));
			} else if (Array.isArray(oneOf) && oneOf.length > 0) {
				node = mergeSchemas(rest, this.#pickOption(oneOf, isMinimal));
			} else {
				break;
			}
		}
		return node;
	}

	/** Picks the first option with a finite value, or the flattest one for a minimal value. */
	#pickOption(options: readonly unknown[], isMinimal: boolean): JsonObject {
		const known = options.filter(isObject);
		const finite = known.filter((option) => this.#heightOf(option) < Number.POSITIVE_INFINITY);
		if (!isMinimal) return finite[0] ?? known[0] ?? {};
		return finite.toSorted((one, other) => this.#heightOf(one) - this.#heightOf(other))[0] ?? known[0] ?? {};
	}

	/** Returns the depth of the flattest value of a schema; infinite for one that requires itself. */
	#heightOf(schema: unknown): number {
		if (!isObject(schema)) return 0;
		const known = this.#heights.get(schema);
		if (known !== undefined) return known;
		if (this.#measured++ > maxMeasured) return Number.POSITIVE_INFINITY;
		// A schema within itself counts as infinite until its height is known.
		this.#heights.set(schema, Number.POSITIVE_INFINITY);
		const parts: number[] = [0];
		if (typeof schema['$ref'] === 'string') parts.push(this.#heightOf(resolve(this.#root, schema['$ref'])));
		for (const keyword of ['anyOf', 'oneOf']) {
			const options = listOf(schema[keyword]);
			if (options.length > 0) parts.push(Math.min(...options.map((option) => this.#heightOf(option))));
		}
		parts.push(...listOf(schema['allOf']).map((part) => this.#heightOf(part)));
		const properties = isObject(schema['properties']) ? schema['properties'] : {};
		const isNullable = schema['nullable'] === true || typesOf(schema['type']).includes('null');
		if (!isNullable) {
			for (const name of listOf(schema['required'])) parts.push(1 + this.#heightOf(ownOf(properties, textOf(name))));
			if ((numberOf(schema['minItems']) ?? 0) > 0) parts.push(1 + this.#heightOf(schema['items']));
		}
		const height = Math.max(...parts);
		// A height measured within an unfinished measurement can still decrease.
		if (height < Number.POSITIVE_INFINITY) this.#heights.set(schema, height);
		else this.#heights.delete(schema);
		return height;
	}

	#fillObject(node: JsonObject, depth: number, isMinimal: boolean): JsonObject {
		const properties = isObject(node['properties']) ? node['properties'] : {};
		const required = listOf(node['required']).filter((name) => typeof name === 'string');
		const max = numberOf(node['maxProperties']) ?? Number.POSITIVE_INFINITY;
		const names = new Set<string>(required);
		const orderOf = (name: string): number => Object.keys(properties).indexOf(name);
		for (const [name, property] of isMinimal ? [] : Object.entries(properties)) {
			const isPossible = property !== false && this.#heightOf(property) < Number.POSITIVE_INFINITY;
			if (isPossible && names.size < max) names.add(name);
		}
		const min = numberOf(node['minProperties']) ?? 0;
		for (const name of Object.keys(properties)) if (names.size < min && properties[name] !== false) names.add(name);
		const isRecord = isObject(node['additionalProperties']) && Object.keys(properties).length === 0 && !isMinimal;
		const wanted = Math.min(max, Math.max(min, isRecord ? 1 : 0));
		const freeName = this.#freeNames(node);
		while (names.size < wanted && node['additionalProperties'] !== false) names.add(freeName());
		const filled = [...names]
			.toSorted((one, other) => (orderOf(one) === -1 ? 1 : orderOf(other) === -1 ? -1 : orderOf(one) - orderOf(other)))
			.map((name) => [name, this.fill(propertyOf(node, properties, name), depth + 1)] as const);
		return Object.fromEntries(filled);
	}

	/** Generates names for properties that the schema does not name. */
	#freeNames(node: JsonObject): () => string {
		const naming = isObject(node['propertyNames']) ? this.#choose(node['propertyNames'], true) : {};
		const listed = listOf(naming['enum']).map(textOf);
		let count = 0;
		return () => {
			count++;
			const [pattern] = Object.keys(isObject(node['patternProperties']) ? node['patternProperties'] : {});
			const wanted = textOf(naming['pattern']) || pattern;
			return (
				listed[count - 1] ??
				(wanted === undefined ? `key${count}` : (fillPattern(wanted, count, Number.POSITIVE_INFINITY) ?? `key${count}`))
			);
		};
	}

	#fillArray(node: JsonObject, depth: number, isMinimal: boolean): unknown[] {
		const min = numberOf(node['minItems']) ?? 0;
		const max = numberOf(node['maxItems']) ?? Number.POSITIVE_INFINITY;
		const first = listOf(Array.isArray(node['items']) ? node['items'] : node['prefixItems']);
		const rest = Array.isArray(node['items']) ? node['additionalItems'] : node['items'];
		const contained = 'contains' in node ? (numberOf(node['minContains']) ?? 1) : 0;
		const usual = isMinimal || rest === false || this.#heightOf(rest) === Number.POSITIVE_INFINITY ? 0 : 2;
		const length = Math.min(max, Math.max(min, first.length, contained, first.length > 0 ? 0 : usual), min + maxValues);
		const items: unknown[] = [];
		const seen = new Set<string>();
		for (let index = 0; index < length; index++) {
			const plain = first[index] ?? (rest === false ? undefined : (rest ?? {}));
			if (plain === undefined) break;
			const schema = index < contained ? { allOf: [plain, node['contains']] } : plain;
			let item = this.fill(schema, depth + 1);
			if (node['uniqueItems'] === true) {
				for (let again = 0; again < 100 && seen.has(JSON.stringify(item)); again++) item = this.fill(schema, depth + 1);
				if (seen.has(JSON.stringify(item))) break;
			}
			seen.add(JSON.stringify(item));
			items.push(item);
		}
		return items;
	}

	#fillString(node: JsonObject): string {
		const min = numberOf(node['minLength']) ?? 0;
		const max = numberOf(node['maxLength']) ?? Number.POSITIVE_INFINITY;
		const formatted = formats[textOf(node['format'])];
		if (formatted !== undefined) return formatted(this.#random);
		const matched = typeof node['pattern'] === 'string' ? fillPattern(node['pattern'], min, max) : undefined;
		if (matched !== undefined) return matched;
		if (node['contentEncoding'] === 'base64') return 'YW1iZXI=';
		const text =
			this.#strings[this.#usedStrings++] ?? `${this.#random.pick(['amber', 'birch', 'cedar', 'delta'], 'amber')}${this.#suffix()}`;
		const padded = text.padEnd(Math.min(min, 1_000_000), 'x');
		return Array.from(padded).slice(0, Math.max(0, max)).join('');
	}

	/** Keeps the first texts plain words; later ones differ, so that list items can be unique. */
	#suffix(): string {
		const count = this.#usedStrings - this.#strings.length;
		return count <= 4 ? '' : String(count);
	}
}

function givenOf(keywords: JsonObject): JsonObject {
	return Object.fromEntries(Object.entries(keywords).filter(([, value]) => value !== undefined));
}

function ownOf(properties: JsonObject, name: string): unknown {
	return Object.hasOwn(properties, name) ? properties[name] : {};
}

function propertyOf(node: JsonObject, properties: JsonObject, name: string): unknown {
	const patterns = isObject(node['patternProperties']) ? Object.entries(node['patternProperties']) : [];
	const named = Object.hasOwn(properties, name) ? [properties[name]] : [];
	const matching = patterns.filter(([pattern]) => matchesPattern(pattern, name)).map(([, schema]) => schema);
	const all = [...named, ...matching];
	if (all.length === 0) return isObject(node['additionalProperties']) ? node['additionalProperties'] : {};
	return all.length === 1 ? all[0] : { allOf: all };
}

/** Matches in linear time, because the expression comes from the client. An unsupported expression matches nothing. */
function matchesPattern(pattern: string, name: string): boolean {
	try {
		return RE2JS.compile(pattern).matcher(name).find();
	} catch {
		return false;
	}
}

function isOfType(value: unknown, type: string): boolean {
	switch (type) {
		case 'null':
			return value === null;
		case 'integer':
			return Number.isInteger(value);
		case 'array':
			return Array.isArray(value);
		case 'object':
			return isObject(value);
		default:
			return typeof value === type;
	}
}

const keywordTypes: readonly (readonly [string, readonly string[]])[] = [
	['object', ['properties', 'required', 'additionalProperties', 'patternProperties', 'propertyNames', 'minProperties', 'maxProperties']],
	['array', ['items', 'prefixItems', 'minItems', 'maxItems', 'contains', 'uniqueItems']],
	['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
];

function guessType(node: JsonObject): string {
	return keywordTypes.find(([, keywords]) => keywords.some((keyword) => keyword in node))?.[0] ?? 'string';
}

const two = (random: SeededRandom, min: number, max: number): string => String(random.integer(min, max)).padStart(2, '0');
const dateOf = (random: SeededRandom): string => `2026-${two(random, 1, 12)}-${two(random, 1, 28)}`;
const timeOf = (random: SeededRandom): string => `${two(random, 0, 23)}:${two(random, 0, 59)}:00Z`;
const hexOf = (random: SeededRandom, length: number): string => Array.from({ length }, () => random.integer(0, 15).toString(16)).join('');
const hostOf = (random: SeededRandom): string => `host${random.integer(1, 999)}.example.com`;

const formats: Readonly<Record<string, (random: SeededRandom) => string>> = {
	date: dateOf,
	'date-time': (random) => `${dateOf(random)}T${timeOf(random)}`,
	time: timeOf,
	duration: (random) => `PT${random.integer(1, 59)}M`,
	email: (random) => `someone${random.integer(1, 999)}@example.com`,
	'idn-email': (random) => `someone${random.integer(1, 999)}@example.com`,
	uri: (random) => `https://example.com/${random.integer(1, 999)}`,
	url: (random) => `https://example.com/${random.integer(1, 999)}`,
	iri: (random) => `https://example.com/${random.integer(1, 999)}`,
	'uri-reference': (random) => `/${random.integer(1, 999)}`,
	uuid: (random) => `${hexOf(random, 8)}-${hexOf(random, 4)}-4${hexOf(random, 3)}-8${hexOf(random, 3)}-${hexOf(random, 12)}`,
	hostname: hostOf,
	'idn-hostname': hostOf,
	ipv4: (random) => `192.0.2.${random.integer(1, 254)}`,
	ipv6: (random) => `2001:db8::${random.integer(1, 999)}`,
	'json-pointer': (random) => `/${random.integer(0, 9)}`,
	regex: () => '^a+$',
	byte: () => 'YW1iZXI=',
};

function resolve(root: unknown, reference: string): unknown {
	let node = root;
	for (const step of reference.replace(/^#\/?/, '').split('/').filter(Boolean)) {
		const name = decodePointer(step);
		if (Array.isArray(node)) node = listOf(node)[Number(name)];
		else node = isObject(node) ? ownOf(node, name) : undefined;
	}
	return node;
}

function decodePointer(step: string): string {
	const plain = step.replaceAll('~1', '/').replaceAll('~0', '~');
	try {
		return decodeURIComponent(plain);
	} catch {
		return plain;
	}
}
