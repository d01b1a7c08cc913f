/** Inputs of embeddings and prompts of completions have one form: a text, texts, token ids, or lists of token ids. */
import type { InputContent, PromptSize } from '../../core/cost-factors.ts';
import { Rejection } from '../../core/rejection.ts';
import type { JsonObject } from '../json/parse-body.ts';
import type { ViewBuilder } from '../text-view.ts';
import { greatestCap } from '../usage/request-facts.ts';
import { type FieldKind, fieldInvalid, integerOf } from './field-checks.ts';

/** OpenAI's maximum number of texts, or of lists of token ids. */
export const maxPrompts = 2048;

const text: FieldKind = { expected: 'a string', accepts: (value) => typeof value === 'string' };
export const filledText: FieldKind = {
	expected: 'a non-empty string',
	accepts: (value) => typeof value === 'string' && value !== '',
};
const tokenId = integerOf(0, greatestCap);
const tokenIds: FieldKind = { expected: 'a non-empty array of token ids', accepts: (value) => Array.isArray(value) && value.length > 0 };
const prompts: FieldKind = {
	expected: 'a string, an array of strings, an array of token ids, or an array of arrays of token ids, with at least one entry',
	accepts: (value) => typeof value === 'string' || (Array.isArray(value) && value.length > 0),
};

/**
 * Checks the value of a field, whose entries must all have the kind of the first.
 * @param textKind for texts. @throws `Rejection` `field_invalid` with the path of the first invalid entry.
 */
export function checkPrompts(value: unknown, name: string, textKind = text): void {
	if (!Array.isArray(value)) {
		check(value, name, typeof value === 'string' ? textKind : prompts);
		return;
	}
	check(value, name, prompts);
	const entries: readonly unknown[] = value;
	const [first] = entries;
	if (typeof first === 'number') {
		checkEntries(entries, name, tokenId);
		return;
	}
	if (entries.length > maxPrompts) {
		throw new Rejection('field_invalid', {
			param: name,
			message: `\`${name}\` has ${entries.length} entries, and at most ${maxPrompts} are allowed: send them in several requests`,
		});
	}
	checkEntries(entries, name, Array.isArray(first) ? tokenIds : textKind);
	if (!Array.isArray(first)) return;
	for (const [index, entry] of entries.entries()) checkEntries(entry as readonly unknown[], `${name}[${index}]`, tokenId);
}

function checkEntries(entries: readonly unknown[], path: string, kind: FieldKind): void {
	for (let index = 0; index < entries.length; index++) {
		if (!kind.accepts(entries[index])) throw fieldInvalid(entries[index], `${path}[${index}]`, kind);
	}
}

function check(value: unknown, path: string, kind: FieldKind): void {
	if (!kind.accepts(value)) throw fieldInvalid(value, path, kind);
}

/** Returns the texts of a checked value; undefined if it has token ids. */
export function textsOf(value: unknown): readonly string[] | undefined {
	const entries: readonly unknown[] = Array.isArray(value) ? value : [value];
	return entries.every((entry) => typeof entry === 'string') ? entries : undefined;
}

/** Returns the number of texts, or of lists of token ids. */
export function countPrompts(value: unknown): number {
	return Array.isArray(value) && typeof value[0] !== 'number' ? value.length : 1;
}

/** Returns the content of a request whose only input is in these values. */
export function promptContent(...values: readonly unknown[]): InputContent {
	const prompt = { count: 0, texts: 0, bytes: 0, tokenIds: 0 };
	for (const value of values) {
		prompt.count += countPrompts(value);
		measure(value, prompt);
	}
	return { prompt, attachments: 0, attachedBytes: 0, hasTools: false, hasSchema: false, definedTools: 0, serverTools: 0 };
}

function measure(value: unknown, size: { -readonly [Name in keyof PromptSize]: PromptSize[Name] }): void {
	if (typeof value === 'string') {
		size.texts++;
		size.bytes += Buffer.byteLength(value);
	} else if (typeof value === 'number') size.tokenIds++;
	else if (Array.isArray(value)) for (const entry of value as readonly unknown[]) measure(entry, size);
}

/** Adds each text of a value. Token ids are unreadable. */
export function viewPrompts(view: ViewBuilder, name: string, { [name]: value }: JsonObject): void {
	if (!Array.isArray(value)) {
		view.string('user', 'text', [name], value);
		return;
	}
	if (typeof value[0] === 'number') view.skip('user', tokensType, [name]);
	else for (const [index, entry] of (value as readonly unknown[]).entries()) viewEntry(view, entry, [name, index]);
}

const tokensType = 'token_ids';

function viewEntry(view: ViewBuilder, entry: unknown, path: readonly (string | number)[]): void {
	if (typeof entry === 'string') view.string('user', 'text', path, entry);
	else view.skip('user', tokensType, path);
}
