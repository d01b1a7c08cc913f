import type {
	AssistantTurn,
	ContentPart,
	FilePart,
	ImagePart,
	MediaSource,
	ResultsTurn,
	ToolCall,
	ToolResult,
	Turn,
} from '../../conversation/conversation.ts';
import { droppedReasoning, withSignature } from '../../conversation/extensions.ts';
import { fitName, maxCallIdLength, maxToolNameLength } from '../../conversation/fit-name.ts';
import { isBlank, rejectField } from '../../conversation/json-view.ts';
import type { RequestWarnings } from '../../conversation/request-translation.ts';
import { resultParts } from '../../conversation/tool-pairing.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import type { ChatModel } from './model.ts';

export class MessageList {
	readonly #model: ChatModel;
	readonly #warnings: RequestWarnings;
	/** The client's field of the turns. */
	readonly #field: string;
	readonly #messages: JsonObject[] = [];
	/** Text of the assistant until another turn comes. Adjacent turns become one message, because results must follow their calls. */
	#text = '';
	/** Readable reasoning of the same turn. */
	#reasoning = '';
	#calls: JsonObject[] = [];
	#isAssistantLast = false;

	constructor(model: ChatModel, warnings: RequestWarnings, field: string) {
		this.#model = model;
		this.#warnings = warnings;
		this.#field = field;
	}

	/** @throws `Rejection` `field_invalid` for content without an equivalent. */
	add(turn: Turn): void {
		if (turn.role !== 'assistant') this.#endAssistant();
		this.#isAssistantLast = turn.role === 'assistant';
		switch (turn.role) {
			case 'system':
				if (turn.parts.length > 0) this.#messages.push({ role: this.#model.systemRole, content: this.#contentOf(turn.parts) });
				return;
			case 'user':
				this.#messages.push({ role: 'user', content: this.#contentOf(turn.parts) });
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
		if (this.#isAssistantLast) this.#warnings.add(this.#field, 'the last assistant message is answered, not continued');
		return this.#messages;
	}

	/** Writes the shortest form: a single text is a string, and so are several if parts are not supported. */
	#contentOf(parts: readonly ContentPart[]): string | readonly ChatPart[] {
		const [first] = parts;
		if (first?.type === 'text' && parts.length === 1) return first.text;
		const written = writeParts(parts);
		return !this.#model.takesTextParts && written.every(({ type }) => type === 'text') ? textsOf(written) : written;
	}

	/** Drops signed reasoning: it belongs to another vendor and must never be taken for text. */
	#addAssistant({ parts }: AssistantTurn): void {
		for (const part of parts) {
			switch (part.type) {
				case 'text':
					this.#text += part.text;
					break;
				case 'reasoning':
					if (part.vendor === 'open') this.#reasoning += part.text;
					else if (part.vendor === 'openai') this.#warnings.add(part.field, droppedReasoning);
					break;
				case 'call':
					this.#calls.push(this.#call(part));
					break;
				case 'opaque':
					this.#warnings.add(this.#field, 'blocks of tools that another vendor ran are sent as text or omitted');
					this.#text += part.text ?? rejectField(part.at.path, part.cure);
			}
		}
	}

