/**
 * What a server behind us could read in a part of a request, whatever it was encoded as: patterns see plain lower-case text
 * with single spaces. Values of one part stand on lines of their own, so that no pattern spans two of them.
 */

/** No more than so much of a part is looked at; what is longer breaks a size rule. */
export const maxScannedLength = 8192;

/** One reading of a part, in the forms that patterns need. */
export interface Reading {
	/** Decoded, lower case, white space made one space each. */
	readonly plain: string;
	/** Without spaces: browsers and some parsers skip them. */
	readonly packed: string;
	/** Without `/* *\/` comments, which SQL and PHP take for a space. */
	readonly uncommented: string;
	/** Without the quotes, backslashes and carets that shells drop inside a word. */
	readonly unquoted: string;
}

/** Of a header field's value. */
export function readHeaderValue(value: string): readonly Reading[] {
	return readings(percentDecoded(value.slice(0, maxScannedLength)));
}

export function readPath(path: string): readonly Reading[] {
	return readings(percentDecoded(path.slice(0, maxScannedLength)));
}

/** Names and values of a query, each on its line. */
export function readQuery(query: string): readonly Reading[] {
	const lines = query
		.slice(0, maxScannedLength)
		.replace(/(^|&)([^&=]*)=/g, '$1$2\n')
		.replaceAll('&', '\n');
	return readings(percentDecoded(lines.replaceAll('+', ' ')));
}

/** Names and values of a `cookie` header field, each on its line. */
export function readCookies(cookie: string): readonly Reading[] {
	const lines = cookie
		.slice(0, maxScannedLength)
		.replace(/(^|;) ?([^;=]*)=/g, '$1$2\n')
		.replaceAll(';', '\n');
	return readings(percentDecoded(lines));
}

/** The beginning of a body, as it is. */
export function readBodyText(text: string): readonly Reading[] {
	return readings(percentDecoded(text.slice(0, maxScannedLength).replaceAll('\n', ' ')));
}

/** As decoded once; and as decoded again, where that is something else. */
function readings(once: string): readonly Reading[] {
	const first = reading(once);
	if (!/[%&\\\u00c0-\uffff]/.test(once)) return [first];
	const again = foldedWide(unescaped(percentDecoded(once)));
	return again === once ? [first] : [first, reading(again)];
}

function reading(decoded: string): Reading {
	const plain = decoded.toLowerCase().replace(/[^\n!-~\u0080-\u009f\u00a1-\uffff]+/g, ' ');
	const uncommented = plain.includes('/*') ? withoutComments(plain) : plain;
	return {
		plain,
		packed: plain.includes(' ') ? plain.replaceAll(' ', '') : plain,
		uncommented,
		unquoted: /['"\\^]/.test(plain) ? plain.replace(/['"\\^]+/g, '') : plain,
	};
}

/** One byte a character: what stands for more bytes stays several characters. */
function percentDecoded(text: string): string {
	if (!text.includes('%')) return text;
	return text.replace(/%(?:u([0-9a-fA-F]{4})|([0-9a-fA-F]{2}))/g, (_whole, wide?: string, narrow?: string) =>
		characterOf(Number.parseInt(wide ?? narrow ?? '', 16)),
	);
}

const entities: Readonly<Record<string, string>> = {
	lt: '<',
	gt: '>',
	amp: '&',
	quot: '"',
	apos: "'",
	colon: ':',
	lpar: '(',
	rpar: ')',
	sol: '/',
	newline: ' ',
	tab: ' ',
	nbsp: ' ',
};

/** Character references of HTML; escapes of JavaScript and JSON. */
function unescaped(text: string): string {
	let plain = text;
	if (plain.includes('&')) {
		plain = plain.replace(
			/&(?:#x([0-9a-f]{1,6})|#([0-9]{1,7})|([a-z]{2,7}));?/gi,
			(whole, hex?: string, decimal?: string, name?: string) => {
				if (name !== undefined) return entities[name.toLowerCase()] ?? whole;
				return characterOf(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16));
			},
		);
	}
	if (plain.includes('\\')) {
		plain = plain.replace(/\\(?:u\{?([0-9a-f]{2,4})\}?|x([0-9a-f]{2}))/gi, (_whole, wide?: string, narrow?: string) =>
			characterOf(Number.parseInt(wide ?? narrow ?? '', 16)),
		);
	}
	return plain;
}

/** Full-width forms of ASCII, as characters or as their bytes in UTF-8; and slashes and dots in two bytes, which UTF-8 forbids. */
function foldedWide(text: string): string {
	if (!/[\u00c0-\uffff]/.test(text)) return text;
	return text
		.replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
		.replace(/\u00ef\u00bc([\u0081-\u00bf])/g, (_whole, last: string) => String.fromCharCode(last.charCodeAt(0) - 0x60))
		.replace(/\u00ef\u00bd([\u0080-\u009e])/g, (_whole, last: string) => String.fromCharCode(last.charCodeAt(0) - 0x20))
		.replace(/([\u00c0\u00c1])([\u0080-\u00bf])/g, (_whole, first: string, second: string) =>
			characterOf(((first.charCodeAt(0) & 1) << 6) | (second.charCodeAt(0) & 0x3f)),
		);
}

/** Line ends and other control characters are white space, but NUL: readers in C end there, others drop it. */
function characterOf(code: number): string {
	if (code === 0) return '';
	if (code < 0x20 || code === 0x7f) return ' ';
	return code > 0xffff ? '\ufffd' : String.fromCharCode(code);
}

/** In one pass: a pattern with a lazy middle would look for the end anew from each beginning that has none. */
function withoutComments(text: string): string {
	let rest = '';
	let from = 0;
	for (;;) {
		const begin = text.indexOf('/*', from);
		const end = begin === -1 ? -1 : text.indexOf('*/', begin + 2);
		if (end === -1) return (rest + text.slice(from)).replace(/ {2,}/g, ' ');
		rest += `${text.slice(from, begin)} `;
		from = end + 2;
	}
}
