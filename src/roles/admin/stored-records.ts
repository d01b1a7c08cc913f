/** What operations on one stored record have in common: entity tags, and the answers to records that are missing, stale or new. */
import { Refusal } from '../../core/refusal.ts';
import type { Author, Stored, VersionedStore } from '../../stores/contracts/records.ts';
import { fieldInvalid } from './fields-refusal.ts';
import type { Answer } from './operation.ts';

/** @param version differs between any two states of the record. */
export function entityTag(version: number | string): string {
	return `"${version}"`;
}

/**
 * RFC 9110 section 13.1.1: by strong comparison, so that a weak tag never matches; neither does what is no tag.
 * @param tag of the record as it is; undefined when there is none.
 * @throws Refusal `record_stale`.
 */
export function requireMatch(ifMatch: string | undefined, tag: string | undefined): void {
	if (ifMatch === undefined) return;
	const wanted = ifMatch.split(',').map((one) => one.trim());
	if (tag === undefined || !(wanted.includes(tag) || ifMatch.trim() === '*')) throw new Refusal('record_stale');
}

export interface RequestedChange {
	readonly ifMatch: string | undefined;
	readonly author: Author;
}

type Store<Key, Value> = Pick<VersionedStore<Key, Value, string>, 'get' | 'delete'>;

/** @param missing what to say where there is none. @throws Refusal `record_unknown`. */
export async function findStored<Key, Value>(store: Store<Key, Value>, key: Key, missing: string): Promise<Stored<Value>> {
	const found = await store.get(key);
	if (found === undefined) throw new Refusal('record_unknown', { message: missing });
	return found;
}

/** @throws Refusal `record_unknown`, `record_stale`. */
export async function deleteStored<Key, Value>(
	store: Store<Key, Value>,
	key: Key,
	missing: string,
	{ ifMatch, author }: RequestedChange,
): Promise<Answer> {
	const { version } = await findStored(store, key, missing);
	requireMatch(ifMatch, entityTag(version));
	if ((await store.delete(key, { author, ifVersion: version })) !== 'deleted') throw new Refusal('record_stale');
	return {};
}

/** @throws Refusal for a body with another id than the address. */
export function requireSameId(change: { readonly id?: string | undefined }, id: string): void {
	if (change.id !== undefined && change.id !== id) throw fieldInvalid('id', 'must equal the id in the path: ids are immutable');
}

/** @param folder of the new record's address. */
export function answerCreated({ headers, ...answer }: Answer, folder: string, id: string): Answer {
	return { ...answer, headers: { ...headers, location: `${folder}/${encodeURIComponent(id)}` } };
}
