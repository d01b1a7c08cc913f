/**
 * Log of the newest 100,000 requests, and of the newest 1,000 also their headers and recorded bodies (64 MiB in all). Secrets are cut to
 * their last four characters.
 */
import type { HeaderFields, HttpRequest } from '../../src/core/handler.ts';
import type { BilledTokens, RequestOutcome } from './bill.ts';
import { noBilledTokens } from './bill.ts';

export interface RequestEntry {
	/** Request id in the vendor's response header. */
	readonly id: string;
	readonly time: string;
	readonly method: string;
	readonly path: string;
	readonly query: string;
	wire: string;
	key: string;
	model: string;
	status: number | null;
	isStream: boolean;
	/** Faults of the request: field names of the fault plan. */
	faults: readonly string[];
	/** `pending` until the request ends. */
	outcome: RequestOutcome | 'pending';
	tokens: BilledTokens;
	webSearches: number;
	/** Encrypted reasoning items in the request that this simulator made. */
	returnedReasoning: number;
	events: number;
	bodyBytes: number;
	durationMs: number | null;
}

export interface Received {
	readonly headers: Readonly<Record<string, string | string[] | undefined>>;
	readonly bodySha256: string;
	readonly body: Buffer | undefined;
}

export interface RequestLog {
	open(row: Pick<RequestEntry, 'id' | 'time' | 'method' | 'path' | 'query' | 'wire'>): RequestEntry;
	/** @param body stored for display; undefined: only its digest is stored. */
	keepReceived(
		row: RequestEntry,
		request: Pick<HttpRequest, 'headers' | 'announcedLength'>,
		sha256: string,
		body: Buffer | undefined,
	): void;
	/** Returns the newest requests first. */
	list(filter: {
		limit: number;
		key?: string | undefined;
		model?: string | undefined;
		dialect?: string | undefined;
		id?: string | undefined;
	}): object[];
	clear(): void;
}

const maxRows = 100_000;
const maxReceived = 1000;
const maxBodyBytes = 67_108_864;

export function createRequestLog(): RequestLog {
	let rows: RequestEntry[] = [];
	const received = new Map<RequestEntry, Received>();
	let bodyBytes = 0;

	const dropOldestReceived = (): void => {
		for (const [row, retained] of received) {
			bodyBytes -= retained.body?.length ?? 0;
			received.delete(row);
			return;
		}
	};

	return {
		open(start) {
			const row: RequestEntry = {
				...start,
				key: '',
				model: '',
				status: null,
				isStream: false,
				faults: [],
				outcome: 'pending',
				tokens: noBilledTokens,
				webSearches: 0,
				returnedReasoning: 0,
				events: 0,
				bodyBytes: 0,
				durationMs: null,
			};
			rows.push(row);
			if (rows.length >= 2 * maxRows) rows = rows.slice(-maxRows);
			return row;
		},
		keepReceived(row, request, sha256, body) {
			const retained: Received = { headers: withoutSecrets(withLength(request)), bodySha256: sha256, body };
			bodyBytes += retained.body?.length ?? 0;
			received.set(row, retained);
			while (received.size > maxReceived || (bodyBytes > maxBodyBytes && received.size > 1)) dropOldestReceived();
		},
		list({ limit, key, model, dialect, id }) {
			const found: object[] = [];
			const oldest = Math.max(0, rows.length - maxRows);
			for (let index = rows.length - 1; index >= oldest && found.length < limit; index--) {
				const row = rows[index];
				if (row === undefined) break;
				if (key !== undefined && row.key !== lastFour(key)) continue;
				if ((model !== undefined && row.model !== model) || (dialect !== undefined && row.wire !== dialect)) continue;
				if (id !== undefined && row.id !== id) continue;
				found.push(renderRow(row, received.get(row)));
			}
			return found;
		},
		clear() {
			rows = [];
			received.clear();
			bodyBytes = 0;
		},
	};
}

/** Returns the only part of a key that is ever displayed. */
export function lastFour(key: string): string {
	return key.slice(-4);
}

const secretHeaders = [
	'authorization',
	'x-api-key',
	'api-key',
	'x-goog-api-key',
	'ocp-apim-subscription-key',
	'x-amz-security-token',
	'cookie',
	'proxy-authorization',
];

function withoutSecrets(headers: HeaderFields): Record<string, string | string[] | undefined> {
	const retained: Record<string, string | string[] | undefined> = { ...headers };
	for (const name of secretHeaders) {
		const value = retained[name];
		if (value !== undefined) retained[name] = `…${lastFour(String(value))}`;
	}
	return retained;
}

function renderRow(row: RequestEntry, received: Received | undefined): object {
	return {
		id: row.id,
		time: row.time,
		method: row.method,
		path: row.path,
		query: row.query.replace(/(^|&)key=[^&]*/g, '$1key=…'),
		dialect: row.wire,
		key: row.key,
		model: row.model,
		status: row.status,
		stream: row.isStream,
		faults: row.faults,
		outcome: row.outcome,
		tokens: {
			input: row.tokens.input,
			cache_write: row.tokens.cacheWrite,
			cache_read: row.tokens.cacheRead,
			output: row.tokens.output,
			reasoning: row.tokens.reasoning,
		},
		web_search_calls: row.webSearches,
		returned_reasoning: row.returnedReasoning,
		events: row.events,
		duration_ms: row.durationMs,
		body_bytes: row.bodyBytes,
		...(received === undefined
			? {}
			: {
					headers: received.headers,
					body_sha256: received.bodySha256,
					...(received.body === undefined ? {} : { body: received.body.toString('utf8') }),
				}),
	};
}

/** Restores `content-length`, which the server parses into a separate field. */
function withLength({ headers, announcedLength = 0 }: Pick<HttpRequest, 'headers' | 'announcedLength'>): HeaderFields {
	return announcedLength === 0 ? headers : { 'content-length': String(announcedLength), ...headers };
}
