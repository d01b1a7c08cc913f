import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { usageOfGemini } from '../../usage/told-usage.ts';
import { blockReasonOf, candidatesOf, finishOf } from '../gemini/finish.ts';
import { answerInvalid, CandidateReader, type CandidateSink, type ToldCall } from '../gemini/read-answer.ts';
import { messageId, modelName, renderUsage, toolUseId, wantsThinking } from '../messages/message-answer.ts';
import { withSignature } from '../thought-signature.ts';
import { type TranslatedCall, toldToCaller } from '../translation.ts';
import { stopOf, stopOfBlocked, toolNamesOf } from './told-stop.ts';

/** The first candidate is the answer. @throws Fault `provider_answer_invalid`. */
export function translateAnswer(body: JsonObject, call: TranslatedCall): JsonObject {
	const [candidate] = candidatesOf(body);
	const blocked = blockReasonOf(body);
	if (candidate === undefined && blocked === undefined) throw answerInvalid('without a candidate');
	const blocks = new Blocks(call);
	const reader = new CandidateReader(blocks);
	if (candidate !== undefined) reader.read(candidate);
	return {
		id: messageId(body.responseId, call),
		type: 'message',
		role: 'assistant',
		model: modelName(body.modelVersion, call),
		content: blocks.list,
		...(candidate === undefined ? stopOfBlocked(blocked ?? '') : stopOf(finishOf(reader))),
		usage: renderUsage(toldToCaller(usageOfGemini(body.usageMetadata), call), call),
	};
}

/** Neighbours of one kind are one block, as in a stream. */
class Blocks implements CandidateSink {
	readonly list: JsonObject[] = [];
	readonly #call: TranslatedCall;
	readonly #showsThinking: boolean;
	readonly #nameOf: (name: string) => string;
	#callCount = 0;

	constructor(call: TranslatedCall) {
		this.#call = call;
		this.#showsThinking = wantsThinking(call);
		this.#nameOf = toolNamesOf(call.request);
	}

	addText(text: string): void {
		this.#add('text', text, {});
	}

	addThinking(text: string): void {
		// Not made up: what this provider signs is not its thinking but what follows from it.
		if (this.#showsThinking) this.#add('thinking', text, { signature: '' });
	}

	addCall({ id, name, args, signature }: ToldCall): void {
		const use = { type: 'tool_use', id: toolUseId(id, this.#callCount++, this.#call), name: this.#nameOf(name), input: args };
		this.list.push({ ...use, ...withSignature(signature) });
	}

	/** Of a text, which may come back without it. */
	addSignature(): void {}

	#add(type: 'text' | 'thinking', text: string, more: JsonObject): void {
		const last = this.list.at(-1);
		const earlier = isJsonObject(last) && last.type === type ? last[type] : undefined;
		if (typeof earlier === 'string') this.list[this.list.length - 1] = { ...last, [type]: earlier + text };
		else this.list.push({ type, [type]: text, ...more });
	}
}
