import { errorMembers, type GatewayError } from '../../gateway-error.ts';
import { KeyScan, skipSpace, WantedKeys } from '../../usage/key-scan.ts';
import type { ErrorEnding } from '../dialect.ts';
import { withVendorCode } from './client-errors.ts';

const sequenceKey = Buffer.from('"sequence_number"');
const openBrace = 0x7b;
const lineFeed = 0x0a;
const colon = 0x3a;

const response = 0;
const id = 1;
const headNames = ['response', 'id', 'created_at', 'model'] as const;
const headKeys = new WantedKeys(headNames);

/** Follows the numbers of events and the identity of the response, which its last event must repeat. Buffers nothing. */
export class ResponsesErrorEnding implements ErrorEnding {
	#next = 0;
	#head: Readonly<Record<string, unknown>> | undefined;

	push(bytes: Buffer): void {
		this.#head ??= readHead(bytes);
		const key = bytes.lastIndexOf(sequenceKey);
		if (key === -1) return;
		const at = skipSpace(bytes, key + sequenceKey.length, bytes.length);
		if (bytes[at] !== colon) return;
		const number = Number.parseInt(bytes.toString('latin1', at + 1, at + 20), 10);
		if (Number.isSafeInteger(number)) this.#next = number + 1;
	}

	end(error: GatewayError): readonly Buffer[] {
		const events = [errorEvent(error, this.#next)];
		if (this.#head !== undefined) events.push(failedEvent(error, this.#next + 1, this.#head));
		return events;
	}
}

/** Contains the error in both forms: the one of the schema, and the nested one that OpenAI sends. Some clients ignore one of them. */
export function errorEvent(cause: GatewayError, sequence_number: number): Buffer {
	const error = withVendorCode(cause);
	const { code, message, param = null } = error;
	return eventOf({ type: 'error', sequence_number, code, message, param, ...errorMembers(error) });
}

function failedEvent(cause: GatewayError, sequence_number: number, head: Readonly<Record<string, unknown>>): Buffer {
	const { code, message } = withVendorCode(cause);
	const failed = {
		...head,
		object: 'response',
		status: 'failed',
		error: { code, message },
		incomplete_details: null,
		instructions: null,
		metadata: {},
		output: [],
		parallel_tool_calls: true,
		temperature: null,
		tool_choice: 'auto',
		tools: [],
		top_p: null,
		usage: null,
	};
	return eventOf({ type: 'response.failed', sequence_number, response: failed });
}

function eventOf(event: { readonly type: string } & Readonly<Record<string, unknown>>): Buffer {
	return Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

/** Reads the response of the first event without parsing its copies of instructions and tools. @returns undefined if it has no id. */
function readHead(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
	const from = bytes.indexOf(openBrace);
	if (from === -1) return undefined;
	const lineEnd = bytes.indexOf(lineFeed, from);
	const end = lineEnd === -1 ? bytes.length : lineEnd;
	const head: Record<string, unknown> = {};
	const scan = new KeyScan(headKeys);
	scan.start(bytes, from, end);
	let isInside = false;
	let missing = headNames.length - 1;
	while (missing > 0 && scan.next()) {
		const { name, depth, valueStart } = scan;
		if (depth === 1) isInside = name === response;
		if (depth !== 2 || !isInside || name < id) continue;
		head[headNames[name] ?? ''] = readScalar(bytes, valueStart, end);
		missing--;
	}
	return typeof head.id === 'string' ? head : undefined;
}

/** Reads a string or a number. */
function readScalar(bytes: Buffer, start: number, end: number): unknown {
	const text = bytes.toString('utf8', start, Math.min(end, start + 512));
	const [scalar] = /^(?:"(?:[^"\\]|\\.)*"|-?[\d.eE+]+)/.exec(text) ?? [];
	try {
		return scalar === undefined ? undefined : (JSON.parse(scalar) as unknown);
	} catch {
		return undefined;
	}
}
