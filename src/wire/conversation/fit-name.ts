import { sha256Hex } from './sha256.ts';

const hashLength = 8;

/**
 * Converts an id or name into one that both vendors accept: letters, digits, `_` and `-`, up to a maximum length. Most pass unchanged.
 * Others end with a hash of the whole, so that different names stay different and a call matches its result without any state.
 */
export function fitName(name: string, maxLength: number): string {
	if (name.length <= maxLength && /^[a-zA-Z0-9_-]+$/.test(name)) return name;
	const plain = name.slice(0, maxLength - hashLength - 1).replaceAll(/[^a-zA-Z0-9_-]/g, '_');
	return `${plain}_${sha256Hex(name).slice(0, hashLength)}`;
}

/** Maximum length in chat completions. */
export const maxCallIdLength = 40;
export const maxToolNameLength = 64;
