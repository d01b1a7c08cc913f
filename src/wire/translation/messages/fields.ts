/** Reading of what a caller of the messages format wrote. */
import { isExactInteger } from '../../json/exact-json.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { refuseField } from '../refuse-field.ts';
import type { RequestWarnings } from '../request-warnings.ts';

/** Fields that every translation reads, or that mean nothing outside their vendor. */
const read: ReadonlySet<string> = new Set([
	'model',
	'messages',
	'system',
	'max_tokens',
	'stop_sequences',
	'temperature',
	'top_p',
	'stream',
	'tools',
	'tool_choice',
	'thinking',
	'output_config',
	'output_format',
	'metadata',
	'service_tier',
	'cache_control',
	'betas',
]);

/** Whose loss would change what is asked for. */
const refused: ReadonlySet<string> = new Set(['mcp_servers']);

const none: ReadonlySet<string> = new Set();

/**
 * Judges the fields that have no equivalent: all but a few are hints.
 * @param translated further fields that this provider has an equivalent for.
 * @throws Refusal `field_invalid`.
 */
export function judgeOtherFields(members: JsonObject, warnings: RequestWarnings, translated: ReadonlySet<string> = none): void {
	for (const name in members) {
		const value = members[name];
		if (read.has(name) || translated.has(name) || value === null || value === undefined) continue;
		if (!refused.has(name)) warnings.add(name, 'ignored');
		else if (!Array.isArray(value) || value.length > 0) refuseField(name, 'has no equivalent at the model’s provider: leave it out');
	}
	const { thinking } = members;
	if (isJsonObject(thinking) && thinking.type === 'between_tools') warnings.add('thinking', 'ignored');
}

export function outputCap(asked: unknown, most: number | undefined, warnings: RequestWarnings): number {
	if (!Number.isInteger(asked) || Number(asked) < 0) return refuseField('max_tokens', 'must be an integer of at least 1');
	if (asked === 0) refuseField('max_tokens', 'must be at least 1: the model’s provider cannot fill a prompt cache without answering');
	if (most === undefined || Number(asked) <= most) return Number(asked);
	warnings.add('max_tokens', `lowered to ${most} as the most that the model can write`);
	return most;
}

/** @throws Refusal `field_invalid` for what its own vendor would refuse, blank ones too; the provider might stop at them. */
export function stopSequences(stops: unknown): readonly string[] {
	return listAt(stops).map((stop, index) =>
		isTold(stop) ? stop : refuseField(`stop_sequences[${index}]`, 'must be a string with a visible character'),
	);
}

/** The JSON schema that the answer must have. @throws Refusal `field_invalid`. */
export function outputSchema({ output_config, output_format }: JsonObject, warnings: RequestWarnings): JsonObject | undefined {
	const config = isJsonObject(output_config) ? output_config : {};
	for (const name in config) if (name !== 'effort' && name !== 'format') warnings.add(`output_config.${name}`, 'ignored');
	const path = isJsonObject(config.format) ? 'output_config.format' : 'output_format';
	// The older name, under which betas had it.
	const format = config.format ?? output_format;
	if (format === undefined || format === null) return undefined;
	const { type, schema } = objectAt(format, path);
	if (type !== 'json_schema') refuseField(`${path}.type`, 'must be `json_schema`');
	return objectAt(schema, `${path}.schema`);
}

export function listAt(value: unknown): readonly unknown[] {
	return Array.isArray(value) ? value : [];
}

export function stringAt(value: unknown, path: string): string {
	return typeof value === 'string' ? value : refuseField(path, 'must be a string');
}

export function objectAt(value: unknown, path: string): JsonObject {
	return isJsonObject(value) && !isExactInteger(value) ? value : refuseField(path, 'must be an object');
}

export function isTold(value: unknown): value is string {
	return typeof value === 'string' && value.trim() !== '';
}
