import { Rejection } from '../../core/rejection.ts';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses a form body strictly: each parameter at most once, valid percent-encoding, valid UTF-8, no NUL. A parameter without a value is
 * treated as omitted (RFC 6749 section 3.1).
 * @throws `Rejection` `invalid_request`.
 */
export function parseTokenForm(body: Buffer): ReadonlyMap<string, string> {
	const parameters = new Map<string, string>();
	const seen = new Set<string>();
	for (const pair of decodeUtf8(body).split('&')) {
		if (pair === '') continue;
		const equals = pair.indexOf('=');
		const name = decodeFormText(equals === -1 ? pair : pair.slice(0, equals));
		const value = equals === -1 ? '' : decodeFormText(pair.slice(equals + 1));
		if (seen.has(name)) throw malformed('A parameter is repeated');
		seen.add(name);
		if (value !== '') parameters.set(name, value);
	}
	return parameters;
}

/** @throws `Rejection` `invalid_request`. */
export function decodeFormText(text: string): string {
	let decoded: string;
	try {
		decoded = decodeURIComponent(text.replaceAll('+', ' '));
	} catch (cause) {
		throw malformed('The percent-encoding is malformed or not UTF-8', cause);
	}
	if (decoded.includes('\0')) throw malformed('A NUL character is not allowed');
	return decoded;
}

/** @throws `Rejection` `invalid_request`. */
export function decodeUtf8(bytes: Buffer): string {
	try {
		return decoder.decode(bytes);
	} catch (cause) {
		throw malformed('The text is not valid UTF-8', cause);
	}
}

function malformed(message: string, cause?: unknown): Rejection {
	return new Rejection('invalid_request', { message, cause });
}
