import type { UpstreamRequest } from '../../core/upstream.ts';
import { fieldLine } from '../field-line.ts';

const sendableMethod = /^[A-Z]+$/;
const sendableTarget = /^\/[!-~\x80-\xff]*$/;

const length = /^\d{1,15}$/;

/** What says how the rest of the connection is to be read is this client's own. */
const ownNames: ReadonlySet<string> = new Set([
	'connection',
	'expect',
	'host',
	'keep-alive',
	'proxy-connection',
	'te',
	'trailer',
	'transfer-encoding',
	'upgrade',
]);

/** Of methods that usually have none a body's absence needs no word. */
const methodsWithBody: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/** Everything before the body, a character for each byte. @throws Error when something of it would break the head, or change it. */
export function requestHead({ origin, method, target, headers, body }: UpstreamRequest): string {
	if (!sendableMethod.test(method) || !sendableTarget.test(target)) throw new Error('The method or the target of a request cannot be sent');
	let fields = '';
	let isFramed = false;
	for (const name in headers) {
		const value = headers[name] ?? '';
		if (ownNames.has(name) || name !== name.toLowerCase()) throw new Error(`The header ${JSON.stringify(name)} cannot be sent`);
		if (name === 'content-length') {
			if (!length.test(value)) throw new Error(`${JSON.stringify(value)} is no length of a body`);
			isFramed = true;
		}
		fields += fieldLine(name, value);
	}
	if (body !== null && !Buffer.isBuffer(body)) {
		if (!isFramed) fields += 'transfer-encoding: chunked\r\n';
	} else if (isFramed) {
		throw new Error('The length of a body that is there is not for its sender to say');
	} else if (body !== null || methodsWithBody.has(method)) {
		fields += `content-length: ${body?.length ?? 0}\r\n`;
	}
	const host = origin.slice(origin.indexOf('://') + 3);
	return `${method} ${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n${fields}\r\n`;
}
