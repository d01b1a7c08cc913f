import { discardStream, isByteStream } from '../../../core/byte-stream.ts';
import type { HttpBody } from '../../../core/handler.ts';

const sliceBytes = 65_536;

/** A large body in pieces, so that a slow client makes progress that can be seen. */
export function* slices(body: Buffer): Generator<Buffer> {
	for (let start = 0; start < body.length; start += sliceBytes) yield body.subarray(start, start + sliceBytes);
}

/** RFC 9110 section 6.4.1. */
export function mayHaveBody(status: number): boolean {
	return status >= 200 && status !== 204 && status !== 304;
}

/** A stream that nobody will read still has to learn that. */
export function discard(body: HttpBody): void {
	if (!isByteStream(body)) return;
	try {
		discardStream(body);
	} catch {
		// It was started before: somebody else ends it.
	}
}
