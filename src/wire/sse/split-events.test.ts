import fc from 'fast-check';
import { expect, it } from 'vitest';
import { splitEvents } from './split-events.ts';

function split(...chunks: readonly string[]): { readonly events: readonly string[]; readonly rest: string } {
	const events: string[] = [];
	let rest = Buffer.alloc(0);
	for (const chunk of chunks) {
		rest = Buffer.from(splitEvents(Buffer.concat([rest, Buffer.from(chunk)]), (event) => events.push(event.toString())));
	}
	return { events, rest: rest.toString() };
}

it.each(['\n', '\r\n', '\r'])('cuts after the empty line, with lines that end with %j', (end) => {
	const first = `event: a${end}data: 1${end}${end}`;
	const second = `data: 2${end}data: 3${end}${end}`;
	expect(split(`${first}${second}data: 4`)).toEqual({ events: [first, second], rest: 'data: 4' });
});

it('gives every byte once and in order, however they come', () => {
	const piece = fc.constantFrom('\r', '\n', '\r\n', 'data: x', ':', '\n\n', '\r\n\r\n', '\r\r');
	fc.assert(
		fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
			const { events, rest } = split(...pieces);
			expect(events.join('') + rest).toBe(pieces.join(''));
			expect(rest).not.toMatch(/\n\n|\r\r|\n\r/);
		}),
	);
});
