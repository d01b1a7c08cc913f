import type { ByteRange } from './scan-members.ts';

export interface Edit extends ByteRange {
	/** Replaces the bytes from `start` to `end`. */
	readonly text: string;
}

/** Changes these ranges of a body and keeps every other byte, because number formats, order and whitespace decide prompt caching. */
export function spliceBody(bytes: Buffer, edits: readonly Edit[]): Buffer {
	const [first] = edits;
	return first !== undefined && edits.length === 1 ? spliceOnce(bytes, first) : Buffer.concat(splicedPieces(bytes, edits));
}

/** Avoids the pieces, because most edited bodies have one edit. */
function spliceOnce(bytes: Buffer, { start, end, text }: Edit): Buffer {
	const textBytes = Buffer.byteLength(text);
	const spliced = Buffer.allocUnsafe(bytes.length - (end - start) + textBytes);
	bytes.copy(spliced, 0, 0, start);
	spliced.write(text, start);
	bytes.copy(spliced, start + textBytes, end);
	return spliced;
}

/** Edits like `spliceBody`, without a copy: returns pieces of the body and, between them, the replacements. */
export function splicedPieces(bytes: Buffer, edits: readonly Edit[]): readonly Buffer[] {
	const pieces: Buffer[] = [];
	let retained = 0;
	for (const edit of edits.toSorted((one, other) => one.start - other.start)) {
		pieces.push(bytes.subarray(retained, edit.start), Buffer.from(edit.text));
		retained = edit.end;
	}
	pieces.push(bytes.subarray(retained));
	return pieces;
}
