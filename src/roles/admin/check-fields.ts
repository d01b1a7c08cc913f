/** Validates input by its schema. Each error says what its field must be, and never repeats the value. */
import { z } from 'zod';
import type { FieldError } from './fields-rejection.ts';
import { FieldsRejection } from './fields-rejection.ts';

export type NearestName = (name: string, known: Iterable<string>) => string | undefined;

type Issue = z.core.$ZodIssue;

/** Limits the response: a body can have ten thousand wrong items. */
const maxErrors = 50;

/** @throws `FieldsRejection` `fields_invalid`. */
export function checkFields<Schema extends z.ZodType>(schema: Schema, value: unknown, nearestName: NearestName): z.output<Schema> {
	const result = schema.safeParse(value);
	if (result.success) return result.data;
	const errors: FieldError[] = [];
	for (const issue of result.error.issues) {
		errors.push(...errorsOf(issue, schema, value, nearestName));
		if (errors.length >= maxErrors) break;
	}
	throw new FieldsRejection('fields_invalid', errors.slice(0, maxErrors));
}

function errorsOf(issue: Issue, schema: z.ZodType, value: unknown, nearestName: NearestName): FieldError[] {
	if (issue.code !== 'unrecognized_keys') return [{ path: pathText(issue.path), message: messageOf(issue, valueAt(value, issue.path)) }];
	const known = knownMembers(schema, issue.path);
	return issue.keys.slice(0, maxErrors).map((key) => {
		const nearest = nearestName(key, known);
		const others = known.length === 0 ? 'remove it' : `use ${known.join(', ')}`;
		const hint = nearest === undefined ? others : `did you mean ${nearest}?`;
		return { path: pathText([...issue.path, key]), message: `is an unknown field: ${hint}` };
	});
}

/** Formats a path. Member names can come from clients, so unusual ones are quoted and shortened. */
export function pathText(path: readonly PropertyKey[]): string {
	let text = '';
	for (const step of path) {
		const name = String(step).slice(0, 100);
		if (typeof step === 'number') text += `[${step}]`;
		else if (/^[A-Za-z_][\w-]*$/.test(name)) text += text === '' ? name : `.${name}`;
		else text += `[${JSON.stringify(name)}]`;
	}
	return text;
}

function knownMembers(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
	let at: z.ZodType | undefined = schema;
	for (const step of path) at = childOf(plain(at), step);
	const found = plain(at);
	return found instanceof z.ZodObject ? Object.keys(found.shape) : [];
}

function childOf(schema: z.ZodType | undefined, step: PropertyKey): z.ZodType | undefined {
	if (schema instanceof z.ZodObject) return (schema.shape as Record<PropertyKey, z.ZodType>)[step];
	return schema instanceof z.ZodArray ? (schema.element as z.ZodType) : undefined;
}

/** Unwraps an optional or nullable schema. */
export function plain(schema: z.ZodType | undefined): z.ZodType | undefined {
	return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ? plain(schema.unwrap() as z.ZodType) : schema;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
	let at = value;
	for (const step of path) {
		if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
		at = (at as Record<PropertyKey, unknown>)[step];
	}
	return at;
}

function messageOf(issue: Issue, given: unknown): string {
	switch (issue.code) {
		case 'invalid_type':
			return given === undefined ? 'is required' : `must be ${typeNames[issue.expected] ?? issue.expected}, not ${typeOf(given)}`;
		case 'invalid_value':
			return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
		case 'too_small':
			return `must ${sizeOf(issue.origin, 'at least', Number(issue.minimum))}`;
		case 'too_big':
			return `must ${sizeOf(issue.origin, 'at most', Number(issue.maximum))}`;
		case 'invalid_key':
			return `has a name that ${issue.issues[0]?.message ?? 'is not allowed'}`;
		default:
			return issue.message;
	}
}

function sizeOf(origin: string, bound: string, size: number): string {
	if (origin === 'string') return `have ${bound} ${size} characters`;
	if (origin === 'array') return `have ${bound} ${size} items`;
	return `be ${bound} ${size}`;
}

const typeNames: Readonly<Record<string, string>> = {
	string: 'a string',
	number: 'a number',
	int: 'a whole number',
	boolean: 'a boolean',
	object: 'an object',
	record: 'an object',
	array: 'a list',
};

function typeOf(value: unknown): string {
	if (value === null) return 'null';
	if (Array.isArray(value)) return 'a list';
	if (typeof value === 'number' && !Number.isInteger(value)) return 'a number with a fraction';
	return typeNames[typeof value] ?? typeof value;
}
