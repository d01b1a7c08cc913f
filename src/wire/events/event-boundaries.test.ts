import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRecordings, recordedBytes } from '../../../test/support/recordings.ts';
import { chat as chatCompletions } from '../dialects/chat/chat.ts';
import { messages } from '../dialects/messages/messages.ts';
import { EventBoundaries, type MarkLine } from './event-boundaries.ts';

const chat = chatCompletions.markLine;

interface Outcome {
	readonly boundaries: number[];
	readonly isTerminated: boolean;
	readonly hasFailed: boolean;
}

/** Feeds the bytes in pieces. `boundaries` are absolute offsets at which a piece was reported to end an event. */
function follow(bytes: Buffer, cuts: readonly number[], markLine: MarkLine): Outcome {
	const frames = new EventBoundaries(markLine);
	const boundaries: number[] = [];
	const ends = [...cuts.filter((cut) => cut < bytes.length), bytes.length].toSorted((one, other) => one - other);
	let start = 0;
	for (const end of ends) {
		const boundary = frames.push(bytes.subarray(start, end), []);
		if (boundary > 0) boundaries.push(start + boundary);
		start = end;
	}
	return { boundaries, isTerminated: frames.isTerminated, hasFailed: frames.hasFailed };
}

/** Finds the ends of events by a slow reference algorithm. */
function eventEnds(text: string): number[] {
	const ends: number[] = [];
	let isLineEmpty = true;
	for (let at = 0; at < text.length; at++) {
		const isCrlf = text[at] === '\r' && text[at + 1] === '\n';
		if (text[at] !== '\n' && text[at] !== '\r') {
			isLineEmpty = false;
			continue;
		}
		if (isCrlf) at++;
		if (isLineEmpty) ends.push(at + 1);
		isLineEmpty = true;
	}
	return ends;
}

const recordings = [
	...readRecordings('openai').map((recording) => ({ recording, markLine: chat })),
	...readRecordings('azure').map((recording) => ({ recording, markLine: chat })),
	...readRecordings('anthropic').map((recording) => ({ recording, markLine: messages.markLine })),
].filter(({ recording: { response } }) => response.sse?.endsWith('\n\n') === true);

describe('EventBoundaries', () => {
	it('has recordings to follow', () => {
		expect(recordings.length).toBeGreaterThan(12);
	});

	it.each(recordings.map((entry) => [entry.recording.name, entry] as const))(
		'detects the end of %s however it is cut',
		(_name, { recording, markLine }) => {
			const bytes = recordedBytes(recording);
			const last = eventEnds(bytes.toString('latin1')).at(-1);
			expect(follow(bytes, [], markLine)).toEqual({ boundaries: [last], isTerminated: true, hasFailed: false });
			const everywhere = Array.from({ length: bytes.length }, (_, index) => index + 1);
			expect(follow(bytes, everywhere, markLine).boundaries).toEqual(eventEnds(bytes.toString('latin1')));
			fc.assert(
				fc.property(fc.array(fc.nat(bytes.length)), (cuts) => {
					const outcome = follow(bytes, cuts, markLine);
					expect(outcome.isTerminated).toBe(true);
					expect(outcome.boundaries.at(-1)).toBe(last);
				}),
				{ numRuns: 25 },
			);
		},
	);

	it.each(recordings.map((entry) => [entry.recording.name, entry] as const))(
		'never takes a cut %s for a complete one',
		(_name, { recording, markLine }) => {
			const bytes = recordedBytes(recording);
			const last = eventEnds(bytes.toString('latin1')).at(-1) ?? 0;
			for (let length = Math.max(0, last - 150); length < last; length++) {
				expect(follow(bytes.subarray(0, length), [length >> 1], markLine).isTerminated).toBe(false);
			}
		},
	);

	it('follows lines that end with LF, CR or CRLF, in any mixture and any cutting', () => {
		const piece = fc.constantFrom('\n', '\r', '\r\n', '\n\n', '\r\r', '\r\n\r\n', 'data: x', 'data: [DONE]', ':', 'event: error');
		fc.assert(
			fc.property(fc.array(piece, { maxLength: 30 }), fc.array(fc.nat(200)), (pieces, cuts) => {
				const text = pieces.join('');
				const bytes = Buffer.from(text);
				const whole = follow(bytes, [], chat);
				const cut = follow(bytes, cuts, chat);
				expect({ ...cut, boundaries: 0 }).toEqual({ ...whole, boundaries: 0 });
				expect(whole.boundaries.at(-1)).toBe(eventEnds(text).at(-1));
				expect(cut.boundaries.at(-1)).toBe(eventEnds(text).at(-1));
			}),
			{ numRuns: 2000 },
		);
	});

	it.each([
		['data: [DONE]\n\n', true, false],
		['data:[DONE]\n\n', true, false],
		['data: [DONE]   \r\n\r\n', true, false],
		['data: [DONE]\r\r', true, false],
		['data: [DONE]\n', false, false],
		['data: [DONE]x\n\n', false, false],
		['data: x[DONE]\n\n', false, false],
		['data: {"choices":[{"delta":{"content":"data: [DONE]"}}]}\n\n', false, false],
		[': data: [DONE]\n\n', false, false],
		['data: {"error":{"message":"m"}}\n\n', false, true],
		['data: {"error": {"message": "m"}}\n\n', false, true],
		['data: {"error":"m"}\n\n', false, true],
		['data: {"type":"error","error":{"message":"m"}}\n\n', false, true],
		['data: {"error":null,"choices":[]}\n\n', false, false],
		['event: error\ndata: {}\n\n', false, true],
		['event: errors\ndata: {}\n\n', false, false],
	])('reads %j of a chat completions stream', (text, isTerminated, hasFailed) => {
		for (const cuts of [[], Array.from({ length: text.length }, (_, index) => index)]) {
			expect(follow(Buffer.from(text), cuts, chat)).toMatchObject({ isTerminated, hasFailed });
		}
	});
});
