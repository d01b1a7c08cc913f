/**
 * Prepares a file's value for the schema. Unknown keys are reported and removed; an empty section becomes an empty mapping. The text of a
 * variable becomes the number or boolean that the schema expects, and `*_file` settings are read.
 */
import { nearestName } from '../core/nearest-name.ts';
import type { ProblemList } from './problem.ts';
import { formatPath, isRecord, type Path, type Raw } from './raw.ts';
import { accepts, alternatives, childNodes, isSecret, type SchemaNode, schemaTree } from './schema-tree.ts';

export interface FitOptions {
	readonly interpolated: ReadonlySet<string>;
	readonly problems: ProblemList;
	/** Reads the file of a `*_file` setting. */
	readSecret(file: string): { readonly text: string } | { readonly problem: string };
}

export function fitToSchema(value: Raw, options: FitOptions): Raw {
	return fitRecord(value, alternatives(schemaTree), [], options);
}

function fit(value: unknown, nodes: readonly SchemaNode[], path: Path, options: FitOptions): unknown {
	if (typeof value === 'string') return options.interpolated.has(formatPath(path)) ? fitText(value, nodes) : value;
	if (Array.isArray(value)) return value.map((item: unknown, index) => fit(item, childNodes(nodes, index), [...path, index], options));
	if (isRecord(value)) return accepts(nodes, 'object') ? fitRecord(value, nodes, path, options) : value;
	if (value === null && !accepts(nodes, 'null')) {
		if (accepts(nodes, 'object')) return {};
		if (accepts(nodes, 'array')) return [];
	}
	return value;
}

function fitRecord(value: Raw, nodes: readonly SchemaNode[], path: Path, options: FitOptions): Raw {
	const fitted: Raw = {};
	for (const [key, item] of Object.entries(value)) {
		const inner = childNodes(nodes, key);
		if (inner.length === 0) options.problems.add([...path, key], unknownKeyMessage(key, nodes), 'key');
		else fitted[key] = fit(item, inner, [...path, key], options);
	}
	for (const [key, file] of Object.entries(fitted)) {
		const target = secretOfFile(key, nodes);
		if (typeof file === 'string' && target !== undefined) readSecretInto(fitted, target, file, path, options);
	}
	return fitted;
}

/** Returns `api_key` for `api_key_file` if the schema has both, because a header may have any name. */
function secretOfFile(key: string, nodes: readonly SchemaNode[]): string | undefined {
	const target = key.replace(/_file$/, '');
	const isNamed = nodes.some(({ properties = {} }) => Object.hasOwn(properties, key) && Object.hasOwn(properties, target));
	return isNamed && target !== key && isSecret(childNodes(nodes, target)) ? target : undefined;
}

function readSecretInto(record: Raw, target: string, file: string, path: Path, options: FitOptions): void {
	const place = [...path, `${target}_file`];
	if (record[target] !== undefined && record[target] !== null) {
		options.problems.add(place, `cannot be combined with ${target}: set one of them`, 'key');
		return;
	}
	const secret = options.readSecret(file);
	if ('problem' in secret) options.problems.add(place, secret.problem);
	else record[target] = secret.text;
}

function fitText(text: string, nodes: readonly SchemaNode[]): unknown {
	if (text === '' && accepts(nodes, 'null')) return null;
	if (accepts(nodes, 'string')) return text;
	if ((accepts(nodes, 'integer') || accepts(nodes, 'number')) && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
	if (accepts(nodes, 'boolean') && /^(true|false)$/.test(text)) return text === 'true';
	if (accepts(nodes, 'null') && text === 'null') return null;
	return text;
}

function unknownKeyMessage(key: string, nodes: readonly SchemaNode[]): string {
	const known = nodes.flatMap((node) => [...Object.keys(node.properties ?? {}), ...(node.propertyNames?.enum ?? []).map(String)]);
	const nearest = nearestName(key, known);
	if (nearest !== undefined) return `unknown key, did you mean \`${nearest}\`?`;
	return known.length === 0 ? 'unknown key: this section has no keys' : `unknown key, known here: ${known.join(', ')}`;
}
