import type { Usage } from '../../../core/usage.ts';
import { type Citation, characterCount, citationMembers } from '../../conversation/citation.ts';
import { fitName } from '../../conversation/fit-name.ts';
import {
	type BodyWriter,
	type ConversationUsage,
	clientMessage,
	type Finish,
	type LostContent,
	lossWarning,
	type ProviderError,
	type ResponseContext,
	type ResponseSink,
	type ResponseStart,
	type ResponseWriting,
	type StartedCall,
	type ToolNaming,
	type WrittenStream,
} from '../../conversation/response.ts';
import { sha256Hex } from '../../conversation/sha256.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { failureOf, writeError } from './errors.ts';
import {
	argumentsOf,
	contentPart,
	type OpenCall,
	type OpenMessage,
	type OpenPart,
	type OpenReasoning,
	type PartType,
	summaryPart,
} from './open-item.ts';
import { PendingReasoning } from './pending-reasoning.ts';
import { type OfferedTool, offeredTools } from './request-tools.ts';
import { echoOf, writeUsage } from './response-object.ts';

/** OpenAI rejects longer ids when they are sent back. */
const maxCallIdLength = 64;

const idPrefixes: Readonly<Record<OfferedTool['kind'], string>> = { function: 'fc', custom: 'ctc', tool_search: 'tsc' };

/** Writes one response, as a body and as the events of a stream. Items do not overlap. */
class ResponseWriter implements BodyWriter, ResponseSink, WrittenStream {
	readonly wantsReasoning = true;
	readonly takesChoices = false;
	isTerminated = false;
	hasFailed = false;
	readonly #call: ResponseContext;
	readonly #toolNameOf: ToolNaming;
	/** Ids of the response and its items follow from the request's id. */
	readonly #hash: string;
	readonly #echo: JsonObject;
	readonly #reasoning = new PendingReasoning();
	readonly #output: JsonObject[] = [];
	readonly #isStreaming: boolean;
	#events: string[] = [];
	#sequence = 0;
	#itemCount = 0;
	#offered: ReadonlyMap<string, OfferedTool> | undefined;
	#model: string;
	#open: OpenMessage | OpenReasoning | OpenCall | undefined;
	#hasStarted = false;
	#hasRefusal = false;
	#incompleteReason: string | undefined;
	#usage: Usage | undefined;
	#serviceTier: string | undefined;

	constructor(call: ResponseContext, toolNameOf: ToolNaming, isStreaming: boolean) {
		this.#call = call;
		this.#toolNameOf = toolNameOf;
		this.#isStreaming = isStreaming;
		this.#hash = sha256Hex(call.requestId).slice(0, 32);
		this.#echo = echoOf(call.request);
		this.#model = call.model;
	}

	take(): readonly string[] {
		const events = this.#events;
		this.#events = [];
		return events;
	}

	start({ model }: ResponseStart): void {
		if (typeof model === 'string' && model !== '') this.#model = model;
		this.#begin();
	}

	startChoice(): void {}

