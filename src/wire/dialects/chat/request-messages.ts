import type { AssistantTurn, ResultsTurn, ToolCall, ToolResult, Turn } from '../../conversation/conversation.ts';
import { fitName, longestCallId, longestToolName } from '../../conversation/fit-name.ts';
import { isBlank } from '../../conversation/json-view.ts';
import { rejectField } from '../../conversation/reject-field.ts';
import type { RequestWarnings } from '../../conversation/request-warnings.ts';
import { withSignature } from '../../conversation/thought-signature.ts';
import { resultParts } from '../../conversation/tool-pairing.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import type { ChatModel } from './model.ts';
import { type ChatPart, contentOf, writePart } from './request-content.ts';

/** Messages of chat completions. @throws Refusal `field_invalid` for what has no equivalent. */
export function writeMessages(turns: Iterable<Turn>, model: ChatModel, warnings: RequestWarnings): readonly JsonObject[] {
	const list = new MessageList(model, warnings);
	for (const turn of turns) list.add(turn);
	return list.finish();
}

class MessageList {
	readonly #model: ChatModel;
	readonly #warnings: RequestWarnings;
	readonly #messages: JsonObject[] = [];
	/** What the assistant says until another turn comes: neighbours are one message, for results must follow their calls. */
	#text = '';
	#calls: JsonObject[] = [];
	#isAssistantLast = false;

	constructor(model: ChatModel, warnings: RequestWarnings) {
		this.#model = model;
		this.#warnings = warnings;
	}

	add(turn: Turn): void {
		if (turn.role !== 'assistant') this.#endAssistant();
		this.#isAssistantLast = turn.role === 'assistant';
		switch (turn.role) {
			case 'system': {
				const parts = turn.parts.flatMap(writePart);
				if (parts.length > 0) this.#messages.push({ role: this.#model.systemRole, content: this.#contentOf(parts) });
				return;
			}
			case 'user':
				this.#messages.push({ role: 'user', content: this.#contentOf(turn.parts.flatMap(writePart)) });
				return;
			case 'assistant':
				this.#addAssistant(turn);
				return;
			case 'results':
				this.#addResults(turn);
		}
	}

	finish(): readonly JsonObject[] {
		this.#endAssistant();
		if (this.#isAssistantLast) this.#warnings.add('messages', 'the last one is not continued but answered');
		return this.#messages;
	}

	#contentOf(parts: readonly ChatPart[]): string | readonly ChatPart[] {
		return contentOf(parts, this.#model.takesTextParts);
	}

	/** Reasoning is dropped: it is the other vendor's, and must never be taken for text. */
	#addAssistant({ parts }: AssistantTurn): void {
		for (const part of parts) {
			switch (part.type) {
				case 'text':
					this.#text += part.text;
					break;
				case 'reasoning':
					break;
				case 'call':
					this.#calls.push(this.#call(part));
					break;
				case 'opaque':
					this.#warnings.add('messages', 'blocks of tools that another vendor ran are sent as text or left out');
					this.#text += part.text ?? rejectField(part.at.path, part.cure);
			}
		}
	}

	#call({ id, name, arguments: given, signature }: ToolCall): JsonObject {
		return {
			id: fitName(id, longestCallId),
			type: 'function',
			function: { name: fitName(name, longestToolName), arguments: given.text() },
			...(this.#model.takesSignatures && withSignature(signature?.value)),
		};
	}

	/** A message of nothing is left out. */
	#endAssistant(): void {
		const [text, calls] = [this.#text, this.#calls];
		if (calls.length > 0) this.#messages.push({ role: 'assistant', content: isBlank(text) ? null : text, tool_calls: calls });
		else if (!isBlank(text)) this.#messages.push({ role: 'assistant', content: text });
		this.#text = '';
		this.#calls = [];
	}

	/** A tool message takes text alone; images and files of a result follow in a message of the user's. */
	#addResults({ results }: ResultsTurn): void {
		const attached = results.flatMap((result) => this.#addResult(result));
		if (attached.length > 0) this.#messages.push({ role: 'user', content: attached });
	}

	#addResult(result: ToolResult): readonly ChatPart[] {
		const id = fitName(result.call.id, longestCallId);
		const parts = resultParts(result).flatMap(writePart);
		const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
		this.#messages.push({ role: 'tool', tool_call_id: id, content: result.isError ? `Error: ${text}` : text });
		const others = parts.filter(({ type }) => type !== 'text');
		return others.length === 0 ? [] : [{ type: 'text', text: `Result of call ${id}:` }, ...others];
	}
}
