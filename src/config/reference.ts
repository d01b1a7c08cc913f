/** Generates the configuration reference from the schema, so that the page is always current. */
import { builtInProviders, tierPresets, vendorBaseUrls } from './defaults.ts';
import { type SchemaNode, schemaTree } from './schema-tree.ts';

export function configurationReference(): string {
	const top = Object.entries(schemaTree.properties ?? {});
	const isSection = ([, node]: [string, SchemaNode]): boolean => node.type === 'object';
	return [
		'# Configuration reference',
		'',
		'Generated from the schema. Every setting is optional. See [Configuration file](../guide/configuration.md).',
		'Settings marked *restart* require a restart; all others are hot-reloaded.',
		'',
		'## Top level',
		'',
		...table(top.filter((entry) => !isSection(entry)).flatMap(([key, node]) => rows(node, key))),
		...top.filter(isSection).flatMap(([key, node]) => section(key, node)),
	].join('\n');
}

function section(key: string, node: SchemaNode): string[] {
	return ['', `## ${key}`, '', node.description ?? '', '', ...table(innerRows(node, '')), ...extras(key)];
}

interface Row {
	readonly key: string;
	readonly node: SchemaNode;
	readonly isRequired: boolean;
}

function rows(node: SchemaNode, key: string, isRequired = false): Row[] {
	const inner = innerRows(node, key);
	if (inner.length > 0 && node.type === 'object' && node.additionalProperties === false) return inner;
	return [{ key, node, isRequired }, ...inner];
}

function innerRows(node: SchemaNode, key: string): Row[] {
	const prefix = key === '' ? '' : `${key}.`;
	const named = Object.entries(node.properties ?? {}).flatMap(([name, child]) =>
		rows(child, prefix + name, node.required?.includes(name) === true && child.default === undefined),
	);
	const others = typeof node.additionalProperties === 'object' ? innerRows(node.additionalProperties, `${prefix}NAME`) : [];
	const items = node.items === undefined ? [] : innerRows(node.items, `${key}[]`);
	return [...named, ...others, ...items];
}

function table(lines: readonly Row[]): string[] {
	return [
		'| setting | type | default | | description |',
		'|---|---|---|---|---|',
		...lines.map(({ key, node, isRequired }) => {
			const fallback = isRequired ? 'required' : node.default === undefined ? '' : `\`${JSON.stringify(node.default)}\``;
			const marks = [...(node['x-restart'] ? ['*restart*'] : []), ...(node['x-secret'] ? ['*secret*'] : [])].join(' ');
			return `| \`${key}\` | ${typeText(node)} | ${fallback} | ${marks} | ${(node.description ?? '').replaceAll('|', '\\|')} |`;
		}),
	];
}

function typeText(node: SchemaNode): string {
	if (node.anyOf !== undefined) return node.anyOf.map(typeText).join(' or ');
	if (node.const !== undefined) return `\`${JSON.stringify(node.const)}\``;
	if (node.enum !== undefined) return node.enum.map((value) => `\`${String(value)}\``).join(', ');
	const types = typeof node.type === 'string' ? [node.type] : (node.type ?? []);
	return types.map((type) => typeName(type, node)).join(' or ');
}

function typeName(type: string, node: SchemaNode): string {
	if (type === 'integer' || type === 'number') return `${type} ${rangeText(node.minimum ?? 0, node.maximum ?? 0)}`;
	if (type === 'array') return `list of ${node.items === undefined ? 'values' : typeText(node.items)}`;
	if (type === 'object' && typeof node.additionalProperties === 'object') return `mapping to ${typeText(node.additionalProperties)}`;
	return { string: 'text', object: 'mapping' }[type] ?? type;
}

/** Omits bounds that only prevent overflow of timers and counters. */
function rangeText(minimum: number, maximum: number): string {
	return maximum > 100_000_000 ? `from ${minimum}` : `${minimum} to ${maximum}`;
}

function extras(key: string): string[] {
	if (key === 'providers') return providerDefaults();
	if (key === 'tiers') return tierDefaults();
	return [];
}

function providerDefaults(): string[] {
	return [
		'',
		'Built-in providers; each field can be overridden:',
		'',
		'| provider | kind | base_url | api_key |',
		'|---|---|---|---|',
		...Object.entries(builtInProviders).map(
			([name, { kind, keyVariable }]) =>
				`| \`${name}\` | ${kind} | ${vendorBaseUrls[kind] ?? 'none: set your resource’s'} | \`\${${keyVariable}:-REPLACE_ME}\` |`,
		),
	];
}

function tierDefaults(): string[] {
	const show = (value: string | number | null): string => (value === null ? 'unlimited' : String(value));
	return Object.entries(tierPresets).flatMap(([preset, named]) => [
		'',
		`Built in with \`preset: ${preset}\`:`,
		'',
		'| tier | rpm | daily_tokens | monthly_budget_usd |',
		'|---|---|---|---|',
		...Object.entries(named).map(
			([name, tier]) => `| \`${name}\` | ${show(tier.rpm)} | ${show(tier.daily_tokens)} | ${tier.monthly_budget_usd ?? 'none'} |`,
		),
	]);
}
