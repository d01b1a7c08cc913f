const percent = 0x25;

/** Decodes percent-encoded bytes as UTF-8, in one pass over megabytes. Invalid escapes stay as they are, so nothing throws. */
export function percentDecoded(text: string): string {
	if (!text.includes('%')) return text;
	const bytes = Buffer.from(text);
	let length = bytes.indexOf(percent);
	for (let at = length; at < bytes.length; at++) {
		const byte = bytes[at] ?? 0;
		const decoded = byte === percent ? (digitAt(bytes, at + 1) << 4) | digitAt(bytes, at + 2) : -1;
		bytes[length++] = decoded < 0 ? byte : decoded;
		if (decoded >= 0) at += 2;
	}
	return bytes.toString('utf8', 0, length);
}

/** Returns the value of a hexadecimal digit; -1 for anything else. */
function digitAt(bytes: Buffer, at: number): number {
	const byte = bytes[at] ?? 0;
	if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
	const letter = byte | 0x20;
	return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
