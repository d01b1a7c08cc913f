import { equals, type LineMark, startsWith, valueOffset } from '../../events/event-boundaries.ts';
import { errorMembers } from '../../gateway-error.ts';
import type { ClientDialect } from '../dialect.ts';
import { requestUsage } from './request-edits.ts';

/** Streams of OpenAI's formats before Responses, and the request for their usage. */
export const openaiEvents = {
	requestUsage,
	withoutUsageOption: ({ stream_options: _dropped, ...body }) => body,
	markLine,
	isComplete: isFinished,
	reportsUsageNext: isFinished,
	renderErrorEvent: (error) => Buffer.from(`data: ${JSON.stringify(errorMembers(error))}\n\n`),
} as const satisfies Partial<ClientDialect>;

/** Some servers omit `[DONE]`. No text of a model can match, because its quotes are escaped. */
function isFinished(tail: Buffer): boolean {
	return tail.includes('"finish_reason":"') || tail.includes('"finish_reason": "');
}

/** `data: [DONE]` ends a stream. An error is a data line `{"error": ...}`; some vendors name the event `error`. */
function markLine(bytes: Buffer, start: number, end: number): LineMark {
	const data = valueOffset(bytes, start, end, 'data:');
	if (data !== -1) {
		if (equals(bytes, data, end, '[DONE]')) return 'terminal';
		return isErrorData(bytes, data, end) || startsWith(bytes, data, end, typedErrorHead) ? 'error' : 'none';
	}
	const event = valueOffset(bytes, start, end, 'event:');
	return event !== -1 && equals(bytes, event, end, 'error') ? 'error' : 'none';
}

/** Returns true for an object that begins with an error. */
export function isErrorData(bytes: Buffer, data: number, end: number): boolean {
	return startsWith(bytes, data, end, errorHead) && hasError(bytes, data + errorHead.length, end);
}

const errorHead = '{"error"';
/** Begin of an error in the formats of other endpoints, which servers that have several may send. */
const typedErrorHead = '{"type":"error"';

/** Some vendors put `"error": null` into ordinary chunks. */
function hasError(bytes: Buffer, from: number, end: number): boolean {
	for (let at = from; at < end; at++) {
		const byte = bytes[at];
		if (byte === 0x7b || byte === 0x22) return true;
		if (byte !== 0x3a && byte !== 0x20) return false;
	}
	return false;
}
