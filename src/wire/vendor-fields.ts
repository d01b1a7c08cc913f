/**
 * Removes fields of other vendors from a conversation. Responses of one vendor carry fields for its next turn, such as signatures, and
 * clients send them back. A provider of another vendor would reject them.
 */
import type { CooperativeTask } from '../core/cooperative-task.ts';
import { signatureOf } from './conversation/extensions.ts';
import { cutValues } from './json/locate-values.ts';
import { isJsonObject, type JsonBody, type JsonObject, parsingSteps } from './json/parse-body.ts';
import { spliceBody } from './json/splice-body.ts';
import type { ValuePath } from './text-view.ts';

/** Locations of other vendors' fields in a dialect. */
export interface VendorFields {
	/** Quick check that passes most conversations: if it is false, `find` finds nothing. */
	canBeIn(members: JsonObject): boolean;
	/** @param knownAs the vendor's name of the target model. */
	find(members: JsonObject, knownAs: string): readonly ValuePath[];
}

/** For a dialect whose requests have their turns in `messages`. */
export function vendorFieldsInMessages(
	canContain: (message: JsonObject) => boolean,
	find: (message: JsonObject, knownAs: string) => readonly ValuePath[],
): VendorFields {
	return {
		canBeIn: ({ messages }) => Array.isArray(messages) && messages.some((message) => isJsonObject(message) && canContain(message)),
		find: ({ messages }, knownAs) =>
			(messages as readonly unknown[]).flatMap((message, index) =>
				isJsonObject(message) ? find(message, knownAs).map((path) => ['messages', index, ...path]) : [],
			),
	};
}

export const geminiName = /(?:^|\/)gemini-/;
export const claudeName = /(?:^|[/.])claude-/;

/** @param wanted as for `parseBody`. @returns the same body, byte for byte, if nothing is removed. */
export function* removeVendorFieldsSteps(
	body: JsonBody,
	fields: VendorFields,
	knownAs: string,
	wanted: ReadonlySet<string>,
): CooperativeTask<JsonBody> {
	const paths = fields.canBeIn(body.members) ? fields.find(body.members, knownAs) : [];
	if (paths.length === 0) return body;
	yield;
	const bytes = spliceBody(body.bytes, cutValues(body.bytes, paths));
	yield;
	return yield* parsingSteps(bytes, wanted);
}

export function signaturesOfEach(items: readonly unknown[], path: ValuePath): readonly ValuePath[] {
	return items.flatMap((item, index) => (isJsonObject(item) ? signaturesIn(item, [...path, index]) : []));
}

/** Returns the path of `extra_content` itself if it has no other members. */
export function signaturesIn(holder: JsonObject, path: ValuePath): readonly ValuePath[] {
	if (signatureOf(holder) === undefined) return [];
	const { extra_content } = holder;
	const google = isJsonObject(extra_content) ? extra_content.google : undefined;
	const own = [...path, 'extra_content'];
	if (isJsonObject(extra_content) && Object.keys(extra_content).length > 1) {
		return isJsonObject(google) && Object.keys(google).length > 1 ? [[...own, 'google', 'thought_signature']] : [[...own, 'google']];
	}
	return isJsonObject(google) && Object.keys(google).length > 1 ? [[...own, 'google', 'thought_signature']] : [own];
}
