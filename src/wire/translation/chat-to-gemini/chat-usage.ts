import type { JsonObject } from '../../json/parse-body.ts';
import { usageOfGemini } from '../../usage/told-usage.ts';
import { renderUsage } from '../chat/render-usage.ts';
import { type TranslatedCall, toldToCaller } from '../translation.ts';

/** Usage of a Gemini answer as chat completions tell it. @returns undefined when nothing is known of it. */
export function chatUsage(told: unknown, call: TranslatedCall): JsonObject | undefined {
	const usage = toldToCaller(usageOfGemini(told), call);
	return usage && renderUsage(usage);
}
