import type { AllowLists } from './allow-lists.ts';
import type { PolicyMode } from './policy-mode.ts';

export const maxTeamIdLength = 64;
/** Not dots alone, because an id is a path segment. */
export const teamIdPattern = /^\.*[a-z0-9_-][a-z0-9._-]*$/;
export const teamIdRule = 'must be 1 to 64 characters: lower-case letters, digits, `-`, `_` and `.`, and not dots alone';

/** A team as the data plane needs it. A client belongs to at most one team. */
export interface Team {
	/** Matches `teamIdPattern`. */
	readonly id: string;
	readonly name: string;
	/** Name of a tier in the configuration. */
	readonly tier: string;
	readonly clientIds: readonly string[];
	/** Limits that replace those of the tier. */
	readonly limits?: TeamLimits;
	/** Lists that replace those of the tier. */
	readonly allowLists?: AllowLists;
	/** Free-form data of the operator, which Tollgate does not interpret. */
	readonly metadata?: Readonly<Record<string, string>>;
	/** Unix milliseconds; absent for teams in the configuration. */
	readonly createdAtMs?: number;
	readonly updatedAtMs?: number;
}

/** Limits of a team. Null is unlimited; an absent limit comes from the tier. */
export interface TeamLimits {
	readonly requestsPerMinute?: number | null;
	readonly dailyTokens?: number | null;
	readonly tokensPerMinute?: number | null;
	readonly concurrentRequests?: number | null;
	/** Limits of a minute by pattern of model names. */
	readonly models?: Readonly<Record<string, ModelLimits>>;
	/** Mode of all these limits. Default `enforce`. */
	readonly mode?: PolicyMode;
}

export interface ModelLimits {
	readonly requestsPerMinute?: number | null;
	readonly tokensPerMinute?: number | null;
}
