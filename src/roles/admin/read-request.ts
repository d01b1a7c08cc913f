import { z } from 'zod';
import { Rejection } from '../../core/rejection.ts';
import { repeatsMember } from '../../policy/access/json-object.ts';
import { isJsonObject, parseBody } from '../../wire/json/parse-body.ts';
import { checkFields, type NearestName, pathText, plain } from './check-fields.ts';
import { fieldInvalid } from './fields-rejection.ts';

const noneWanted: ReadonlySet<string> = new Set();

/** @throws `Rejection` `body_not_json` and similar; `FieldsRejection` `fields_invalid`. */
export function readBody<Schema extends z.ZodType>(schema: Schema, bytes: Buffer, nearestName: NearestName): z.output<Schema> {
	const { members } = parseBody(bytes, noneWanted);
	if (repeatsMember(bytes.toString('utf8'))) throw new Rejection('body_not_json', { message: 'The body has a duplicate member' });
	rejectPrototypes(members, []);
	return checkFields(schema, members, nearestName);
}

/** Rejects `__proto__` members, which schemas ignore silently. The recursion is bounded, because a body is at most 64 levels deep. */
function rejectPrototypes(value: unknown, path: readonly PropertyKey[]): void {
	if (Array.isArray(value)) {
		for (const [index, item] of value.entries()) rejectPrototypes(item, [...path, index]);
	} else if (isJsonObject(value)) {
		for (const [name, item] of Object.entries(value)) {
			if (name === '__proto__') throw fieldInvalid(pathText([...path, name]), 'is not an allowed name: remove it');
			rejectPrototypes(item, [...path, name]);
		}
	}
}

/** @param raw values by name; a list for a repeated parameter. @throws `FieldsRejection` `fields_invalid`. */
export function readQuery<Schema extends z.ZodObject>(
	schema: Schema,
	raw: Readonly<Record<string, unknown>>,
	nearestName: NearestName,
): z.output<Schema> {
	const shape: Readonly<Record<string, unknown>> = schema.shape;
	const values = Object.entries(raw).map(([name, value]) => {
		if (Array.isArray(value)) throw fieldInvalid(pathText([name]), 'is repeated');
		const kind = Object.hasOwn(shape, name) ? plain(shape[name] as z.ZodType) : undefined;
		return [name, typeof value === 'string' ? valueOf(value, kind) : value];
	});
	return checkFields(schema, Object.fromEntries(values), nearestName);
}

function valueOf(text: string, kind: z.ZodType | undefined): unknown {
	if (kind instanceof z.ZodNumber && /^-?\d{1,15}$/.test(text)) return Number(text);
	if (kind instanceof z.ZodBoolean && (text === 'true' || text === 'false')) return text === 'true';
	return text;
}

/** Returns true if the `accept` header prefers CSV to JSON (RFC 9110 section 12.5.1). */
export function wantsCsv(accept: string | undefined): boolean {
	const weights = new Map(accept?.split(',').map(weightOfRange));
	const csv = weights.get('text/csv') ?? 0;
	const json = weights.get('application/json');
	if (json !== undefined) return csv > json;
	return csv > 0 && csv >= (weights.get('application/*') ?? weights.get('*/*') ?? 0);
}

function weightOfRange(range: string): [type: string, weight: number] {
	const [type = '', ...parameters] = range.toLowerCase().split(';');
	const weight = parameters.map((parameter) => /^\s*q=(.*)$/.exec(parameter)?.[1]).find((found) => found !== undefined);
	return [type.trim(), weight === undefined ? 1 : Number(weight)];
}
