import { type Citation, characterCount, citationOf } from '../../conversation/citation.ts';
import { parseArguments } from '../../conversation/read-json.ts';
import { type LostContent, type ResponseSink, responseInvalid } from '../../conversation/response.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';

/** The dialect has one choice. */
const choice = 0;

export type ContentKind = 'text' | 'refusal' | 'summary' | 'reasoning' | 'arguments' | 'input';

interface Content {
	readonly kind: ContentKind;
	text: string;
	/** End of `text` that was not written yet. A long text is never sliced, because that copies it. */
	pending: string;
	hasWritten: boolean;
	readonly logprobs: JsonObject[];
	/** By position among the annotations. Undefined for an annotation of another kind. */
	readonly citations: Map<number, Citation | undefined>;
	/** Number of log probabilities and citations that were written. */
	writtenLogprobs: number;
	writtenCitations: number;
}

const calls: ReadonlySet<unknown> = new Set(['function_call', 'custom_tool_call']);

/** True for items that other dialects can express. Tools that the provider executes itself are not offered to it. */
export function isReadable(item: unknown): item is JsonObject {
	return isJsonObject(item) && (item.type === 'message' || item.type === 'reasoning' || calls.has(item.type));
}

/** One item of a response's output, from a body or from the events of a stream. */
export class OutputItem {
	readonly type: unknown;
	isComplete = false;
	/** True for a complete call whose arguments are not a JSON object. */
	hasInvalidArguments = false;
	/** The item as last reported. */
	#given: JsonObject = {};
	readonly #contents = new Map<string, Content>();
	#hasStarted = false;
	#hasReasoning = false;
	#isClosed = false;
	/** All items of the response, in order. */
	readonly #items: readonly OutputItem[];
	readonly #lost = new Set<LostContent>();

	constructor(type: unknown, items: readonly OutputItem[]) {
		this.type = type;
		this.#items = items;
	}

	get isCall(): boolean {
		return calls.has(this.type);
	}

