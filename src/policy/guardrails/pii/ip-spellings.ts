/** Detects IP addresses, except those of every machine (loopback, unspecified, network masks), which identify no one. */

export const maxIpLength = 45;
const nobodys = new Set(['0.0.0.0', '127.0.0.1', '255.255.255.255', '::1', '::']);

export function isIpv4(text: string): boolean {
	const parts = text.split('.');
	return (
		parts.length === 4 &&
		parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256) &&
		!nobodys.has(text) &&
		!text.startsWith('255.255.')
	);
}

/** Checks the syntax of RFC 4291 section 2.2. */
export function isIpv6(text: string): boolean {
	if (text.length > maxIpLength || nobodys.has(text)) return false;
	const halves = text.split('::');
	if (halves.length > 2) return false;
	let groups = 0;
	for (const [index, half] of halves.entries()) {
		if (half === '') continue;
		const parts = half.split(':');
		const last = parts.at(-1) ?? '';
		if (index === halves.length - 1 && last.includes('.')) {
			if (!isIpv4(last)) return false;
			parts.pop();
			groups += 2;
		}
		if (!parts.every((part) => /^[0-9a-f]{1,4}$/i.test(part))) return false;
		groups += parts.length;
	}
	// Names in code have two colons too: `ab::cd`. An address has more than two groups, or a digit.
	return halves.length === 2 ? groups < 8 && (groups > 2 || /\d/.test(text)) && groups > 1 : groups === 8;
}

/** Notation of threat reports, which prevents links: `192.0.2[.]1`. */
const defanged = /(?<![a-z0-9.])\d{1,3}(?:(?:\[\.\]|\(\.\)|\[dot\]|\.)\d{1,3}){3}(?![a-z0-9]|\.\d)/gi;
const defangedDots = ['[.]', '(.)', '[dot]', '[DOT]'];

/** @returns the IPv4 addresses with dots in brackets. */
export function defangedIpsIn(text: string): readonly { readonly start: number; readonly end: number }[] {
	if (!defangedDots.some((dot) => text.includes(dot))) return [];
	const found: { start: number; end: number }[] = [];
	for (const { 0: written, index } of text.matchAll(defanged)) {
		// Addresses with plain dots only are found as numbers.
		if (!/[[(]/.test(written)) continue;
		if (isIpv4(written.replaceAll(/[[(](?:\.|dot)[\])]/gi, '.'))) found.push({ start: index, end: index + written.length });
	}
	return found;
}
