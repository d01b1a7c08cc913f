import { type LineMark, startsWith, valueOffset } from '../../events/event-boundaries.ts';
import { isJsonObject, type JsonBody, type JsonObject } from '../../json/parse-body.ts';
import type { Edit } from '../../json/splice-body.ts';
import { requestedOutput, requestsThinkingBy } from '../../usage/request-facts.ts';
import { geminiUsage } from '../../usage/usage-reader.ts';
import type { ConversationDialect } from '../dialect.ts';
import { geminiRequestWriter } from './request-writer.ts';
import { geminiReading } from './response-reader.ts';

/** Gemini's `generateContent`. Its streams have no terminal event. */
export const gemini: ConversationDialect = {
	name: 'gemini',
	requestWriter: geminiRequestWriter,
	responses: geminiReading,
	usage: geminiUsage,
	editedMembers: ['generationConfig'],
	// Its streams always report usage.
	requestUsage: () => [],
	withoutUsageOption: (body) => body,
	requestedOutput(body) {
		const config = configOf(body);
		return requestedOutput(config, ['maxOutputTokens'], config.candidateCount);
	},
	writeCap,
	// It reports cache reads only.
	cacheWrites: () => 'none',
	requestsThinking(body) {
		const { thinkingConfig } = configOf(body);
		const { thinkingBudget, thinkingLevel } = isJsonObject(thinkingConfig) ? thinkingConfig : {};
		return requestsThinkingBy(thinkingLevel ?? thinkingBudget, 0);
	},
	surcharges: {},
	markLine,
	// No text of a model can match, because its quotes are escaped. The translation checks the rest.
	isComplete: (tail) => tail.includes('"finishReason"') || tail.includes('"blockReason"'),
	// Each event reports the usage so far.
	reportsUsageNext: () => false,
};

function configOf({ generationConfig }: JsonObject): JsonObject {
	return isJsonObject(generationConfig) ? generationConfig : {};
}

function writeCap({ bytes, members, ranges }: JsonBody, tokens: number): readonly Edit[] {
	const text = JSON.stringify({ ...configOf(members), maxOutputTokens: tokens });
	const range = ranges.get('generationConfig');
	if (range !== undefined) return [{ ...range, text }];
	const end = bytes.lastIndexOf(0x7d);
	return [{ start: end, end, text: `,"generationConfig":${text}` }];
}

/** An error is a data line with `error` only, sometimes in a list. */
function markLine(bytes: Buffer, start: number, end: number): LineMark {
	const data = valueOffset(bytes, start, end, 'data:');
	if (data === -1) return 'none';
	return startsWith(bytes, data, end, '{"error"') || startsWith(bytes, data, end, '[{"error"') ? 'error' : 'none';
}
