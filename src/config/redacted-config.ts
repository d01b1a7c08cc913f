/** The configuration in displayable form: secrets are `***`. */
import { stringify } from 'yaml';
import { unsetKey } from './defaults.ts';
import { escapeInterpolation } from './interpolate.ts';
import { noProxy } from './proxy.ts';
import { isRecord, type Path, type Raw } from './raw.ts';
import type { Config } from './schema.ts';
import { alternatives, childNodes, isSecret, type SchemaNode, schemaTree } from './schema-tree.ts';

/** Values of secret settings that reveal nothing. */
const harmless = new Set<unknown>([null, unsetKey, 'sqlite', 'memory', noProxy]);

/** Returns the whole configuration as YAML that `config check` accepts. A secret from a file is shown as the path of that file. */
export function redactedYaml(config: Config): string {
	const shown = redactedConfig(config);
	return stringify(mapText(shown, escapeInterpolation), { lineWidth: 0, aliasDuplicateObjects: false });
}

export function redactedConfig(config: Config): Raw {
	const shown = redact(config, alternatives(schemaTree));
	return isRecord(shown) ? shown : {};
}

/** Returns a part of the configuration in displayable form. */
export function redactedAt(path: Path, value: unknown): unknown {
	return redact(value, path.reduce<readonly SchemaNode[]>(childNodes, alternatives(schemaTree)));
}

function redact(value: unknown, nodes: readonly SchemaNode[]): unknown {
	if (isSecret(nodes)) return harmless.has(value) ? value : '***';
	if (Array.isArray(value)) return value.map((item: unknown, index) => redact(item, childNodes(nodes, index)));
	if (!isRecord(value)) return value;
	const shown: Raw = {};
	for (const [key, item] of Object.entries(value)) {
		if (item === undefined || value[`${key}_file`] !== undefined) continue;
		shown[key] = redact(item, childNodes(nodes, key));
	}
	return shown;
}

function mapText(value: unknown, map: (text: string) => string): unknown {
	if (typeof value === 'string') return map(value);
	if (Array.isArray(value)) return value.map((item: unknown) => mapText(item, map));
	if (!isRecord(value)) return value;
	return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapText(item, map)]));
}
