import { isObject, type JsonObject, listOf, numberOf, textOf } from '../json-value.ts';
import type { SeededRandom } from '../seeded-random.ts';

export interface SchemaFilling {
	readonly random: SeededRandom;
	/** Names and the like, used up by string fields in turn. */
	readonly strings: readonly string[];
}

const deepest = 12;

/** A value that fits a JSON schema, required and optional properties alike. Recursive schemas end after 12 levels. */
export function fillSchema(schema: unknown, filling: SchemaFilling): unknown {
	let usedStrings = 0;
	const nextString = (): string => filling.strings[usedStrings++] ?? filling.random.pick(['amber', 'birch', 'cedar', 'delta'], 'amber');
	const root = schema;

	const fill = (node: unknown, depth: number): unknown => {
		if (!isObject(node)) return node === false ? null : 'any';
		if ('const' in node) return node['const'];
		const choices = listOf(node['enum']);
		if (choices.length > 0) return filling.random.pick(choices, choices[0]);
		if (typeof node['$ref'] === 'string') return fill(resolve(root, node['$ref']), depth + 1);
		for (const keyword of ['anyOf', 'oneOf']) {
			const options = listOf(node[keyword]);
			if (options.length > 0) return fill(depth >= deepest ? shallowest(options) : options[0], depth + 1);
		}
		const all = listOf(node['allOf']);
		if (all.length > 0) return fill(all.reduce<JsonObject>(merge, { ...node, allOf: undefined }), depth);
		return fillType(node, depth);
	};

	const fillType = (node: JsonObject, depth: number): unknown => {
		const named = Array.isArray(node['type']) ? listOf(node['type'])[0] : node['type'];
		switch (typeof named === 'string' ? named.toLowerCase() : guessType(node)) {
			case 'object':
				return fillObject(node, depth);
			case 'array': {
				const length = depth >= deepest ? 0 : Math.max(numberOf(node['minItems']) ?? 0, Math.min(numberOf(node['maxItems']) ?? 2, 2));
				return Array.from({ length }, () => fill(node['items'] ?? {}, depth + 1));
			}
			case 'integer':
				return Math.ceil(numberWithin(node, 1));
			case 'number':
				return numberWithin(node, 0.5);
			case 'boolean':
				return filling.random.next() < 0.5;
			case 'null':
				return null;
			default:
				return fillString(node, nextString());
		}
	};

	const fillObject = (node: JsonObject, depth: number): JsonObject => {
		const properties = isObject(node['properties']) ? node['properties'] : {};
		const required = new Set(listOf(node['required']));
		const filled: Record<string, unknown> = {};
		for (const [name, property] of Object.entries(properties)) {
			if (depth < deepest || required.has(name)) {
				Object.defineProperty(filled, name, { value: fill(property, depth + 1), enumerable: true, configurable: true, writable: true });
			}
		}
		return filled;
	};

	const numberWithin = (node: JsonObject, step: number): number => {
		const least = numberOf(node['minimum']) ?? addStep(node['exclusiveMinimum'], step);
		const most = numberOf(node['maximum']) ?? addStep(node['exclusiveMaximum'], -step);
		const multiple = numberOf(node['multipleOf']) ?? step;
		const from = least ?? (most === undefined ? 1 : most - 100 * multiple);
		const spread = Math.max(0, Math.min(100, Math.floor(((most ?? from + 100 * multiple) - from) / multiple)));
		return Math.ceil(from / multiple) * multiple + filling.random.integer(0, Math.max(0, spread - 1)) * multiple;
	};

	return fill(schema, 0);
}

function addStep(bound: unknown, step: number): number | undefined {
	return typeof bound === 'number' ? bound + step : undefined;
}

function guessType(node: JsonObject): string {
	if ('properties' in node) return 'object';
	return 'items' in node ? 'array' : 'string';
}

const formats: Readonly<Record<string, string>> = {
	date: '2026-01-15',
	'date-time': '2026-01-15T09:30:00Z',
	time: '09:30:00Z',
	email: 'someone@example.com',
	uri: 'https://example.com/',
	uuid: '5f0c1c4e-8d43-4a53-9d0c-2f8f2c3a7b11',
	hostname: 'example.com',
	ipv4: '192.0.2.7',
	ipv6: '2001:db8::7',
};

function fillString(node: JsonObject, text: string): string {
	const formatted = formats[textOf(node['format'])] ?? text;
	const long = formatted.padEnd(numberOf(node['minLength']) ?? 0, 'x');
	return long.slice(0, numberOf(node['maxLength']) ?? long.length);
}

function shallowest(options: readonly unknown[]): unknown {
	return options.find((option) => isObject(option) && option['type'] === 'null') ?? options.at(-1);
}

function merge(into: JsonObject, from: unknown): JsonObject {
	if (!isObject(from)) return into;
	return {
		...into,
		...from,
		properties: {
			...(isObject(into['properties']) ? into['properties'] : {}),
			...(isObject(from['properties']) ? from['properties'] : {}),
		},
		required: [...listOf(into['required']), ...listOf(from['required'])],
	};
}

function resolve(root: unknown, reference: string): unknown {
	let node = root;
	for (const step of reference.replace(/^#\/?/, '').split('/').filter(Boolean)) {
		node = isObject(node) ? node[step.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
	}
	return node;
}
