import type {
	AssistantTurn,
	ContentPart,
	FilePart,
	ImagePart,
	MediaSource,
	ResultsTurn,
	ToolCall,
	Turn,
} from '../../conversation/conversation.ts';
import { isBlank } from '../../conversation/json-view.ts';
import { rejectField } from '../../conversation/reject-field.ts';
import type { RequestWarnings } from '../../conversation/request-warnings.ts';
import { noSignature } from '../../conversation/thought-signature.ts';
import { inOrderOfCalls, resultParts } from '../../conversation/tool-pairing.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { Contents } from './contents.ts';
import { linkedPart, mediaPart } from './media.ts';
import type { GeminiModel } from './model.ts';
import { geminiToolName } from './tool-names.ts';

export const unsignedCalls = 'tool calls without their thought signature are marked as such';

export interface WrittenTurns {
	/** Parts of the system instruction. */
	readonly instructions: readonly JsonObject[];
	readonly contents: readonly unknown[];
}

/** @throws Refusal `field_invalid` for what has no equivalent. */
export function writeTurns(turns: Iterable<Turn>, model: GeminiModel, warnings: RequestWarnings): WrittenTurns {
	const instructions: JsonObject[] = [];
	const contents = new Contents();
	for (const turn of turns) {
		switch (turn.role) {
			case 'system': {
				const texts = turn.parts.map(({ text }) => text);
				if (texts.length === 0) break;
				if (contents.list.length > 0) warnings.add('messages', 'later system messages moved to the front');
				for (const text of turn.isOneText ? [texts.join('')] : texts) instructions.push({ text });
				break;
			}
			case 'user':
				contents.add('user', turn.parts.flatMap(contentParts));
				break;
			case 'assistant':
				addAssistant(contents, turn, warnings);
				break;
			case 'results':
				addResults(contents, turn);
		}
	}
	if (!contents.list.some(({ role }) => role === 'user')) rejectField('messages', 'must hold a user message with content');
	if (contents.list.at(-1)?.role === 'model') warnings.add('messages', 'the last one may be answered and not continued');
	if (model.needsSignatures && contents.markUnsigned(noSignature)) warnings.add('messages', unsignedCalls);
	return { instructions, contents: contents.list };
}

/** Reasoning is dropped: what is not signed by this provider is of no use to it, and must never be taken for text. */
function addAssistant(contents: Contents, { parts, signature }: AssistantTurn, warnings: RequestWarnings): void {
	let text = '';
	const calls: JsonObject[] = [];
	for (const part of parts) {
		switch (part.type) {
			case 'text':
				text += part.text;
				break;
			case 'reasoning':
				break;
			case 'call':
				calls.push(callPart(part));
				break;
			case 'opaque':
				warnings.add('messages', 'blocks of tools that another vendor ran are sent as text or left out');
				text += part.text ?? rejectField(part.at.path, part.cure);
		}
	}
	const said = isBlank(text) ? [] : [{ text, ...(signature !== undefined && { thoughtSignature: signature.value }) }];
	if (said.length > 0 || calls.length > 0) contents.add('model', [...said, ...calls]);
}

function callPart({ id, name, arguments: given, signature }: ToolCall): JsonObject {
	return {
		functionCall: { id, name: geminiToolName(name), args: given.object() },
		...(signature !== undefined && { thoughtSignature: signature.value }),
	};
}

/** One turn with all results, and one with the images and files that came with them. */
function addResults(contents: Contents, turn: ResultsTurn): void {
	const attachments: JsonObject[] = [];
	const results = inOrderOfCalls(turn).map((result) => {
		const { id, name } = result.call;
		const parts = resultParts(result).flatMap(contentParts);
		const text = parts.flatMap((part) => (typeof part.text === 'string' ? [part.text] : [])).join('\n');
		const others = parts.filter((part) => part.text === undefined);
		if (others.length > 0) attachments.push({ text: `Result of call ${id}:` }, ...others);
		return { functionResponse: { id, name: geminiToolName(name), response: result.isError ? { error: text } : { result: text } } };
	});
	contents.addResults(results);
	if (attachments.length > 0) contents.add('user', attachments);
}

function contentParts(part: ContentPart): readonly JsonObject[] {
	switch (part.type) {
		case 'text':
			return [{ text: part.text }];
		case 'image':
			return [imagePart(part)];
		case 'audio': {
			const data = part.format === undefined ? undefined : mediaPart(`audio/${part.format}`, part.base64());
			return [data ?? rejectField(`${part.at.path}.format`, 'must be `wav` or `mp3`')];
		}
		case 'file':
			return fileParts(part);
		case 'opaque':
			return rejectField(part.at.path, part.cure);
	}
}

const imageTypes = 'png, jpeg, webp, gif, heic or heif';

function imagePart({ source }: ImagePart): JsonObject {
	if (source.kind === 'invalid') {
		return rejectField(source.at.path, `must be an https address, or a data URL in base64 of an image of type ${imageTypes}`);
	}
	return sourcePart(source, 'image/') ?? rejectField(source.at.path, `must be an image of type ${imageTypes}`);
}

function fileParts({ source, title, context }: FilePart): readonly JsonObject[] {
	const heading = [title, context].filter((text) => text !== undefined).join('\n');
	const part = sourcePart(source, '');
	return [
		...(heading === '' ? [] : [{ text: heading }]),
		part ?? rejectField(source.at.path, 'must be a data URL in base64 of a PDF, a text, an image or a recording'),
	];
}

/** @returns undefined for data that the provider does not take. */
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
