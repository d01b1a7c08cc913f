import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';

const finishReasons: ReadonlyMap<unknown, string> = new Map([
	['max_tokens', 'length'],
	['model_context_window_exceeded', 'length'],
	['tool_use', 'tool_calls'],
	['refusal', 'content_filter'],
]);

/** Of reasons yet unknown nothing is known but that the answer is over. */
export function finishReason(stopReason: unknown, hasCalls: boolean, isLegacy: boolean): string {
	const reason = finishReasons.get(stopReason) ?? (hasCalls && stopReason === 'end_turn' ? 'tool_calls' : 'stop');
	return reason === 'tool_calls' && isLegacy ? 'function_call' : reason;
}

/** A turn that was paused is to be sent back to be gone on with, for which chat completions have no word. */
export function answerWarnings({ stop_reason: reason }: JsonObject): readonly string[] {
	return reason === 'pause_turn' ? ['finish_reason: stop for pause_turn, after which the turn is not over'] : [];
}

/** What a refusal says. */
export function refusalText(stopDetails: unknown): string {
	const explanation = isJsonObject(stopDetails) ? stopDetails.explanation : undefined;
	return typeof explanation === 'string' && explanation !== '' ? explanation : 'The model declined to answer.';
}
