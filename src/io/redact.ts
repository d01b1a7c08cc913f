/** The last guard of the log: whoever passes a secret by mistake finds it blacked out here. */
import type { LogFields } from '../core/log.ts';

const blackedOut = '[redacted]';
const maxDepth = 6;

/** Names whose values are secrets wherever they appear; `-` and `_` and upper case make no difference. */
const secretNames: ReadonlySet<string> = new Set([
	'accesstoken',
	'apikey',
	'authorization',
	'clientassertion',
	'clientsecret',
	'cookie',
	'credentials',
	'idtoken',
	'password',
	'privatekey',
	'proxyauthorization',
	'refreshtoken',
	'secret',
	'setcookie',
	'xapikey',
	'xgoogapikey',
]);

/** What a secret looks like in the middle of a message: a bearer token, a JWT, a provider key, a key in a query. */
const secretText =
	/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}|\beyJ[\w-]+\.[\w-]+\.[\w-]*|\bsk-[\w-]{8,}|\bAIza[\w-]{20,}|([?&](?:key|api[_-]?key|token|access_token|client_secret)=)[^&\s"']+/gi;

/** The fields with secrets blacked out, in names and in texts, and errors as plain objects. */
export function redact(fields: LogFields): LogFields {
	return redactMembers(fields, 0);
}

/**
 * The same for lines that are written for every request: texts of flat fields are taken as they are.
 * Returns the same object when there is nothing to change.
 */
export function redactFlat(fields: LogFields): LogFields {
	for (const name in fields) {
		const value = fields[name];
		if ((typeof value === 'object' && value !== null) || typeof value === 'bigint' || isSecretName(name)) return redact(fields);
	}
	return fields;
}

function redactMembers(source: object, depth: number): Record<string, unknown> {
	const clean: Record<string, unknown> = {};
	for (const [name, value] of Object.entries(source)) {
		clean[name] = isSecretName(name) && value !== undefined ? blackedOut : redactValue(value, depth + 1);
	}
	return clean;
}

function redactValue(value: unknown, depth: number): unknown {
	if (typeof value === 'string') return redactText(value);
	if (typeof value === 'bigint') return String(value);
	if (typeof value !== 'object' || value === null || value instanceof Date) return value;
	if (depth > maxDepth) return '[deeper]';
	if (value instanceof Error) return redactError(value, depth);
	if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
	if (Array.isArray(value)) return value.map((item) => redactValue(item, depth + 1));
	if (value instanceof Map || value instanceof Set) return redactValue([...value], depth);
	return redactMembers(value, depth);
}

function redactError(error: Error, depth: number): Record<string, unknown> {
	const { name, message, stack, cause } = error;
	return redactMembers({ ...Object.fromEntries(Object.entries(error)), name, message, stack, cause }, depth);
}

function redactText(text: string): string {
	return text.replace(secretText, (_match, scheme: string | undefined, prefix: string | undefined) => {
		if (scheme !== undefined) return `${scheme} ${blackedOut}`;
		return `${prefix ?? ''}${blackedOut}`;
	});
}

/** Names of fields are few and fixed; the bound is for those that come with foreign objects. */
const maxKnownNames = 1000;
const knownNames = new Map<string, boolean>();

function isSecretName(name: string): boolean {
	const known = knownNames.get(name);
	if (known !== undefined) return known;
	const isSecret = secretNames.has(name.toLowerCase().replaceAll(/[-_]/g, ''));
	if (knownNames.size < maxKnownNames) knownNames.set(name, isSecret);
	return isSecret;
}