	#call({ id, name, arguments: given, signature }: ToolCall): JsonObject {
		const called = { name: fitName(name, maxToolNameLength), arguments: given.text() };
		const call = { id: fitName(id, maxCallIdLength), type: 'function', function: called };
		return this.#model.takesSignatures ? { ...call, ...withSignature(signature?.value) } : call;
	}

	/** Omits an empty message. */
	#endAssistant(): void {
		const [text, calls] = [this.#text, this.#calls];
		// Servers that need the field reject a call without it, even if there was no reasoning.
		const reasoning = this.#model.needsReasoningContent ? { reasoning_content: this.#reasoning } : {};
		if (calls.length > 0) this.#messages.push({ role: 'assistant', content: isBlank(text) ? null : text, ...reasoning, tool_calls: calls });
		else if (!isBlank(text)) this.#messages.push({ role: 'assistant', content: text });
		this.#text = '';
		this.#reasoning = '';
		this.#calls = [];
	}

	/** A tool message takes text only; images and files of a result follow in a user message. */
	#addResults({ results }: ResultsTurn): void {
		const attached = results.flatMap((result) => this.#addResult(result));
		if (attached.length > 0) this.#messages.push({ role: 'user', content: attached });
	}

	#addResult(result: ToolResult): readonly ChatPart[] {
		const id = fitName(result.call.id, maxCallIdLength);
		const parts = writeParts(resultParts(result));
		const text = textsOf(parts);
		this.#messages.push({ role: 'tool', tool_call_id: id, content: result.isError ? `Error: ${text}` : text });
		const others = parts.filter(({ type }) => type !== 'text');
		return others.length === 0 ? [] : [{ type: 'text', text: `Result of call ${id}:` }, ...others];
	}
}

export type ChatPart =
	| { readonly type: 'text'; readonly text: string }
	| { readonly type: 'image_url'; readonly image_url: { readonly url: string; readonly detail?: string } }
	| { readonly type: 'file'; readonly file: { readonly filename: string; readonly file_data: string } };

const imageTypes: readonly string[] = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];

export function writeParts(parts: readonly ContentPart[]): readonly ChatPart[] {
	const written: ChatPart[] = [];
	for (const part of parts) writePart(part, written);
	return written;
}

function textsOf(parts: readonly ChatPart[]): string {
	let texts: string | undefined;
	for (const part of parts) if (part.type === 'text') texts = texts === undefined ? part.text : `${texts}\n${part.text}`;
	return texts ?? '';
}

function writePart(part: ContentPart, to: ChatPart[]): void {
	switch (part.type) {
		case 'text':
			to.push({ type: 'text', text: part.text });
			return;
		case 'image':
			to.push({ type: 'image_url', image_url: { url: imageUrl(part.source), ...detailOf(part) } });
			return;
		case 'audio':
			return rejectField(part.at.path, 'cannot be sent to the model’s provider: send a transcript');
		case 'file':
			writeFile(part, to);
			return;
		case 'opaque':
			return rejectField(part.at.path, part.cure);
	}
}

/** Chat completions have no resolution beyond `high`. */
function detailOf({ detail }: ImagePart): { readonly detail?: string } {
	return detail === undefined || detail === 'auto' ? {} : { detail: detail === 'original' ? 'high' : detail };
}

function imageUrl(source: MediaSource): string {
	switch (source.kind) {
		case 'link':
			return source.url;
		case 'data': {
			const { mediaType } = source;
			if (mediaType !== undefined && imageTypes.includes(mediaType)) return dataUrl(mediaType, source.base64());
			return rejectField(source.at.path, `must be one of \`${imageTypes.join('`, `')}\``);
		}
		case 'invalid':
			return rejectField(source.at.path, 'must be a URL or base64 data');
		case 'foreign':
			return rejectField(source.at.path, source.cure);
	}
}

function writeFile({ source, filename, title, context }: FilePart, to: ChatPart[]): void {
	switch (source.kind) {
		case 'data': {
			const name = filename ?? (title === undefined ? 'document.pdf' : `${title.replace(/\.pdf$/i, '')}.pdf`);
			if (context !== undefined) to.push({ type: 'text', text: context });
			to.push({ type: 'file', file: { filename: name, file_data: dataUrl(source.mediaType ?? 'application/pdf', source.base64()) } });
			return;
		}
		case 'link':
		case 'invalid':
			return rejectField(source.at.path, 'must be the file content in base64');
		case 'foreign':
			return rejectField(source.at.path, source.cure);
	}
}

function dataUrl(mediaType: string, base64: string): string {
	return `data:${mediaType};base64,${base64}`;
}
