import { UpstreamError } from '../../../core/upstream-error.ts';
import { characterCount } from '../../conversation/citation.ts';
import { signedThinkingOf } from '../../conversation/extensions.ts';
import { viewOf } from '../../conversation/json-view.ts';
import type { ConversationUsage, Finish, ResponseReading, ResponseSink, StreamReader } from '../../conversation/response.ts';
import type { StreamEvent } from '../../events/stream-event.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { messagesUsage, usageOfMessages } from '../../usage/usage-reader.ts';
import { readError, readEventError } from './errors.ts';

/** The dialect has one choice. */
const choice = 0;

/** @throws `UpstreamError` `provider_response_invalid`. */
function readBody(body: JsonObject, sink: ResponseSink): void {
	const { content } = body;
	if (body.type !== 'message' || !Array.isArray(content)) {
		throw new UpstreamError('provider_response_invalid', { message: 'The provider returned JSON that is not a message: retry later' });
	}
	sink.start({ id: body.id, model: body.model });
	let hasCalls = false;
	const sources = new TextSources(sink);
	for (const block of content.filter(isJsonObject)) {
		if (block.type === 'text') {
			const text = typeof block.text === 'string' ? block.text : '';
			sink.addText(text, choice);
			sources.end(text, Array.isArray(block.citations) ? block.citations : []);
		}
		if (block.type === 'thinking' && typeof block.thinking === 'string') sink.addReasoning(block.thinking, choice);
		if (isReplayable(block)) sink.addSignedReasoning(block, choice);
		if (block.type !== 'tool_use') continue;
		hasCalls = true;
		startCall(block, sink);
		sink.addArguments(JSON.stringify(isJsonObject(block.input) ? block.input : {}), choice);
	}
	readServiceTier(body.usage, sink);
	sink.finish(finishOf(body.stop_reason, body.stop_details, hasCalls), choice);
	sink.end(reportedUsage(body.usage));
}

/** Clients must send a paused turn back to continue it, which other dialects cannot express. */
function finishWarnings({ stop_reason: reason }: JsonObject): readonly string[] {
	return reason === 'pause_turn' ? ['stop for pause_turn, after which the turn is not over'] : [];
}

/** Other tiers have no word of OpenAI's. */
const serviceTiers: ReadonlyMap<unknown, string> = new Map([
	['standard', 'default'],
	['priority', 'priority'],
]);

function readServiceTier(usage: unknown, sink: ResponseSink): void {
	const tier = serviceTiers.get(isJsonObject(usage) ? usage.service_tier : undefined);
	if (tier !== undefined) sink.setServiceTier(tier);
}

/** Writes the sources of text blocks. The vendor cites whole blocks. */
class TextSources {
	readonly #sink: ResponseSink;
	/** Characters of all text before the block. */
	#characterCount = 0;

	constructor(sink: ResponseSink) {
		this.#sink = sink;
	}

	/** Ends a block. Only web pages have an equivalent in other formats. */
	end(text: string, citations: readonly unknown[]): void {
		const start = this.#characterCount;
		const end = start + characterCount(text);
		this.#characterCount = end;
		for (const citation of citations) {
			const { type, url, title } = isJsonObject(citation) ? citation : {};
			const isPage = type === 'web_search_result_location' && typeof url === 'string';
			if (isPage) this.#sink.addCitation({ url, title: typeof title === 'string' ? title : '', start, end }, choice);
			else this.#sink.lose('citations');
		}
	}
}

/** State of the open block that its end depends on. */
interface OpenBlock {
	readonly type: unknown;
	/** Input that a call's block began with, because some vendors send it complete. */
	readonly input: unknown;
	/** True if fragments of a call's input have arrived. */
	hasFragments: boolean;
	thinking: string;
	signature: string;
	/** Data of encrypted reasoning. */
	readonly data: unknown;
	text: string;
	readonly citations: unknown[];
}

class MessagesStreamReader implements StreamReader {
	readonly #sink: ResponseSink;
	#block: OpenBlock | undefined;
	#usage: JsonObject | undefined;
	#hasStarted = false;
	#hasCalls = false;
	#isFinished = false;
	readonly #sources: TextSources;

	constructor(sink: ResponseSink) {
		this.#sink = sink;
		this.#sources = new TextSources(sink);
	}

	read(streamed: StreamEvent): void {
		const event = streamed.json();
		if (event === undefined) throw invalid('an event that is not a JSON object');
		switch (event.type ?? streamed.name) {
			case 'message_start':
				return this.#start(event.message);
			case 'content_block_start':
				return this.#startBlock(event.content_block);
			case 'content_block_delta':
				return this.#addDelta(event.delta);
			case 'content_block_stop':
				return this.#stopBlock();
			case 'message_delta':
				return this.#endMessage(event);
			case 'message_stop':
				return this.#stop();
			case 'error':
				return this.#sink.fail(readEventError(event));
			default:
		}
	}

	/** Always an error, because the dialect has a terminal event. */
	end(): never {
		throw new UpstreamError('provider_disconnected');
	}

	#start(message: unknown): void {
		if (!isJsonObject(message)) throw invalid('a start without a message');
		if (this.#hasStarted) throw invalid('a second start of the message');
		this.#hasStarted = true;
		this.#mergeUsage(message.usage);
		this.#sink.start({ id: message.id, model: message.model });
		this.#sink.startChoice(choice);
	}