	get refusal(): string {
		return [...this.#contents.values()].map(({ kind, text }) => (kind === 'refusal' ? text : '')).join('');
	}

	isNamedBy({ id, call_id }: JsonObject): boolean {
		const given = this.#given;
		return (typeof id === 'string' && given.id === id) || (typeof call_id === 'string' && call_id !== '' && given.call_id === call_id);
	}

	describe(item: JsonObject): void {
		this.#given = { ...this.#given, ...item };
	}

	add(kind: ContentKind, index: unknown, fragment: unknown, logprobs?: unknown): void {
		if (typeof fragment !== 'string' || this.isComplete) return;
		const content = this.#contentAt(kind, index);
		content.text += fragment;
		content.pending += fragment;
		if (Array.isArray(logprobs)) content.logprobs.push(...logprobs.filter(isJsonObject));
	}

	/** Completes a text, its log probabilities and annotations. */
	replaceText(index: unknown, part: JsonObject): void {
		this.replace('text', index, part.text, part.logprobs);
		for (const [position, annotation] of partsOf(part.annotations)) this.annotate(index, position, annotation);
	}

	/** Adds an annotation of a text, unless it was added before. */
	annotate(index: unknown, at: unknown, annotation: unknown): void {
		if (this.isComplete || !isJsonObject(annotation)) return;
		const { citations } = this.#contentAt('text', index);
		const position = typeof at === 'number' ? at : citations.size;
		if (citations.has(position)) return;
		const citation = annotation.type === 'url_citation' ? citationOf(annotation) : undefined;
		citations.set(position, citation);
		if (citation === undefined) this.#lost.add('citations');
	}

	/** Some models send no fragments, only the whole content. Fragments written before are not written again. */
	replace(kind: ContentKind, index: unknown, whole: unknown, logprobs?: unknown): void {
		if (typeof whole !== 'string' || this.isComplete) return;
		const content = this.#contentAt(kind, index);
		if (Array.isArray(logprobs)) content.logprobs.push(...logprobs.filter(isJsonObject).slice(content.logprobs.length));
		if (whole.length <= content.text.length) return;
		content.pending += whole.slice(content.text.length);
		content.text = whole;
	}

	complete(item: JsonObject): void {
		this.describe(item);
		const { content, summary, arguments: args, input } = item;
		for (const [at, part] of partsOf(summary)) this.replace('summary', at, part.text);
		for (const [at, part] of partsOf(content)) {
			if (part.type === 'output_text') this.replaceText(at, part);
			else if (part.type === 'refusal') this.replace('refusal', at, part.refusal);
			else if (part.type === 'reasoning_text') this.replace('reasoning', at, part.text);
		}
		this.replace('arguments', 0, isJsonObject(args) ? JSON.stringify(args) : args);
		this.replace('input', 0, input);
		this.isComplete = true;
	}

	/** Writes the content that was not written yet. */
	write(sink: ResponseSink): void {
		if (this.#isClosed || (this.isCall && !this.#startCall(sink))) return;
		for (const content of this.#contents.values()) {
			if (content.kind === 'input' || !hasNews(content)) continue;
			this.#writeText(content, sink);
			this.#writeCitations(content, sink);
			content.pending = '';
			content.hasWritten = true;
		}
		if (this.isComplete) this.#close(sink);
	}

	#writeText(content: Content, sink: ResponseSink): void {
		const { kind, pending: text, hasWritten } = content;
		switch (kind) {
			case 'text': {
				const logprobs = content.logprobs.slice(content.writtenLogprobs);
				content.writtenLogprobs = content.logprobs.length;
				return logprobs.length === 0 ? sink.addText(text, choice) : sink.addText(text, choice, logprobs);
			}
			case 'refusal':
				return sink.addModelRefusal(text, choice);
			case 'summary':
			case 'reasoning':
				sink.addReasoning(!hasWritten && this.#hasReasoning ? `\n\n${text}` : text, choice);
				this.#hasReasoning = true;
				return;
			default:
				return sink.addArguments(text, choice);
		}
	}

	/** Ranges count from the beginning of the content here, and from that of all text at the sink. */
	#writeCitations(content: Content, sink: ResponseSink): void {
		const { citations, writtenCitations } = content;
		if (writtenCitations === citations.size) return;
		const offset = this.#characterCountBefore(content);
		for (const citation of [...citations.values()].slice(writtenCitations)) {
			if (citation === undefined) continue;
			sink.addCitation({ ...citation, start: citation.start + offset, end: citation.end + offset }, choice);
		}
		content.writtenCitations = citations.size;
	}

	#characterCountBefore(content: Content): number {
		const earlier = this.#items.slice(0, this.#items.indexOf(this)).flatMap((item) => [...item.#contents.values()]);
		const own = [...this.#contents.values()];
		return [...earlier, ...own.slice(0, own.indexOf(content))]
			.map(({ kind, text }) => (kind === 'text' ? characterCount(text) : 0))
			.reduce((sum, count) => sum + count, 0);
	}

	/** @returns false as long as the call has no name. */
	#startCall(sink: ResponseSink): boolean {
		if (this.#hasStarted) return true;
		const { call_id: id, name } = this.#given;
		if (typeof name !== 'string' || name === '') {
			if (this.isComplete) throw responseInvalid('with a tool call without a name');
			return false;
		}
		this.#hasStarted = true;
		sink.startCall({ id, name, signature: undefined }, choice);
		return true;
	}

	#close(sink: ResponseSink): void {
		this.#isClosed = true;
		const { id, summary, encrypted_content, phase } = this.#given;
		if (typeof phase === 'string') this.#lost.add('phase');
		for (const content of this.#lost) sink.lose(content);
		if (this.type === 'function_call') {
			const text = this.#contents.get('arguments 0')?.text ?? '';
			// Clients parse the joined fragments, and an empty string is not JSON.
			if (text === '') sink.addArguments('{}', choice);
			this.hasInvalidArguments = parseArguments(text) === undefined;
		} else if (this.isCall) {
			sink.addArguments(JSON.stringify({ input: this.#contents.get('input 0')?.text ?? '' }), choice);
		} else if (this.type === 'reasoning' && typeof encrypted_content === 'string' && encrypted_content !== '') {
			sink.addSignedReasoning(
				{ type: 'encrypted_reasoning', id, encrypted_content, summary: Array.isArray(summary) ? summary : [] },
				choice,
			);
		}
	}

	#contentAt(kind: ContentKind, index: unknown): Content {
		const key = `${kind} ${typeof index === 'number' ? index : 0}`;
		const known = this.#contents.get(key);
		if (known !== undefined) return known;
		const content = {
			kind,
			text: '',
			pending: '',
			hasWritten: false,
			logprobs: [],
			citations: new Map<number, Citation | undefined>(),
			writtenLogprobs: 0,
			writtenCitations: 0,
		};
		this.#contents.set(key, content);
		return content;
	}
}

function hasNews({ pending, logprobs, citations, writtenLogprobs, writtenCitations }: Content): boolean {
	return pending !== '' || logprobs.length > writtenLogprobs || citations.size > writtenCitations;
}

function partsOf(list: unknown): readonly (readonly [number, JsonObject])[] {
	const parts: readonly unknown[] = Array.isArray(list) ? list : [];
	return parts.flatMap((part, at) => (isJsonObject(part) ? [[at, part] as const] : []));
}
