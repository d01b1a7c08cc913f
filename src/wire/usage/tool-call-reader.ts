import type { ToolCalls } from '../../core/usage.ts';
import type { JsonObject } from '../json/parse-body.ts';

/** Reads calls of hosted tools. */
export interface ToolCallReader {
	/** Text in each event of a stream with a finished call. */
	readonly mark: string;
	/** Returns what is known of the finished call in an event of a stream. */
	callIn(event: JsonObject): JsonObject | undefined;
	/**
	 * Counts the charged calls.
	 * @param response a body, or the last event with usage. @param streamed calls in the events before it.
	 */
	count(response: JsonObject, streamed: readonly JsonObject[]): ToolCalls | undefined;
}
