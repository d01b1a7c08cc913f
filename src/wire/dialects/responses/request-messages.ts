import type { AssistantTurn, ContentPart, ResultsTurn, SystemTurn, ToolCall, Turn } from '../../conversation/conversation.ts';
import { droppedReasoning } from '../../conversation/extensions.ts';
import { fitName, maxToolNameLength } from '../../conversation/fit-name.ts';
import { isBlank, rejectField } from '../../conversation/json-view.ts';
import type { RequestWarnings } from '../../conversation/request-translation.ts';
import { resultParts } from '../../conversation/tool-pairing.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { type ChatPart, writeParts } from '../chat/request-messages.ts';

const maxCallIdLength = 64;

/** Turns as input items. Instructions before all others are separate. */
export class ItemList {
	readonly #warnings: RequestWarnings;
	/** The client's field of the turns. */
	readonly #field: string;
	readonly #instructions: string[] = [];
	readonly #items: JsonObject[] = [];
	/** Texts of the current message of the assistant. */
	#texts: JsonObject[] = [];
	/** The provider rejects reasoning without the item that it led to. */
	#reasoning: JsonObject[] = [];
	#isAssistantLast = false;

	constructor(warnings: RequestWarnings, field: string) {
		this.#warnings = warnings;
		this.#field = field;
	}

	/** @throws `Rejection` `field_invalid` for content without an equivalent. */
	add(turn: Turn): void {
		if (turn.role !== 'assistant') this.#endAssistant();
		this.#isAssistantLast = turn.role === 'assistant';
		switch (turn.role) {
			case 'system':
				this.#addSystem(turn);
				break;
			case 'user':
				this.#items.push({ role: 'user', content: contentOf(turn.parts) });
				break;
			case 'assistant':
				this.#addAssistant(turn);
				break;
			case 'results':
				this.#addResults(turn);
		}
	}

	/** @throws `Rejection` `field_invalid` for a conversation without any text. */
	finish(): { readonly instructions: string | undefined; readonly input: readonly JsonObject[] } {
		this.#endAssistant();
		if (this.#isAssistantLast) this.#warnings.add(this.#field, 'the last assistant message is answered, not continued');
		const instructions = this.#instructions.length === 0 ? undefined : this.#instructions.join('\n\n');
		if (this.#items.length > 0) return { instructions, input: this.#items };
		if (instructions === undefined) rejectField(this.#field, 'must contain a message with content');
		return { instructions: undefined, input: [{ role: 'developer', content: instructions }] };
	}

	#addSystem({ parts, isOneText }: SystemTurn): void {
		const text = parts.map((part) => part.text).join(isOneText ? '' : '\n\n');
		if (text === '') return;
		if (this.#items.length === 0) this.#instructions.push(text);
		else this.#items.push({ role: 'developer', content: text });
	}

	#addAssistant({ parts }: AssistantTurn): void {
		for (const part of parts) {
			switch (part.type) {
				case 'text':
					this.#addText(part.text);
					break;
				case 'reasoning':
					if (part.vendor !== 'openai' || part.signed === undefined) {
						this.#warnings.add(part.field, droppedReasoning);
						break;
					}
					this.#endMessage();
					this.#reasoning.push({
						type: 'reasoning',
						id: part.signed.id,
						summary: part.signed.summary,
						encrypted_content: part.signed.encrypted,
					});
					break;
				case 'call':
					this.#endMessage();
					this.#push(callItem(part));
					break;
				case 'opaque':
					this.#warnings.add(this.#field, 'blocks of tools that another vendor ran are sent as text or omitted');
					this.#addText(part.text ?? rejectField(part.at.path, part.cure));
			}
		}
	}

	#addText(text: string): void {
		if (!isBlank(text)) this.#texts.push({ type: 'output_text', text });
	}

	#endMessage(): void {
		if (this.#texts.length > 0) this.#push({ role: 'assistant', content: this.#texts });
		this.#texts = [];
	}

	#push(item: JsonObject): void {
		this.#items.push(...this.#reasoning, item);
		this.#reasoning = [];
	}

	#endAssistant(): void {
		this.#endMessage();
		this.#reasoning = [];
	}

	#addResults({ results }: ResultsTurn): void {
		for (const result of results) {
			const { call, isError } = result;
			const parts = resultParts(result);
			const texts = parts.flatMap((part) => (part.type === 'text' ? part.text : []));
			const output = texts.length === parts.length ? texts.join('\n') : parts.flatMap(inputParts);
			const failed = typeof output === 'string' ? `Error: ${output}` : [{ type: 'input_text', text: 'Error:' }, ...output];
			const type = call.input === undefined ? 'function_call_output' : 'custom_tool_call_output';
			this.#items.push({ type, call_id: fitName(call.id, maxCallIdLength), output: isError ? failed : output });
		}
	}
}

function callItem({ id, name, arguments: given, input }: ToolCall): JsonObject {
	const called = { call_id: fitName(id, maxCallIdLength), name: fitName(name, maxToolNameLength) };
	if (input !== undefined) return { type: 'custom_tool_call', ...called, input };
	return { type: 'function_call', ...called, arguments: given.text() };
}

function contentOf(parts: readonly ContentPart[]): string | readonly JsonObject[] {
	const [first] = parts;
	return first?.type === 'text' && parts.length === 1 ? first.text : parts.flatMap(inputParts);
}

/** @throws `Rejection` `field_invalid` for a part without an equivalent. */
function inputParts(part: ContentPart): readonly JsonObject[] {
	const link = part.type === 'file' && part.source.kind === 'link' ? part.source.url : undefined;
	return link === undefined ? writeParts([part]).map(inputPart) : [{ type: 'input_file', file_url: link }];
}

function inputPart(part: ChatPart): JsonObject {
	switch (part.type) {
		case 'text':
			return { type: 'input_text', text: part.text };
		case 'image_url':
			return { type: 'input_image', image_url: part.image_url.url, detail: part.image_url.detail ?? 'auto' };
		case 'file':
			return { type: 'input_file', ...part.file };
	}
}
