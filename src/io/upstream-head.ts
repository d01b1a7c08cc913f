import type { HeaderFields } from '../core/handler.ts';

/** Fields that belong to one connection (RFC 9110 section 7.6.1). */
const hopByHopNames: ReadonlySet<string> = new Set([
	'connection',
	'keep-alive',
	'proxy-authenticate',
	'proxy-authentication-info',
	'proxy-authorization',
	'proxy-connection',
	'te',
	'trailer',
	'transfer-encoding',
	'upgrade',
]);

/** The usual values of `connection`, which name no further field. */
const plainConnection = /^(?:keep-alive|close)$/i;

/** The end-to-end fields of a received head. A repeated field is joined with commas, except `set-cookie`, which stays a list. */
export function endToEndFields(received: HeaderFields): HeaderFields {
	const fields: Record<string, string | string[]> = {};
	const listed = listedNames(received['connection']);
	for (const name in received) {
		const value = received[name];
		if (value === undefined || hopByHopNames.has(name) || listed?.includes(name) === true) continue;
		fields[name] = typeof value === 'string' || name === 'set-cookie' ? value : value.join(', ');
	}
	return fields;
}

function listedNames(connection: string | string[] | undefined): string[] | undefined {
	if (connection === undefined || (typeof connection === 'string' && plainConnection.test(connection))) return undefined;
	return String(connection)
		.split(',')
		.map((name) => name.trim().toLowerCase());
}
