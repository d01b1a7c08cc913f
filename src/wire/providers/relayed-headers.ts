import type { HeaderFields } from '../../core/handler.ts';

/** What callers may see of an answer's header fields; account ids, cookies and the account's own limits stay here. */
const always: readonly string[] = ['content-type', 'content-encoding', 'x-should-retry'];

/** Some providers send these with successes too, where they only mislead. */
const onErrors: readonly string[] = ['retry-after', 'retry-after-ms'];

const requestIds: readonly string[] = ['x-request-id', 'request-id', 'apim-request-id'];

/** The caller's header fields of a provider's answer, taken from its own. */
export function relayedHeaders(status: number, received: HeaderFields): Record<string, string> {
	const headers: Record<string, string> = {};
	copy(always, received, headers);
	if (status >= 400) copy(onErrors, received, headers);
	for (const name of requestIds) {
		const value = received[name];
		if (typeof value !== 'string') continue;
		headers['x-gateway-upstream-request-id'] = value;
		break;
	}
	return headers;
}

/** True when the body is compressed although `identity` was asked for. */
export function isEncoded(received: HeaderFields): boolean {
	const encoding = received['content-encoding'];
	return encoding !== undefined && encoding !== '' && encoding !== 'identity';
}

/** Media type in lower case without parameters; empty when there is none. */
export function mediaTypeOf(fields: HeaderFields): string {
	const value = fields['content-type'];
	if (typeof value !== 'string') return '';
	const end = value.indexOf(';');
	return (end === -1 ? value : value.slice(0, end)).trim().toLowerCase();
}

function copy(names: readonly string[], from: HeaderFields, to: Record<string, string>): void {
	for (const name of names) {
		const value = from[name];
		if (typeof value === 'string') to[name] = value;
	}
}
