/** Tokenizer of the simulator: one token is four UTF-16 units, and a partial token counts as one. */
export const unitsPerToken = 4;

export function countTokens(text: string): number {
	return Math.ceil(text.length / unitsPerToken);
}

/** Tokens of an image, a recording or a file, whatever its size. */
export const tokensPerAttachment = 256;

/** Tokens of each message in addition to its texts. */
export const tokensPerMessage = 3;

/** Returns the first `tokens` tokens of a text; one unit less to avoid splitting a surrogate pair. */
export function headOf(text: string, tokens: number): string {
	return text.slice(0, wholeCharacterEnd(text, tokens * unitsPerToken, -1));
}

/** Cuts a text into pieces whose sizes are evaluated one by one. Pieces never split a surrogate pair. */
export function* piecesOf(text: string, tokensPerPiece: () => number): Generator<string> {
	let start = 0;
	while (start < text.length) {
		const end = wholeCharacterEnd(text, start + tokensPerPiece() * unitsPerToken, 1);
		yield text.slice(start, end);
		start = end;
	}
}

function wholeCharacterEnd(text: string, end: number, step: 1 | -1): number {
	if (end >= text.length) return text.length;
	const isTorn = (text.charCodeAt(end) & 0xfc00) === 0xdc00 && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
	return isTorn ? end + step : end;
}
