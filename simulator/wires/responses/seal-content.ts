/** Makes `encrypted_content`, and recognizes its own. It is bound to a dialect and key, as the vendor's is to an account. */
import { createHash } from 'node:crypto';
import type { SeededRandom } from '../../seeded-random.ts';

const prefix = 'gAAAAAB';

/** @param text that the content stands for; only its length matters. */
export function sealContent(owner: string, text: string, random: SeededRandom): string {
	const nonce = random.letters(16);
	const digest = digestOf(owner, nonce);
	const padding = digest.repeat(Math.ceil(text.length / digest.length)).slice(0, text.length);
	return prefix + Buffer.from(`${nonce}.${digest}.${padding}`, 'latin1').toString('base64url');
}

export function isOwnContent(owner: string, sealed: string): boolean {
	if (!sealed.startsWith(prefix)) return false;
	const [nonce = '', digest] = Buffer.from(sealed.slice(prefix.length), 'base64url').toString('latin1').split('.');
	return digest === digestOf(owner, nonce);
}

function digestOf(owner: string, nonce: string): string {
	return createHash('sha256').update(`${owner}\n${nonce}`).digest('hex');
}