	addText(text: string, _choice: number, logprobs?: readonly JsonObject[]): void {
		if (logprobs === undefined) {
			if (text !== '') this.#addPart('output_text', text);
		} else if (text !== '' || this.#openText() !== undefined) this.#addPart('output_text', text, logprobs);
	}

	/** A source of a text that has ended comes too late for its item. */
	addCitation(citation: Citation): void {
		const [open, part] = [this.#open, this.#openText()];
		if (open?.kind !== 'message' || part === undefined) return this.lose('citations');
		const annotation = { type: 'url_citation', ...citationMembers(citation, this.#characterCountBefore(open)) };
		if (annotation.start_index < 0) return this.lose('citations');
		this.#write('response.output_text.annotation.added', {
			...this.#atPart(open),
			annotation_index: part.annotations.length,
			annotation,
		});
		part.annotations.push(annotation);
	}

	setServiceTier(tier: string): void {
		this.#serviceTier = tier;
	}

	/** A stream cannot warn: its header is sent. */
	lose(content: LostContent): void {
		if (!this.#isStreaming) this.#call.warn?.(lossWarning(content));
	}

	addModelRefusal(text: string): void {
		if (text === '') return;
		this.#hasRefusal = true;
		this.#addPart('refusal', text);
	}

	addReasoning(text: string): void {
		if (text === '') return;
		const open = this.#open?.kind === 'reasoning' ? this.#open : this.#openReasoning();
		const at = { item_id: open.id, output_index: this.#output.length, summary_index: open.summary.length };
		if (open.text === undefined) this.#write('response.reasoning_summary_part.added', { ...at, part: summaryPart('') });
		open.text = (open.text ?? '') + text;
		this.#reasoning.addText(text);
		this.#write('response.reasoning_summary_text.delta', { ...at, delta: text });
	}

	/** A run of blocks forms one item, whose text the blocks may lack. */
	addSignedReasoning(block: JsonObject): void {
		if (this.#open?.kind === 'reasoning') this.#closeSummaryPart(this.#open);
		else this.#closeItem();
		this.#reasoning.addBlock(block);
	}

	startCall({ id, name, signature }: StartedCall): void {
		const ownId = typeof id === 'string' && id !== '' ? id : `call_${this.#hash}_${this.#itemCount}`;
		const call_id = ownId.length <= maxCallIdLength ? ownId : fitName(ownId, maxCallIdLength);
		if (this.#open?.kind !== 'reasoning') this.#closeItem();
		if (signature !== undefined) this.#reasoning.addSignature(call_id, signature);
		this.#flushReasoning();
		const ownName = this.#toolNameOf(name);
		this.#offered ??= offeredTools(this.#call.request);
		const tool: OfferedTool = this.#offered.get(ownName) ?? { kind: 'function', name: ownName };
		const members = {
			type: `${tool.kind}_call`.replace('custom_', 'custom_tool_'),
			...(tool.kind === 'tool_search' ? { execution: 'client' } : { name: tool.name }),
			...(tool.namespace !== undefined && { namespace: tool.namespace }),
			call_id,
		};
		this.#open = { kind: 'call', id: this.#itemId(idPrefixes[tool.kind]), tool: tool.kind, members, text: '' };
		this.#writeAdded(this.#open.id, { ...members, ...argumentsOf(tool.kind, ''), status: 'in_progress' });
	}

	addArguments(fragment: string): void {
		const open = this.#open;
		if (open?.kind !== 'call' || fragment === '') return;
		open.text += fragment;
		if (open.tool === 'function') this.#write('response.function_call_arguments.delta', { ...this.#at(open), delta: fragment });
	}

	addSignature(signature: string): void {
		this.#reasoning.setTextSignature(signature);
	}

	finish({ reason, explanation }: Finish): void {
		if (reason === 'length') this.#incompleteReason = 'max_output_tokens';
		// A `refusal` of OpenAI's models is a complete response; that of other vendors ends the response.
		if (reason === 'filtered' || (reason === 'refused' && !this.#hasRefusal)) this.#incompleteReason = 'content_filter';
		if (reason === 'refused' && !this.#hasRefusal) this.#addPart('refusal', explanation ?? '');
		this.#closeItem(this.#incompleteReason === undefined ? 'completed' : 'incomplete');
		this.#flushReasoning();
		// Clients expect a message or a call after reasoning.
		const isEmpty = this.#output.every(({ type }) => type === 'reasoning');
		if (isEmpty && (this.#incompleteReason === undefined || this.#output.length === 0)) {
			this.#addPart('output_text', '');
			this.#closeItem();
		}
	}

	end({ usage }: ConversationUsage): void {
		this.#usage = clientMessage(usage, this.#call);
		const response = this.body();
		this.#write(`response.${String(response.status)}`, { response });
		this.isTerminated = true;
	}

	fail(error: ProviderError): void {
		this.#begin();
		this.#usage = this.#call.charged?.()?.usage;
		const failure = failureOf(error);
		const described = { ...failure, param: null };
		this.#write('error', { ...described, error: { type: error.type, ...described } });
		const usage = this.#usage === undefined ? null : writeUsage(this.#usage);
		this.#write('response.failed', { response: this.#response('failed', { error: failure, output: this.#output, usage }) });
		this.hasFailed = true;
	}

	body(): JsonObject {
		const reason = this.#incompleteReason;
		return this.#response(reason === undefined ? 'completed' : 'incomplete', {
			incomplete_details: reason === undefined ? null : { reason },
			output: this.#output,
			usage: writeUsage(this.#usage),
		});
	}

	#begin(): void {
		if (this.#hasStarted) return;
		this.#hasStarted = true;
		const response = this.#response('in_progress', {});
		this.#write('response.created', { response });
		this.#write('response.in_progress', { response });
	}

	#openText(): OpenPart | undefined {
		const part = this.#open?.kind === 'message' ? this.#open.part : undefined;
		return part?.type === 'output_text' ? part : undefined;
	}

	/** Returns the number of characters of all text before the open part. */
	#characterCountBefore({ parts }: OpenMessage): number {
		const contents = this.#output.flatMap(({ content }) => (Array.isArray(content) ? content.filter(isJsonObject) : []));
		return [...contents, ...parts]
			.map(({ type, text }) => (type === 'output_text' && typeof text === 'string' ? characterCount(text) : 0))
			.reduce((sum, count) => sum + count, 0);
	}

	/** @param text empty for a part without content. */
	#addPart(type: PartType, text: string, logprobs?: readonly JsonObject[]): void {
		const open = this.#open?.kind === 'message' ? this.#open : this.#openMessage();
		if (open.part?.type !== type) {
			this.#closePart(open);
			const at = this.#atPart(open);
			const members = { type: `response.${type}.delta`, ...at, ...(type === 'output_text' && { logprobs: [] }) };
			open.part = {
				type,
				head: `event: response.${type}.delta\ndata: ${JSON.stringify(members).slice(0, -1)}`,
				annotations: [],
				logprobs: [],
				text: '',
			};
			this.#write('response.content_part.added', { ...at, part: contentPart(type, '') });
		}
		open.part.text += text;
		if (logprobs !== undefined) {
			open.part.logprobs.push(...logprobs);
			this.#write(`response.${type}.delta`, { ...this.#atPart(open), logprobs, delta: text });
			return;
		}
		if (text === '' || !this.#isStreaming) return;
		this.#events.push(`${open.part.head},"sequence_number":${this.#sequence++},"delta":${JSON.stringify(text)}}\n\n`);
	}

	#closePart(open: OpenMessage): void {
		if (open.part === undefined) return;
		const { type, text, annotations, logprobs } = open.part;
		const part = type === 'output_text' ? { type, text, annotations, logprobs } : contentPart(type, text);
		const whole = type === 'output_text' ? { text, logprobs } : { refusal: text };
		this.#write(`response.${type}.done`, { ...this.#atPart(open), ...whole });
		this.#write('response.content_part.done', { ...this.#atPart(open), part });
		open.parts.push(part);
		open.part = undefined;
	}

	#openMessage(): OpenMessage {
		this.#closeItem();
		this.#flushReasoning();
		const open: OpenMessage = { kind: 'message', id: this.#itemId('msg'), parts: [], part: undefined };
		this.#open = open;
		this.#writeAdded(open.id, { type: 'message', status: 'in_progress', role: 'assistant', content: [] });
		return open;
	}

	#openReasoning(): OpenReasoning {
		this.#closeItem();
		const open: OpenReasoning = { kind: 'reasoning', id: this.#itemId('rs'), summary: [], text: undefined };
		this.#open = open;
		this.#writeAdded(open.id, { type: 'reasoning', summary: [], encrypted_content: null });
		return open;
	}

	#closeSummaryPart(open: OpenReasoning): void {
		if (open.text === undefined) return;
		const at = { item_id: open.id, output_index: this.#output.length, summary_index: open.summary.length };
		const part = summaryPart(open.text);
		this.#write('response.reasoning_summary_text.done', { ...at, text: open.text });
		this.#write('response.reasoning_summary_part.done', { ...at, part });
		open.summary.push(part);
		open.text = undefined;
	}

	/** Writes an item for reasoning that no open item contains yet: encrypted blocks and signatures. */
	#flushReasoning(): void {
		if (this.#open?.kind !== 'reasoning' && this.#reasoning.canReturn(this.#call.encryption)) this.#openReasoning();
		this.#closeItem();
	}

	#closeItem(status: 'completed' | 'incomplete' = 'completed'): void {
		const open = this.#open;
		if (open === undefined) return;
		switch (open.kind) {
			case 'message':
				this.#closePart(open);
				this.#done(open.id, { type: 'message', status, role: 'assistant', content: open.parts });
				break;
			case 'reasoning': {
				this.#closeSummaryPart(open);
				const encrypted_content = this.#reasoning.take(this.#call.encryption);
				this.#done(open.id, { type: 'reasoning', summary: open.summary, encrypted_content });
				break;
			}
			case 'call':
				this.#closeCall(open, status);
		}
	}

	#closeCall(open: OpenCall, status: string): void {
		if (open.tool === 'function' && open.text === '') this.addArguments('{}');
		const whole = argumentsOf(open.tool, open.text);
		const { input } = whole;
		if (input !== undefined && input !== '') this.#write('response.custom_tool_call_input.delta', { ...this.#at(open), delta: input });
		const event = open.tool === 'custom' ? 'custom_tool_call_input' : 'function_call_arguments';
		const name = open.tool === 'function' ? { name: open.members.name } : {};
		if (open.tool !== 'tool_search') this.#write(`response.${event}.done`, { ...this.#at(open), ...name, ...whole });
		this.#done(open.id, { ...open.members, ...whole, status });
	}

	#done(id: string, members: JsonObject): void {
		const item = { id, ...members };
		this.#write('response.output_item.done', { output_index: this.#output.length, item });
		this.#output.push(item);
		this.#open = undefined;
	}

	#writeAdded(id: string, members: JsonObject): void {
		this.#write('response.output_item.added', { output_index: this.#output.length, item: { id, ...members } });
	}

	#at({ id }: { readonly id: string }): JsonObject {
		return { item_id: id, output_index: this.#output.length };
	}

	#atPart(open: OpenMessage): JsonObject {
		return { ...this.#at(open), content_index: open.parts.length };
	}

	#itemId(prefix: string): string {
		return `${prefix}_${this.#hash}${String(this.#itemCount++).padStart(4, '0')}`;
	}

	#response(status: string, members: JsonObject): JsonObject {
		return {
			id: `resp_${this.#hash}`,
			object: 'response',
			created_at: this.#call.nowSeconds,
			status,
			error: null,
			incomplete_details: null,
			model: this.#model,
			output: [],
			usage: null,
			...this.#echo,
			...(this.#serviceTier !== undefined && { service_tier: this.#serviceTier }),
			...members,
		};
	}

	#write(type: string, members: JsonObject): void {
		if (!this.#isStreaming) return;
		const data = JSON.stringify(members).slice(1);
		this.#events.push(`event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#sequence++},${data}\n\n`);
	}
}

export const responsesWriting: ResponseWriting = {
	createStreamWriter: (call, toolNameOf) => new ResponseWriter(call, toolNameOf, true),
	createBodyWriter: (call, toolNameOf) => new ResponseWriter(call, toolNameOf, false),
	writeError,
	toolNames: (request) => [...offeredTools(request).keys()],
	finishField: 'status',
};
