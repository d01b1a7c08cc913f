/**
 * Texts of a request or response for guardrails: every string that a model will read or has written, with its path. Each format provides
 * them; a format without text views cannot be served.
 */
import { isJsonObject, type JsonObject } from './json/parse-body.ts';

export const textParts = [
	'text',
	'name',
	'refusal',
	'reasoning',
	'citation',
	'tool_arguments',
	'tool_result',
	'tool_definition',
	'document',
	'transcript',
	'other',
] as const;
export type TextPart = (typeof textParts)[number];

/** Names and indexes from the top of the body. */
export type ValuePath = readonly (string | number)[];

export interface ViewedText {
	readonly text: string;
	/** True if the text is JSON, in which escapes may hide characters. */
	readonly isJson: boolean;
	/** True if the value at the path is not a string but the JSON itself. */
	readonly isValue: boolean;
	/** Role in the format's terms; `system` and `tool` for content on their behalf. */
	readonly role: string;
	readonly part: TextPart;
	/** True for instructions and tool definitions of a request, which the author of the client writes. */
	readonly isInstruction: boolean;
	readonly path: ValuePath;
	/** Texts with the same value are segments that may be joined, in their order; empty for a text that is never joined. */
	readonly segmentGroup: string;
	/** Prefix of the data URL at the path, which contains the text in base64. */
	readonly dataUrlHead?: string | undefined;
}

/** Images, audio, files, and parts of unknown types. */
export interface Unreadable {
	readonly role: string;
	/** Type in the format's terms. */
	readonly type: string;
	readonly path: ValuePath;
}

export interface TextView {
	readonly texts: readonly ViewedText[];
	readonly unreadable: readonly Unreadable[];
}

/** A piece of a text that may continue in later events. */
export interface StreamingText extends ViewedText {
	/** Pieces with the same value form one text, in their order. */
	readonly block: string;
}

export interface EventView {
	readonly texts: readonly StreamingText[];
	readonly unreadable: readonly Unreadable[];
	/** Prefixes of the blocks and threads that end with this event. */
	readonly ended: readonly string[];
}

export interface TextViews {
	readonly request: (body: JsonObject) => TextView;
	/** View of a non-streaming response other than an error. */
	readonly response: (body: JsonObject) => TextView;
	/** @param event data of one event of a stream. */
	readonly event: (event: JsonObject) => EventView;
	/** Names of events. Other names are texts for guardrails. */
	readonly eventNames: readonly string[];
}

const noEndedEvents: readonly string[] = [];
const unknownTypeLength = 64;
/** Documents between instructions are not instructions. */
const instructionParts: ReadonlySet<TextPart> = new Set(['text', 'tool_definition']);
const instructionRoles: ReadonlySet<string> = new Set(['system', 'developer']);

export class ViewBuilder {
	readonly texts: StreamingText[] = [];
	readonly unreadable: Unreadable[] = [];
	ended: readonly string[] = noEndedEvents;
	/** Block of the texts that are added. */
	block = '';
	/** True to give each added text a separate block, whose name begins with `block`. */
	isEachSeparate = false;

	/** Adds the value if it is a non-empty string; other values in place of a string are added as JSON. */
	string(role: string, part: TextPart, path: ValuePath, value: unknown, segmentGroup = ''): void {
		if (typeof value !== 'string') this.json(role, part, path, value);
		else if (value !== '') this.#add(value, false, false, role, part, path, segmentGroup);
	}

	/** Adds copies of texts. The value at the path contains them and can only be removed as a whole. */
	copies(role: string, path: ValuePath, text: string): void {
		if (text !== '') this.#add(text, false, true, role, 'other', path, '');
	}

	/** Adds a text of a data URL. @param head prefix of a base64 data URL for it, comma included. */
	encoded(role: string, part: TextPart, path: ValuePath, head: string, text: string): void {
		if (text !== '') this.#add(text, false, false, role, part, path, '', head);
	}

	/** Adds JSON, as a string or as the value itself. */
	json(role: string, part: TextPart, path: ValuePath, value: unknown): void {
		if (typeof value === 'string') {
			if (value !== '') this.#add(value, true, false, role, part, path, '');
		} else if (value !== undefined && value !== null && !isEmpty(value)) {
			this.#add(JSON.stringify(value), true, true, role, part, path, '');
		}
	}

	/** Adds unreadable content. */
	skip(role: string, type: unknown, path: ValuePath): void {
		this.unreadable.push({ role, type: typeof type === 'string' ? type.slice(0, unknownTypeLength) : 'unknown', path });
	}

	/** Adds a part of an unknown type: its strings are added, but it counts as unreadable. */
	unknown(role: string, value: unknown, path: ValuePath): void {
		this.skip(role, isJsonObject(value) ? value.type : undefined, path);
		this.json(role, 'other', path, value);
	}

	/** Adds members that are neither known to contain no text nor read by name. */
	others(members: JsonObject, known: ReadonlySet<string>, role: string, path: ValuePath): void {
		for (const name in members) {
			const value = members[name];
			if (known.has(name) || (typeof value !== 'string' && typeof value !== 'object')) continue;
			if (typeof value === 'string') this.string(role, 'other', [...path, name], value);
			else this.json(role, 'other', [...path, name], value);
		}
	}

	#add(
		text: string,
		isJson: boolean,
		isValue: boolean,
		role: string,
		part: TextPart,
		path: ValuePath,
		segmentGroup: string,
		dataUrlHead?: string,
	): void {
		const block = this.isEachSeparate ? `${this.block}${path.join('.')}` : this.block;
		const isInstruction = instructionParts.has(part) && instructionRoles.has(role);
		const viewed = { text, isJson, isValue, role, part, isInstruction, path, block, segmentGroup };
		this.texts.push(dataUrlHead === undefined ? viewed : { ...viewed, dataUrlHead });
	}
}

function isEmpty(value: unknown): boolean {
	return typeof value === 'number' || typeof value === 'boolean' || (Array.isArray(value) && value.length === 0);
}

export function itemsOf(value: unknown): readonly unknown[] {
	return Array.isArray(value) ? value : [];
}

/** @returns the objects of a list, each with its index. */
export function objectsOf(value: unknown): readonly (readonly [number, JsonObject])[] {
	return itemsOf(value).flatMap((item, index) => (isJsonObject(item) ? [[index, item] as const] : []));
}
