/** Signs the text of thinking blocks, so that a block that was changed by the client is detected. */
import { createHash } from 'node:crypto';

export function signThinking(shown: string, nonce: string): string {
	return Buffer.from(`sim1.${nonce}.${digestOf(shown, nonce)}`, 'latin1').toString('base64');
}

export function isOwnSignature(signature: string, shown: string): boolean {
	const [version, nonce, digest] = Buffer.from(signature, 'base64').toString('latin1').split('.');
	return version === 'sim1' && nonce !== undefined && digest === digestOf(shown, nonce);
}

function digestOf(shown: string, nonce: string): string {
	return createHash('sha256').update(`${nonce}\n${shown}`).digest('hex');
}
