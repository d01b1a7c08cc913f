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
	/** Reported to the client with the path of the first field. Undefined for fields whose loss does not change the response. */
	readonly warning?: string;
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

export interface CleanedBody {
	/** The same body, byte for byte, if nothing is removed. */
	readonly body: JsonBody;
	readonly warnings: readonly string[];
}

/** @param wanted as for `parseBody`. */
export function* removeVendorFieldsSteps(
	body: JsonBody,
	fields: VendorFields,
	knownAs: string,
	wanted: ReadonlySet<string>,
): CooperativeTask<CleanedBody> {
	const paths = fields.canBeIn(body.members) ? fields.find(body.members, knownAs) : [];
	const [first] = paths;
	if (first === undefined) return { body, warnings: [] };
	yield;
	const bytes = spliceBody(body.bytes, cutValues(body.bytes, paths));
	yield;
	const warnings = fields.warning === undefined ? [] : [`${pathText(first)}: ${fields.warning}`];
	return { body: yield* parsingSteps(bytes, wanted), warnings };
}

function pathText(path: ValuePath): string {
	return path.map((step, index) => (typeof step === 'number' ? `[${step}]` : `${index === 0 ? '' : '.'}${step}`)).join('');
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
