import { isJsonObject } from '../../json/parse-body.ts';

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

/** What a refusal says. */
export function refusalText(stopDetails: unknown): string {
	const explanation = isJsonObject(stopDetails) ? stopDetails.explanation : undefined;
	return typeof explanation === 'string' && explanation !== '' ? explanation : 'The model declined to answer.';
}
