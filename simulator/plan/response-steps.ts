/** Orders a planned response into generation steps, which renderers turn into the events of their wire dialect. */
import { countTokens, piecesOf, unitsPerToken } from '../token-count.ts';
import type { PlannedCall, PlannedChoice, ResponsePlan } from './response-plan.ts';

export type ResponsePart =
	| { readonly kind: 'thinking' | 'text' | 'refusal' }
	| { readonly kind: 'call'; readonly call: PlannedCall; readonly callIndex: number };

export interface ResponseStep {
	readonly choice: number;
	readonly part: ResponsePart;
	readonly phase: 'open' | 'piece' | 'close';
	readonly text: string;
	/** Output tokens that this step adds to the bill. The name of a tool call is generated when it opens. */
	readonly outputTokens: number;
}

/**
 * Steps of all choices, interleaved piece by piece when there are several. Reasoning comes once, before the first.
 * @param tokensPerPiece - evaluated before each piece of text and reasoning; tool call input comes token by token.
 */
export function* stepsOf(plan: ResponsePlan, tokensPerPiece: () => number): Generator<ResponseStep> {
	if (plan.thinking !== '') yield* stepsOfPart(0, { kind: 'thinking' }, piecesOf(plan.thinking, tokensPerPiece));
	let running = plan.choices.map((choice, index) => stepsOfChoice(choice, index, tokensPerPiece));
	while (running.length > 0) {
		const stillRunning: Generator<ResponseStep>[] = [];
		for (const steps of running) {
			const next = steps.next();
			if (next.done === true) continue;
			yield next.value;
			stillRunning.push(steps);
		}
		running = stillRunning;
	}
}

function* stepsOfChoice(choice: PlannedChoice, index: number, tokensPerPiece: () => number): Generator<ResponseStep> {
	if (choice.text !== '') yield* stepsOfPart(index, { kind: 'text' }, choice.textPieces ?? piecesOf(choice.text, tokensPerPiece));
	if (choice.refusal !== '') yield* stepsOfPart(index, { kind: 'refusal' }, piecesOf(choice.refusal, tokensPerPiece));
	for (const [callIndex, call] of choice.calls.entries()) {
		yield* stepsOfPart(
			index,
			{ kind: 'call', call, callIndex },
			piecesOf(call.input, () => 1),
		);
	}
}

function* stepsOfPart(choice: number, part: ResponsePart, pieces: Iterable<string>): Generator<ResponseStep> {
	yield { choice, part, phase: 'open', text: '', outputTokens: part.kind === 'call' ? countTokens(part.call.name) : 0 };
	let counted = 0;
	let length = 0;
	for (const text of pieces) {
		length += text.length;
		const total = Math.ceil(length / unitsPerToken);
		yield { choice, part, phase: 'piece', text, outputTokens: total - counted };
		counted = total;
	}
	yield { choice, part, phase: 'close', text: '', outputTokens: 0 };
}
