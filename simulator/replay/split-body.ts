import { createSeededRandom } from '../seeded-random.ts';
import type { ReplayCut } from './scripted-responses.ts';

/** Cuts the body into non-empty pieces. */
export function* cutBody(body: Buffer, cut: ReplayCut): Generator<Buffer> {
	if (body.length === 0) return;
	if (cut === 'none') {
		yield body;
		return;
	}
	if (cut === 'events') {
		yield* cutAtBlankLines(body);
		return;
	}
	const random = createSeededRandom(cut.seed);
	for (let start = 0; start < body.length; ) {
		const end = start + random.integer(cut.bytes[0], cut.bytes[1]);
		yield body.subarray(start, end);
		start = end;
	}
}

function* cutAtBlankLines(body: Buffer): Generator<Buffer> {
	const text = body.toString('latin1');
	let start = 0;
	for (const match of text.matchAll(/\r\n\r\n|\n\n|\r\r/g)) {
		const end = match.index + match[0].length;
		yield body.subarray(start, end);
		start = end;
	}
	if (start < body.length) yield body.subarray(start);
}
