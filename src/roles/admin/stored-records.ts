/** Shared parts of operations on one stored record: entity tags, and the responses for missing, stale and new records. */
import { z } from 'zod';
import { Rejection } from '../../core/rejection.ts';
import type { Author, Stored, VersionedStore } from '../../stores/contracts/records.ts';
import { fieldInvalid } from './fields-rejection.ts';
import type { CsvResponse } from './operation.ts';

/** Parameters of a path that ends with a record's id. */
export const idParams = z.strictObject({ id: z.string() });

/** @param version differs between any two states of the record. */
export function entityTag(version: number | string): string {
	return `"${version}"`;
}

/**
 * Checks `if-match` by strong comparison (RFC 9110 section 13.1.1): weak and malformed tags never match.
 * @param tag current tag of the record; undefined if there is none.
 * @throws `Rejection` `record_stale`.
 */
export function requireMatch(ifMatch: string | undefined, tag: string | undefined): void {
	if (ifMatch === undefined) return;
	const wanted = ifMatch.split(',').map((one) => one.trim());
	if (tag === undefined || !(wanted.includes(tag) || ifMatch.trim() === '*')) throw new Rejection('record_stale');
}

export interface RequestedChange {
	readonly ifMatch: string | undefined;
	readonly author: Author;
}

type Store<Key, Value> = Pick<VersionedStore<Key, Value, string>, 'get' | 'delete'>;

/** @param missing message if there is no record. @throws `Rejection` `record_unknown`. */
export async function findStored<Key, Value>(store: Store<Key, Value>, key: Key, missing: string): Promise<Stored<Value>> {
	const found = await store.get(key);
	if (found === undefined) throw new Rejection('record_unknown', { message: missing });
	return found;
}

/** @throws `Rejection` `record_unknown`, `record_stale`. */
export async function deleteStored<Key, Value>(
	store: Store<Key, Value>,
	key: Key,
	missing: string,
	{ ifMatch, author }: RequestedChange,
): Promise<CsvResponse> {
	const { version } = await findStored(store, key, missing);
	requireMatch(ifMatch, entityTag(version));
	if ((await store.delete(key, { author, ifVersion: version })) !== 'deleted') throw new Rejection('record_stale');
	return {};
}

/** @throws `Rejection` for a body whose id differs from that of the path. */
export function requireSameId(change: { readonly id?: string | undefined }, id: string): void {
	if (change.id !== undefined && change.id !== id) throw fieldInvalid('id', 'must equal the id in the path: ids are immutable');
}

/** @param folder parent of the new record's path. */
export function respondCreated({ headers, ...response }: CsvResponse, folder: string, id: string): CsvResponse {
	return { ...response, headers: { ...headers, location: `${folder}/${encodeURIComponent(id)}` } };
}
