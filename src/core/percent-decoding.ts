const escapes = /(?:%[\da-f]{2})+/gi;

/** Decodes percent-encoded bytes as UTF-8. Invalid escapes stay as they are, so nothing throws. */
export function percentDecoded(text: string): string {
	if (!text.includes('%')) return text;
	return text.replaceAll(escapes, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString());
}
