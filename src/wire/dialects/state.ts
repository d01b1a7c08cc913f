import type { Rejection } from '../../core/rejection.ts';
import type { JsonObject } from '../json/parse-body.ts';

/**
 * State of responses at the provider. `off`: nothing is stored, and requests contain the whole conversation. `owner`: responses are stored,
 * and each id belongs to the team that created it.
 */
export type StateMode = 'off' | 'owner';

/** A stored response, conversation or item that a request names. */
export interface StateReference {
	readonly id: string;
	/** JSON path of the id's field. */
	readonly param: string;
	/** False for an item that contains its own content and may come from elsewhere. Its id must only not be another team's. */
	readonly isStored: boolean;
}

/** State of a stored response. */
export interface ResponseProgress {
	readonly id: string;
	readonly status: 'running' | 'complete' | 'failed' | 'cancelled';
}

/** Longer ids are unknown, as are those with other characters: no vendor creates them. */
export function canBeStoredId(id: string): boolean {
	return /^[\x21-\x7e]{1,256}$/.test(id);
}

/** State that providers keep for the requests of a format, under ids that all teams of the gateway share. */
export interface ProviderState {
	/** Returns what a valid request refers to. */
	references(members: JsonObject): readonly StateReference[];
	/** Returns the rejection of a reference to something that the target cannot have. */
	rejectReference(reference: StateReference): Rejection;
	/** True if a request asks the provider to generate the response after its own. */
	runsInBackground(members: JsonObject): boolean;
	/** Returns the state of the response in a body or an event of a stream; undefined if it contains none. */
	progressOf(reported: JsonObject): ResponseProgress | undefined;
	/** True if the provider stores the response to a request. */
	storesResponse(members: JsonObject): boolean;
	/** Returns the ids in a non-streaming response, or in a page of items. */
	idsOf(response: JsonObject): readonly string[];
	/** Returns true if an event may contain ids, without parsing it. */
	canHaveIds(event: Buffer): boolean;
	/** Returns the ids in an event of a stream. */
	idsOfEvent(event: JsonObject): readonly string[];
	/** Returns the ids of containers of hosted tools in a response or an event, which the provider keeps for responses not stored, too. */
	containersOf(reported: JsonObject): readonly string[];
}
