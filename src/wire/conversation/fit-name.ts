import { sha256Hex } from './sha256.ts';

const hashLength = 8;

/**
 * An id or name as both vendors take it: letters, digits, `_` and `-`, at most so many. Most pass unchanged. Others get a hash
 * of the whole, so that different ones stay different, and a call and its result stay joined without anything remembered.
 */
export function fitName(name: string, longest: number): string {
	if (name.length <= longest && /^[a-zA-Z0-9_-]+$/.test(name)) return name;
	const plain = name.slice(0, longest - hashLength - 1).replaceAll(/[^a-zA-Z0-9_-]/g, '_');
	return `${plain}_${sha256Hex(name).slice(0, hashLength)}`;
}

/** Chat completions refuse longer ones. */
export const longestCallId = 40;
export const longestToolName = 64;
