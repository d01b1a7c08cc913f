/** The schema as plain data. All code that needs settings by path (unknown keys, secrets, restarts) walks it. */
import { z } from 'zod';
import type { Path } from './raw.ts';
import { configSchema } from './schema.ts';

export interface SchemaNode {
	readonly description?: string;
	readonly default?: unknown;
	readonly type?: string | readonly string[];
	readonly enum?: readonly unknown[];
	readonly const?: unknown;
	readonly pattern?: string;
	readonly minimum?: number;
	readonly maximum?: number;
	readonly properties?: Readonly<Record<string, SchemaNode>>;
	readonly required?: readonly string[];
	readonly additionalProperties?: boolean | SchemaNode;
	/** Has an `enum` if a record has fixed names. */
	readonly propertyNames?: SchemaNode;
	readonly items?: SchemaNode;
	readonly anyOf?: readonly SchemaNode[];
	readonly 'x-restart'?: true;
	readonly 'x-secret'?: true;
}

/** JSON Schema draft 2020-12 of the file before interpolation. */
export const schemaTree: SchemaNode = z.toJSONSchema(configSchema, {
	io: 'input',
	override({ jsonSchema }) {
		const { default: value } = jsonSchema;
		if (value !== null && typeof value === 'object' && Object.keys(value).length === 0 && !Array.isArray(value)) delete jsonSchema.default;
	},
}) as SchemaNode;

export function alternatives(node: SchemaNode): readonly SchemaNode[] {
	return node.anyOf === undefined ? [node] : [node, ...node.anyOf.flatMap(alternatives)];
}

/** Returns the nodes that are valid under a key, or in a list, of any of these nodes. */
export function childNodes(nodes: readonly SchemaNode[], step: string | number): readonly SchemaNode[] {
	return nodes.flatMap((node) => {
		if (typeof step === 'number') return node.items === undefined ? [] : alternatives(node.items);
		if (node.properties !== undefined && Object.hasOwn(node.properties, step)) return alternatives(node.properties[step] ?? {});
		const isNameKnown = node.propertyNames?.enum?.includes(step) ?? true;
		return typeof node.additionalProperties === 'object' && isNameKnown ? alternatives(node.additionalProperties) : [];
	});
}

export function accepts(nodes: readonly SchemaNode[], type: string): boolean {
	return nodes.some((node) => (typeof node.type === 'string' ? node.type === type : (node.type?.includes(type) ?? false)));
}

export function isSecret(nodes: readonly SchemaNode[]): boolean {
	return nodes.some((node) => node['x-secret'] === true);
}

/** Returns true if a change of the setting at `path` requires a restart. */
export function needsRestart(path: Path): boolean {
	let nodes = alternatives(schemaTree);
	for (const step of path) {
		nodes = childNodes(nodes, step);
		if (nodes.some((node) => node['x-restart'] === true)) return true;
	}
	return false;
}
