import fc from 'fast-check';
import { expect, it } from 'vitest';
import { EventFramer } from './event-framer.ts';

interface Framed {
	readonly events: readonly string[];
	/** Joined bytes of the batches. */
	readonly bytes: string;
	readonly rest: string;
}

function frame(chunks: readonly Buffer[]): Framed {
	const framer = new EventFramer(() => 'none');
	const batches = chunks.flatMap((chunk) => framer.push(chunk) ?? []);
	return {
		events: batches.flatMap((batch) => batch.events.map((event) => event.bytes.toString())),
		bytes: batches.map((batch) => batch.bytes.toString()).join(''),
		rest: framer.takeBuffered().toString(),
	};
}

const buffers = (...texts: readonly string[]): Buffer[] => texts.map((text) => Buffer.from(text));

it.each(['\n', '\r\n', '\r'])('cuts after the empty line, with lines that end with %j', (end) => {
	const first = `event: a${end}data: 1${end}${end}`;
	const second = `data: 2${end}data: 3${end}${end}`;
	const framed = { events: [first, second], bytes: first + second, rest: 'data: 4' };
	expect(frame(buffers(`${first}${second}data: 4`))).toEqual(framed);
	const oneByOne = frame(buffers(...Array.from(`${first}${second}data: 4`)));
	expect(oneByOne.bytes + oneByOne.rest).toBe(framed.bytes + framed.rest);
	// The LF of a CRLF that arrives after its CR becomes a separate event without meaning.
	expect(oneByOne.events.map((event) => event.replace(/^\n/, '')).filter((event) => event !== '')).toEqual(
		framed.events.map((event) => (end === '\r\n' ? event.slice(0, -1) : event)),
	);
});

it('returns every byte once and in order, in events and in batches alike, however they arrive', () => {
	const piece = fc.constantFrom('\r', '\n', '\r\n', 'data: x', ':', '\n\n', '\r\n\r\n', '\r\r', 'é');
	fc.assert(
		fc.property(fc.array(piece, { maxLength: 20 }), fc.array(fc.nat(60)), (pieces, cuts) => {
			const bytes = Buffer.from(pieces.join(''));
			const edges = [0, ...cuts.filter((cut) => cut < bytes.length).toSorted((one, other) => one - other), bytes.length];
			const framed = frame(edges.slice(1).map((end, at) => bytes.subarray(edges[at], end)));
			expect(framed.bytes + framed.rest).toBe(bytes.toString());
			expect(framed.events.join('')).toBe(framed.bytes);
			expect(framed.rest).not.toMatch(/\n\n|\r\r|\n\r/);
		}),
		{ numRuns: 1000 },
	);
});

it('completes a last event that lacks its empty line, and drops an incomplete one', () => {
	const ended = (text: string) => {
		const framer = new EventFramer(() => 'none');
		framer.push(Buffer.from(text));
		const { batch, appended, droppedBytes } = framer.end();
		return [batch?.bytes.toString(), appended?.toString(), droppedBytes];
	};
	expect(ended('data: {"a":1}')).toEqual(['data: {"a":1}\n\n', '\n\n', 0]);
	expect(ended('data: [DONE]\n')).toEqual(['data: [DONE]\n\n', '\n', 0]);
	expect(ended('data: {"a":')).toEqual([undefined, undefined, 11]);
	expect(ended('data: {}\n\n')).toEqual([undefined, undefined, 0]);
});
