/** Stores the responses to requests with an `idempotency-key`, so that a repeated request changes nothing. */
import { createHash } from 'node:crypto';
import { BoundedMap } from '../../core/bounded-map.ts';
import type { Clock } from '../../core/clock.ts';
import { Rejection } from '../../core/rejection.ts';
import { fieldInvalid } from './fields-rejection.ts';
import type { CsvResponse } from './operation.ts';

export interface RepeatableRequest {
	/** The client, and what else decides what its requests may do. */
	readonly owner: string;
	readonly path: string;
	/** `idempotency-key` as received. */
	readonly key: string;
	readonly body: Buffer;
}

const retentionMs = 24 * 3_600_000;
const maxCachedBytes = 16 * 2 ** 20;
/** Estimated overhead of an entry in addition to its response. */
const entryBytes = 500;

interface CachedEntry {
	readonly bodyHash: string;
	readonly endsAtMs: number;
	readonly bytes: number;
	readonly response: Promise<CsvResponse>;
}

/**
 * Runs the task of a new request, or returns the response to the first one. Responses stay in the memory of this process for a day. Errors
 * are not stored: a rejected request changed nothing.
 * @throws `Rejection` `idempotency_key_reused`; `FieldsRejection` `fields_invalid` for an invalid key; errors of the task.
 */
export function createIdempotency(clock: Clock): (request: RepeatableRequest, task: () => Promise<CsvResponse>) => Promise<CsvResponse> {
	const cached = new BoundedMap<string, CachedEntry>(maxCachedBytes, ({ bytes }) => bytes);
	return async ({ owner, path, key, body }, task) => {
		if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
			throw fieldInvalid('idempotency-key', 'must be 1 to 255 printable ASCII characters without spaces');
		}
		const name = JSON.stringify([owner, path, key]);
		const bodyHash = createHash('sha256').update(body).digest('base64');
		const before = cached.get(name);
		if (before !== undefined && before.endsAtMs > clock.monotonicMs()) {
			if (before.bodyHash !== bodyHash) throw new Rejection('idempotency_key_reused');
			const response = await before.response;
			return { ...response, headers: { ...response.headers, 'idempotency-replayed': 'true' } };
		}
		const entry = { bodyHash, endsAtMs: clock.monotonicMs() + retentionMs, bytes: entryBytes, response: task() };
		cached.set(name, entry);
		try {
			const response = await entry.response;
			cached.set(name, { ...entry, bytes: entryBytes + JSON.stringify(response).length });
			return response;
		} catch (cause) {
			if (cached.get(name) === entry) cached.delete(name);
			throw cause;
		}
	};
}
