import type { PolicyMode } from './policy-mode.ts';

/** Models and providers that requests may use. An absent list allows all; an absent mode enforces. */
export interface AllowLists {
	readonly models?: ModelLists | undefined;
	readonly providers?: ProviderList | undefined;
	readonly require?: Requirement | undefined;
}

/** Patterns in which `*` stands for any text. */
export interface ModelLists {
	readonly allow?: readonly string[] | undefined;
	readonly deny?: readonly string[] | undefined;
	readonly mode?: PolicyMode | undefined;
}

export interface ProviderList {
	/** Names of providers. */
	readonly allow: readonly string[];
	readonly mode?: PolicyMode | undefined;
}

/** Facts that a provider must have. */
export interface Requirement extends ProviderFacts {
	readonly mode?: PolicyMode | undefined;
}

/** Properties of a provider that the operator states. An absent one is unknown, and meets no requirement. */
export interface ProviderFacts {
	readonly region?: string | undefined;
	readonly retention?: string | undefined;
}

export const allowListNames = ['models.deny', 'models.allow', 'providers', 'require.region', 'require.retention'] as const;
export type AllowListName = (typeof allowListNames)[number];

/** A list that does not allow a target. */
export interface Denial {
	readonly list: AllowListName;
	/** The list with its owner, such as `teams.search.models.deny` or `tiers.sandbox.providers`. */
	readonly path: string;
	readonly mode: PolicyMode;
}
