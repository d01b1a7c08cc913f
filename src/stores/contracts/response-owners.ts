/** Owners of the ids under which providers store state of clients. Each backend passes `response-owners.contract.ts` unchanged. */

/** Owner of a stored response, conversation or item. */
export interface ResponseOwner {
	/** Team that created it. */
	readonly team: string;
	/** Target that stores it: no other one knows the id. */
	readonly provider: string;
	readonly model: string;
	/** Unix milliseconds. From then on the id is unknown. */
	readonly expiresAtMs: number;
}

/** Every method fails with `UpstreamError` `records_unavailable`. Changes are not announced. */
export interface ResponseOwners {
	/** Notes the owner of new ids, or extends the expiry of its own ones. An id of another team stays that team's until it expires. */
	note(ids: readonly string[], owner: ResponseOwner): Promise<void>;
	/** Returns the owners of those ids that are known. */
	find(ids: readonly string[]): Promise<ReadonlyMap<string, ResponseOwner>>;
	forget(id: string): Promise<void>;
	/** Removes expired ids, and all but the latest `maxIds` that were noted. */
	sweep(maxIds: number): Promise<void>;
}
