import type { HeaderFields } from '../../core/handler.ts';

/** Header fields of responses that clients may receive; account ids, cookies and the account's own limits are dropped. */
const always: readonly string[] = ['content-type', 'content-encoding', 'x-should-retry'];

/** Some providers send these with successful responses too, where they only mislead. */
const onErrors: readonly string[] = ['retry-after', 'retry-after-ms'];

const requestIds: readonly string[] = ['x-request-id', 'request-id', 'apim-request-id'];

/** Selects the header fields of a provider's response for the client. */
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

/** True if the body is compressed although `identity` was requested. */
export function isEncoded(received: HeaderFields): boolean {
	const encoding = received['content-encoding'];
	return encoding !== undefined && encoding !== '' && encoding !== 'identity';
}

/** Returns the media type in lower case without parameters; empty if there is none. */
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
