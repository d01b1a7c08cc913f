/**
 * What guardrails see of a call: every string that a model will read or did write, with its place. Each format gives one;
 * a format without cannot be served.
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
	/** The text is JSON, whose escapes hide what they stand for. */
	readonly isJson: boolean;
	/** The value at the path is no string but the JSON itself. */
	readonly isValue: boolean;
	/** As the format calls who speaks; `system` and `tool` for what is said on their behalf. */
	readonly role: string;
	readonly part: TextPart;
	readonly path: ValuePath;
	/** Texts of the same thread, in the order in which they come, may be read as one; empty where it is none's. */
	readonly thread: string;
	/** The value at the path is this beginning of a data URL, and the text in base64. */
	readonly dataUrlHead?: string | undefined;
}

/** Images, audio, files, and parts that nobody here knows. */
export interface Unreadable {
	readonly role: string;
	/** As the format calls it. */
	readonly type: string;
	readonly path: ValuePath;
}

export interface TextView {
	readonly texts: readonly ViewedText[];
	readonly unreadable: readonly Unreadable[];
}

/** A piece of a text that goes on from event to event. */
export interface StreamedText extends ViewedText {
	/** Pieces of the same block, in the order in which they come, are one text. */
	readonly block: string;
}

export interface EventView {
	readonly texts: readonly StreamedText[];
	readonly unreadable: readonly Unreadable[];
	/** Blocks and threads that are over with this event: those that begin with one of these. */
	readonly ended: readonly string[];
}

export interface TextViews {
	readonly request: (body: JsonObject) => TextView;
	/** Of an answer that came as a whole, and no error. */
	readonly answer: (body: JsonObject) => TextView;
	/** @param event data of one event of a stream. */
	readonly event: (event: JsonObject) => EventView;
}

const nothingEnded: readonly string[] = [];
const unknownTypeLength = 64;

/** Gathers a view. */
export class ViewBuilder {
	readonly texts: StreamedText[] = [];
	readonly unreadable: Unreadable[] = [];
	ended: readonly string[] = nothingEnded;
	/** Of the texts that are added. */
	block = '';
	/** Each text that is added is a block of its own, whose name begins with `block`. */
	isEachApart = false;

	/** Adds the value if it is a string with something in it; what should be a string and is none is shown as JSON. */
	string(role: string, part: TextPart, path: ValuePath, value: unknown, thread = ''): void {
		if (typeof value !== 'string') this.json(role, part, path, value);
		else if (value !== '') this.#add(value, false, false, role, part, path, thread);
	}

	/** The value at the path repeats such texts and can only be taken away as a whole. */
	copies(role: string, path: ValuePath, text: string): void {
		if (text !== '') this.#add(text, false, true, role, 'other', path, '');
	}

	/** A text in a data URL. @param head what a URL for it in base64 begins with, comma included. */
	encoded(role: string, part: TextPart, path: ValuePath, head: string, text: string): void {
		if (text !== '') this.#add(text, false, false, role, part, path, '', head);
	}

	/** JSON, as a string or as the value itself. */
	json(role: string, part: TextPart, path: ValuePath, value: unknown): void {
		if (typeof value === 'string') {
			if (value !== '') this.#add(value, true, false, role, part, path, '');
		} else if (value !== undefined && value !== null && !isEmpty(value)) {
			this.#add(JSON.stringify(value), true, true, role, part, path, '');
		}
	}

	/** What cannot be read. */
	skip(role: string, type: unknown, path: ValuePath): void {
		this.unreadable.push({ role, type: typeof type === 'string' ? type.slice(0, unknownTypeLength) : 'unknown', path });
	}

	/** A part of an unknown kind: its strings are shown, but it counts as unreadable. */
	unknown(role: string, value: unknown, path: ValuePath): void {
		this.skip(role, isJsonObject(value) ? value.type : undefined, path);
		this.json(role, 'other', path, value);
	}

	/** Members that are neither known to hold no text nor looked at otherwise. */
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
		thread: string,
		dataUrlHead?: string,
	): void {
		const block = this.isEachApart ? `${this.block}${path.join('.')}` : this.block;
		const viewed = { text, isJson, isValue, role, part, path, block, thread };
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
