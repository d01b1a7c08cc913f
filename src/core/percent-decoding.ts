const escapes = /(?:%[\da-f]{2})+/gi;

/** Resolves percent-encoded bytes as UTF-8. What is no escape stays, so that nothing throws. */
export function percentDecoded(text: string): string {
	if (!text.includes('%')) return text;
	return text.replaceAll(escapes, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString());
}