	#startBlock(block: unknown): void {
		if (!isJsonObject(block)) throw invalid('a block without content');
		const { type, input, data } = block;
		this.#block = { type, input, data, hasFragments: false, thinking: '', signature: '', text: '', citations: [] };
		if (type === 'tool_use') {
			this.#hasCalls = true;
			startCall(block, this.#writing());
		} else if (type === 'text') this.#addText(block.text);
		else if (type === 'thinking') this.#think(block.thinking, block.signature);
	}

	#addDelta(delta: unknown): void {
		if (!isJsonObject(delta)) throw invalid('a delta without content');
		switch (delta.type) {
			case 'text_delta':
				return this.#addText(delta.text);
			case 'citations_delta':
				this.#block?.citations.push(delta.citation);
				return;
			case 'input_json_delta':
				return this.#addFragment(delta.partial_json);
			case 'thinking_delta':
				return this.#think(delta.thinking, undefined);
			case 'signature_delta':
				return this.#think(undefined, delta.signature);
			default:
		}
	}

	#addText(text: unknown): void {
		if (typeof text !== 'string' || text === '') return;
		if (this.#block !== undefined) this.#block.text += text;
		this.#writing().addText(text, choice);
	}

	#addFragment(fragment: unknown): void {
		if (this.#block?.type !== 'tool_use' || typeof fragment !== 'string' || fragment === '') return;
		this.#block.hasFragments = true;
		this.#writing().addArguments(fragment, choice);
	}

	#think(text: unknown, signature: unknown): void {
		if (this.#block?.type !== 'thinking') return;
		if (typeof signature === 'string') this.#block.signature += signature;
		if (typeof text !== 'string' || text === '') return;
		this.#block.thinking += text;
		this.#writing().addReasoning(text, choice);
	}

	#stopBlock(): void {
		if (this.#block === undefined) return;
		const { type, input, hasFragments, thinking, signature, data, text, citations } = this.#block;
		this.#block = undefined;
		if (type === 'text') this.#sources.end(text, citations);
		// Clients parse the joined fragments, and an empty string is not JSON.
		if (type === 'tool_use' && !hasFragments) {
			this.#writing().addArguments(JSON.stringify(isJsonObject(input) ? input : {}), choice);
		}
		const block = type === 'thinking' ? { type, thinking, signature } : { type, data };
		if (isReplayable(block)) this.#writing().addSignedReasoning(block, choice);
	}

	#endMessage({ usage, delta }: JsonObject): void {
		this.#mergeUsage(usage);
		const { stop_reason, stop_details } = isJsonObject(delta) ? delta : {};
		if (typeof stop_reason === 'string') this.#finish(stop_reason, stop_details);
	}

	#finish(stopReason: unknown, stopDetails: unknown): void {
		if (this.#isFinished) return;
		readServiceTier(this.#usage, this.#sink);
		this.#writing().finish(finishOf(stopReason, stopDetails, this.#hasCalls), choice);
		this.#isFinished = true;
	}

	#stop(): void {
		this.#finish(undefined, undefined);
		this.#sink.end(reportedUsage(this.#usage));
	}

	#mergeUsage(reported: unknown): void {
		if (isJsonObject(reported)) this.#usage = messagesUsage.merge(this.#usage, reported);
	}

	#writing(): ResponseSink {
		if (!this.#hasStarted) throw invalid('content before the start of the message');
		return this.#sink;
	}
}

function startCall({ id, name }: JsonObject, sink: ResponseSink): void {
	if (typeof name !== 'string') throw invalid('a tool call without a name');
	sink.startCall({ id, name, signature: undefined }, choice);
}

/** Unknown finish reasons are taken for a regular end. */
function finishOf(stopReason: unknown, stopDetails: unknown, hasCalls: boolean): Finish {
	switch (stopReason) {
		case 'max_tokens':
		case 'model_context_window_exceeded':
			return { reason: 'length' };
		case 'tool_use':
			return { reason: 'calls' };
		case 'refusal':
			return { reason: 'refused', explanation: refusalText(stopDetails) };
		case 'end_turn':
			return { reason: hasCalls ? 'calls' : 'stop' };
		default:
			return { reason: 'stop' };
	}
}

function refusalText(stopDetails: unknown): string {
	const explanation = isJsonObject(stopDetails) ? stopDetails.explanation : undefined;
	return typeof explanation === 'string' && explanation !== '' ? explanation : 'The model declined to answer.';
}

function reportedUsage(reported: unknown): ConversationUsage {
	const details = isJsonObject(reported) && isJsonObject(reported.output_tokens_details) ? reported.output_tokens_details : {};
	return { usage: usageOfMessages(reported), reportsCacheWrites: true, reportsReasoning: typeof details.thinking_tokens === 'number' };
}

function invalid(what: string): UpstreamError {
	return new UpstreamError('provider_response_invalid', { message: `The provider’s response contains ${what}: retry later` });
}

/** True for a block that the provider accepts back: one that it signed or encrypted itself. */
function isReplayable(block: JsonObject): boolean {
	return signedThinkingOf(viewOf(block)) !== undefined;
}

export const messagesReading: ResponseReading = {
	createStreamReader: (sink) => new MessagesStreamReader(sink),
	readBody,
	readError,
	finishWarnings,
	fitToolName: (name) => name,
};
