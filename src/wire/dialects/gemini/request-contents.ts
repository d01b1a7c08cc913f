import type {
	AssistantTurn,
	ContentPart,
	FilePart,
	ImagePart,
	MediaSource,
	ResultsTurn,
	SystemTurn,
	ToolCall,
	Turn,
} from '../../conversation/conversation.ts';
import { droppedReasoning, noSignature } from '../../conversation/extensions.ts';
import { isBlank, rejectField } from '../../conversation/json-view.ts';
import type { RequestWarnings } from '../../conversation/request-translation.ts';
import { inOrderOfCalls, resultParts } from '../../conversation/tool-pairing.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { type GeminiModel, geminiToolName } from './model.ts';

export const unsignedCalls = 'tool calls without their thought signature are marked as such';

interface Content {
	readonly role: 'user' | 'model';
	readonly parts: JsonObject[];
}

/** Turns in Gemini's format, with adjacent ones of one role merged. */
export class Contents {
	/** Parts of the system instruction. */
	readonly instructions: JsonObject[] = [];
	readonly #model: GeminiModel;
	readonly #warnings: RequestWarnings;
	/** The client's field of the turns. */
	readonly #field: string;
	readonly #contents: Content[] = [];
	/** No turn merges with results, whose number must equal that of the calls. */
	#isLastClosed = false;

	constructor(model: GeminiModel, warnings: RequestWarnings, field: string) {
		this.#model = model;
		this.#warnings = warnings;
		this.#field = field;
	}

	/** @throws `Rejection` `field_invalid` for content without an equivalent. */
	add(turn: Turn): void {
		switch (turn.role) {
			case 'system':
				this.#addSystem(turn);
				break;
			case 'user':
				this.#join('user', contentParts(turn.parts));
				break;
			case 'assistant':
				this.#join('model', this.#assistantParts(turn));
				break;
			case 'results':
				this.#addResults(turn);
		}
	}

	/** @throws `Rejection` `field_invalid` for a conversation that the model cannot continue. */
	finish(): readonly Content[] {
		const contents = this.#contents;
		if (!contents.some(({ role }) => role === 'user')) rejectField(this.#field, 'must contain a user message with content');
		if (contents.at(-1)?.role === 'model') {
			this.#warnings.add(this.#field, 'the last assistant message can be answered instead of continued');
		}
		if (this.#model.needsSignatures && this.#markUnsigned()) this.#warnings.add(this.#field, unsignedCalls);
		return contents;
	}

	#join(role: Content['role'], parts: JsonObject[]): void {
		if (parts.length === 0) return;
		const last = this.#contents.at(-1);
		if (last?.role === role && !this.#isLastClosed) for (const part of parts) last.parts.push(part);
		else this.#contents.push({ role, parts });
		this.#isLastClosed = false;
	}

	#addSystem({ parts, isOneText }: SystemTurn): void {
		const texts = parts.map(({ text }) => text);
		if (texts.length === 0) return;
		if (this.#contents.length > 0) this.#warnings.add(this.#field, 'later system messages moved to the front');
		for (const text of isOneText ? [texts.join('')] : texts) this.instructions.push({ text });
	}

	/** Drops reasoning: this provider cannot use what it did not sign, and it must never be taken for text. */
	#assistantParts({ parts, signature }: AssistantTurn): JsonObject[] {
		let text = '';
		const calls: JsonObject[] = [];
		for (const part of parts) {
			switch (part.type) {
				case 'text':
					text += part.text;
					break;
				case 'reasoning':
					if (part.vendor === 'openai') this.#warnings.add(part.field, droppedReasoning);
					break;
				case 'call':
					calls.push(callPart(part));
					break;
				case 'opaque':
					this.#warnings.add(this.#field, 'blocks of tools that another vendor ran are sent as text or omitted');
					text += part.text ?? rejectField(part.at.path, part.cure);
			}
		}
		return isBlank(text) ? calls : [{ text, thoughtSignature: signature?.value }, ...calls];
	}

	/** Adds one turn with all results, and one with the images and files that came with them. */
	#addResults(turn: ResultsTurn): void {
		const attachments: JsonObject[] = [];
		const parts = inOrderOfCalls(turn).map((result): JsonObject => {
			const { id, name } = result.call;
			const text: string[] = [];
			const others: JsonObject[] = [];
			for (const part of contentParts(resultParts(result))) {
				if (typeof part.text === 'string') text.push(part.text);
				else others.push(part);
			}
			if (others.length > 0) attachments.push({ text: `Result of call ${id}:` }, ...others);
			const said = text.join('\n');
			return { functionResponse: { id, name: geminiToolName(name), response: result.isError ? { error: said } : { result: said } } };
		});
		this.#contents.push({ role: 'user', parts });
		this.#isLastClosed = true;
		this.#join('user', attachments);
	}

