import { Refusal } from '../../core/refusal.ts';

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
