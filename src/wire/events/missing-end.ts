import { StreamEvent } from './stream-event.ts';

const emptyLine = Buffer.from('\n');
const lineEndAndEmptyLine = Buffer.from('\n\n');
const lineFeed = 0x0a;

/**
 * Some servers end a stream without the empty line after its last event.
 * @param event the rest of a stream that has ended.
 * @returns what to append to make it an event; undefined for half of one, or none.
 */
export function missingEnd(event: Buffer): Buffer | undefined {
	const read = StreamEvent.ofBytes(event);
	const isWhole = read.data?.trim() === '[DONE]' || read.value() !== undefined;
	if (!isWhole) return undefined;
	return event.at(-1) === lineFeed ? emptyLine : lineEndAndEmptyLine;
}
