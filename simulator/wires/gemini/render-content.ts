/** Renders responses of generateContent, non-streaming and as a stream of partial responses. */
import type { JsonObject } from '../../json-value.ts';
import type { PlannedCall, PlannedChoice, Usage } from '../../plan/response-plan.ts';
import { stepsOf } from '../../plan/response-steps.ts';
import type { SeededRandom } from '../../seeded-random.ts';
import type { WireEvent, WireResponse } from '../wire.ts';

export interface ContentOptions {
	readonly model: string;
	readonly showsThoughts: boolean;
	/** `alt=sse`; otherwise the stream is one JSON array. */
	readonly isSse: boolean;
}

export function renderContent(response: WireResponse, options: ContentOptions): JsonObject {
	const { plan, random, quirks } = response;
	const candidates = plan.choices.map((choice, index) => {
		const parts = renderParts(choice, index === 0 ? plan.thinking : '', options, random);
		return {
			// A response whose tokens were all reasoning has no parts.
			content: parts.length === 0 ? { role: 'model' } : { parts, role: 'model' },
			finishReason: finishReasonOf(choice),
			index,
			...(choice.calls.length > 0 ? { finishMessage: 'Model generated function call(s).' } : {}),
		};
	});
	const isBlocked = plan.choices[0]?.stop === 'filter';
	return {
		...(isBlocked ? { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } } : { candidates }),
		...(quirks.omitsUsage ? {} : { usageMetadata: renderUsageMetadata(plan.usage, plan.usage.output) }),
		modelVersion: options.model,
		responseId: random.letters(22),
	};
}

function renderParts(choice: PlannedChoice, thinking: string, options: ContentOptions, random: SeededRandom): JsonObject[] {
	const parts: JsonObject[] = [];
	if (options.showsThoughts && thinking !== '') parts.push({ text: thinking, thought: true });
	const text = choice.text === '' ? choice.refusal : choice.text;
	if (text !== '') parts.push({ text, ...(thinking === '' || choice.calls.length > 0 ? {} : { thoughtSignature: signatureFrom(random) }) });
	for (const [index, call] of choice.calls.entries()) parts.push(renderCall(call, index, random));
	return parts;
}

/** Renders a function call. Of parallel calls only the first carries a signature. */
function renderCall(call: PlannedCall, index: number, random: SeededRandom): JsonObject {
	return {
		functionCall: { name: call.name, args: readArgs(call.input) },
		...(index === 0 ? { thoughtSignature: signatureFrom(random) } : {}),
	};
}

function readArgs(input: string): unknown {
	try {
		return JSON.parse(input);
	} catch {
		return {};
	}
}

export function signatureFrom(random: SeededRandom): string {
	return Buffer.from(random.letters(72), 'latin1').toString('base64');
}

function finishReasonOf(choice: PlannedChoice): string {
	switch (choice.stop) {
		case 'length':
			return 'MAX_TOKENS';
		case 'refusal':
		case 'filter':
			return 'SAFETY';
		default:
			return 'STOP';
	}
}

function renderUsageMetadata(usage: Usage, output: number): JsonObject {
	const prompt = usage.input + usage.cacheRead;
	const thoughts = Math.min(output, usage.reasoning);
	return {
		promptTokenCount: prompt,
		...(output > thoughts ? { candidatesTokenCount: output - thoughts } : {}),
		totalTokenCount: prompt + output,
		...(usage.cacheRead > 0 ? { cachedContentTokenCount: usage.cacheRead } : {}),
		promptTokensDetails: [{ modality: 'TEXT', tokenCount: prompt }],
		...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
	};
}

/** Approximate number of text tokens in the vendor's long chunks. */
const tokensPerChunk = 16;

export function* streamContent(response: WireResponse, options: ContentOptions): Generator<WireEvent> {
	const { plan, random, quirks } = response;
	const responseId = random.letters(22);
	let generated = 0;
	let carried = 0;
	let sent = 0;
	const chunk = (rest: JsonObject): WireEvent => {
		generated += carried;
		const text = JSON.stringify({
			...rest,
			...(quirks.omitsUsage ? {} : { usageMetadata: renderUsageMetadata(plan.usage, generated) }),
			modelVersion: options.model,
			responseId,
		});
		const bytes = options.isSse ? `data: ${text}\r\n\r\n` : `${sent === 0 ? '[' : ',\r\n'}${text}`;
		const event = { bytes, outputTokens: carried };
		carried = 0;
		sent += 1;
		return event;
	};
	const partChunk = (index: number, part: JsonObject): WireEvent =>
		chunk({ candidates: [{ content: { parts: [part], role: 'model' }, index }] });

	if (plan.choices[0]?.stop === 'filter') {
		yield chunk({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } });
	} else {
		for (const step of stepsOf(plan, () => quirks.tokensPerEvent ?? tokensPerChunk)) {
			carried += step.outputTokens;
			if (step.part.kind === 'call') {
				// A function call comes in one chunk.
				if (step.phase === 'close') yield partChunk(step.choice, renderCall(step.part.call, step.part.callIndex, random));
			} else if (step.phase === 'piece' && (step.part.kind !== 'thinking' || options.showsThoughts)) {
				yield partChunk(step.choice, { text: step.text, ...(step.part.kind === 'thinking' ? { thought: true } : {}) });
			}
		}
		for (const [index, choice] of plan.choices.entries()) {
			const signature = index === 0 && plan.thinking !== '' && choice.calls.length === 0 ? { thoughtSignature: signatureFrom(random) } : {};
			yield chunk({
				candidates: [{ content: { parts: [{ text: '', ...signature }], role: 'model' }, finishReason: finishReasonOf(choice), index }],
			});
		}
	}
	if (!options.isSse) yield { bytes: ']', outputTokens: 0 };
}
