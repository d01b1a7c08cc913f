import { discardStream, isByteStream } from '../../../core/byte-stream.ts';
import type { HttpBody } from '../../../core/handler.ts';

const sliceBytes = 65_536;

/** Splits a large body into pieces, so that the progress of a slow client is visible. */
export function* slices(body: Buffer): Generator<Buffer> {
	for (let start = 0; start < body.length; start += sliceBytes) yield body.subarray(start, start + sliceBytes);
}

/** RFC 9110 section 6.4.1. */
export function canHaveBody(status: number): boolean {
	return status >= 200 && status !== 204 && status !== 304;
}

/** Cancels a stream without a reader, so that its source stops. */
export function discard(body: HttpBody): void {
	if (!isByteStream(body)) return;
	try {
		discardStream(body);
	} catch {
		// The stream was already started: its reader ends it.
	}
}
