/** The simulator's tokenizer: one token is four UTF-16 units of a text, a started one counts whole. */
export const unitsPerToken = 4;

export function countTokens(text: string): number {
	return Math.ceil(text.length / unitsPerToken);
}

/** What an image, a recording or a file costs, whatever its size. */
export const tokensPerAttachment = 256;

/** What each message costs beyond its texts. */
export const tokensPerMessage = 3;

/** The first `tokens` tokens of a text; one unit less where a surrogate pair would be torn. */
export function headOf(text: string, tokens: number): string {
	return text.slice(0, wholeCharacterEnd(text, tokens * unitsPerToken, -1));
}

/** A text in pieces of so many tokens each, as asked for piece by piece. Pieces never tear a surrogate pair. */
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