	/** Marks the first call of each turn that lacks a signature if the model requires one. Of parallel calls only the first has one. */
	#markUnsigned(): boolean {
		let isMarked = false;
		for (const { parts } of this.#contents) {
			const first = parts.findIndex((part) => part.functionCall !== undefined);
			const part = parts[first];
			if (part === undefined || part.thoughtSignature !== undefined) continue;
			parts[first] = { ...part, thoughtSignature: noSignature };
			isMarked = true;
		}
		return isMarked;
	}
}

function callPart({ id, name, arguments: given, signature }: ToolCall): JsonObject {
	return { functionCall: { id, name: geminiToolName(name), args: given.object() }, thoughtSignature: signature?.value };
}

function contentParts(parts: readonly ContentPart[]): JsonObject[] {
	const written: JsonObject[] = [];
	for (const part of parts) addPart(part, written);
	return written;
}

function addPart(part: ContentPart, to: JsonObject[]): void {
	switch (part.type) {
		case 'text':
			to.push({ text: part.text });
			return;
		case 'image':
			to.push(imagePart(part));
			return;
		case 'audio': {
			const data = part.format === undefined ? undefined : mediaPart(`audio/${part.format}`, part.base64());
			to.push(data ?? rejectField(`${part.at.path}.format`, 'must be `wav` or `mp3`'));
			return;
		}
		case 'file':
			addFile(part, to);
			return;
		case 'opaque':
			return rejectField(part.at.path, part.cure);
	}
}

const imageTypes = 'png, jpeg, webp, gif, heic or heif';

function imagePart({ source }: ImagePart): JsonObject {
	if (source.kind === 'invalid') {
		return rejectField(source.at.path, `must be an https URL, or a base64 data URL of an image of type ${imageTypes}`);
	}
	return sourcePart(source, 'image/') ?? rejectField(source.at.path, `must be an image of type ${imageTypes}`);
}

function addFile({ source, title, context }: FilePart, to: JsonObject[]): void {
	const heading = [title, context].filter((text) => text !== undefined).join('\n');
	if (heading !== '') to.push({ text: heading });
	const part = sourcePart(source, '');
	to.push(part ?? rejectField(source.at.path, 'must be a data URL in base64 of a PDF, a text, an image or a recording'));
}

/** @returns undefined for data that the provider does not accept. */
function sourcePart(source: MediaSource, kind: 'image/' | ''): JsonObject | undefined {
	switch (source.kind) {
		case 'link':
			return linkedPart(source.url);
		case 'data': {
			const { mediaType } = source;
			return mediaType?.startsWith(kind) === true ? mediaPart(mediaType, source.base64()) : undefined;
		}
		case 'invalid':
			return undefined;
		case 'foreign':
			return rejectField(source.at.path, source.cure);
	}
}

/** Types that the provider documents; it rejects those that a model cannot read. */
const mediaTypes = /^(?:image\/(?:png|jpeg|webp|gif|heic|heif)|audio\/(?:wav|mp3|mpeg|aiff|aac|ogg|flac)|application\/pdf|text\/[\w.+-]+)$/;

/** @returns undefined for a type that the provider does not accept. */
function mediaPart(mediaType: string, data: string): JsonObject | undefined {
	const type = mediaType === 'image/jpg' ? 'image/jpeg' : mediaType;
	return mediaTypes.test(type) ? { inlineData: { mimeType: type, data } } : undefined;
}

const byEnding: Readonly<Record<string, string>> = {
	png: 'image/png',
	jpg: 'image/jpeg',
	jpeg: 'image/jpeg',
	webp: 'image/webp',
	gif: 'image/gif',
	heic: 'image/heic',
	heif: 'image/heif',
	pdf: 'application/pdf',
};

/** A URL is forwarded for the provider to fetch; the gateway fetches nothing for a client. */
function linkedPart(url: string): JsonObject {
	const ending = /\.([a-z]{3,4})(?:[?#]|$)/i.exec(url)?.[1]?.toLowerCase() ?? '';
	const mimeType = byEnding[ending];
	return { fileData: { fileUri: url, mimeType } };
}
