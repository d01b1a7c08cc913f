import { Rejection } from '../../core/rejection.ts';
import { isJsonObject, type JsonObject } from '../json/parse-body.ts';

/** Valid values of a field, and their description for messages. */
export interface FieldKind {
	readonly expected: string;
	accepts(value: unknown): boolean;
}

/** Fields of the top level by name. */
export type FieldTable = Readonly<Record<string, FieldKind>>;

/** Longer names belong to no model and would only fill logs. */
const maxModelNameLength = 256;

export const modelName: FieldKind = {
	expected: `a string of 1 to ${maxModelNameLength} characters`,
	accepts: (value) => typeof value === 'string' && value.length > 0 && value.length <= maxModelNameLength,
};
export const boolean: FieldKind = { expected: '`true` or `false`', accepts: (value) => typeof value === 'boolean' };
export const number: FieldKind = { expected: 'a number', accepts: (value) => typeof value === 'number' };
export const array: FieldKind = { expected: 'an array', accepts: Array.isArray };
export const object: FieldKind = { expected: 'an object', accepts: isJsonObject };
const nonEmptyArray: FieldKind = { expected: 'a non-empty array', accepts: (value) => Array.isArray(value) && value.length > 0 };
export const anyString: FieldKind = { expected: 'a string', accepts: (value) => typeof value === 'string' };
const content: FieldKind = { expected: 'a string or an array', accepts: (value) => typeof value === 'string' || Array.isArray(value) };

export function integerOf(min: number, max: number): FieldKind {
	return {
		expected: `an integer of ${min} to ${max}`,
		accepts: (value) => Number.isInteger(value) && Number(value) >= min && Number(value) <= max,
	};
}

/** @throws `Rejection` `field_missing`, `field_invalid`. */
export function checkFields(body: JsonObject, required: FieldTable, optional: FieldTable): void {
	for (const name in required) requireField(body, name, required[name]);
	for (const name in optional) {
		const value = body[name];
		if (value === undefined || value === null) continue;
		checkField(value, name, optional[name]);
	}
}

/** Checks the fields of an optional top-level object. @throws `Rejection` `field_invalid`. */
export function checkInside(body: JsonObject, name: string, optional: FieldTable): void {
	const parent = body[name];
	if (!isJsonObject(parent)) return;
	for (const inner in optional) {
		const value = parent[inner];
		if (value !== undefined && value !== null) checkField(value, `${name}.${inner}`, optional[inner]);
	}
}

/**
 * @param canLackContent returns true if a message of this role may have no `content`, or null.
 * @throws `Rejection` `field_missing`, `field_invalid`.
 */
export function checkMessages(body: JsonObject, canLackContent: (role: string) => boolean): void {
	const messages = requireField(body, 'messages', nonEmptyArray) as readonly unknown[];
	for (const [index, message] of messages.entries()) {
		const isPlain = isJsonObject(message) && typeof message.content === 'string' && typeof message.role === 'string';
		if (!isPlain) checkMessage(message, `messages[${index}]`, canLackContent);
	}
}

function checkMessage(message: unknown, path: string, canLackContent: (role: string) => boolean): void {
	const members = asObject(message, path);
	const role = requireField(members, 'role', anyString, path) as string;
	if ((members.content === undefined || members.content === null) && canLackContent(role)) return;
	const parts = requireField(members, 'content', content, path);
	if (!Array.isArray(parts)) return;
	for (const [index, part] of parts.entries()) {
		const partPath = `${path}.content[${index}]`;
		requireField(asObject(part, partPath), 'type', anyString, partPath);
	}
}

function asObject(value: unknown, path: string): JsonObject {
	if (!isJsonObject(value)) throw fieldInvalid(value, path, object);
	return value;
}

function requireField(parent: JsonObject, name: string, kind: FieldKind | undefined, parentPath = ''): unknown {
	const value = parent[name];
	const path = parentPath === '' ? name : `${parentPath}.${name}`;
	if (value === undefined && kind !== undefined) {
		throw new Rejection('field_missing', { param: path, message: `\`${path}\` is missing: add it, as ${kind.expected}` });
	}
	checkField(value, path, kind);
	return value;
}

function checkField(value: unknown, path: string, kind: FieldKind | undefined): void {
	if (kind !== undefined && !kind.accepts(value)) throw fieldInvalid(value, path, kind);
}

export function fieldInvalid(value: unknown, path: string, kind: FieldKind): Rejection {
	return new Rejection('field_invalid', { param: path, message: `\`${path}\` must be ${kind.expected}, not ${nameOf(value)}` });
}

function nameOf(value: unknown): string {
	if (value === null) return 'null';
	if (value === '') return 'an empty string';
	if (typeof value === 'number') return `${value}`;
	if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array';
	if (typeof value === 'string') return `a string of ${value.length}`;
	return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
