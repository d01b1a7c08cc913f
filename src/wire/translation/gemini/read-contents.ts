import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { readEvents } from '../read-events.ts';
import { readJson } from '../read-json.ts';
import { answerInvalid } from './read-answer.ts';

/**
 * Calls `take` with each partial answer in these events; an error may come in a list.
 * @throws Fault `provider_answer_invalid` for what is neither.
 */
export function readContents(events: Buffer, take: (told: JsonObject) => void): void {
	readEvents(events, (data) => {
		// What Google's own layer for chat completions ends with.
		if (data.trim() === '[DONE]') return;
		const told = unlisted(readJson(data));
		if (!isJsonObject(told)) throw answerInvalid('with an event that is not a JSON object');
		take(told);
	});
}

/** Google's servers put errors into lists of one. */
export function unlisted(told: unknown): unknown {
	return Array.isArray(told) ? (told as readonly unknown[])[0] : told;
}
