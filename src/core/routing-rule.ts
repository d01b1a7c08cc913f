import type { ClientDialectName } from './dialect-name.ts';

/** An operator's word on where calls go. */
export interface RoutingRule {
	/** Slug: lower-case letters, digits, `-`, `_`, `.`; 1 to 64 characters. */
	readonly id: string;
	readonly name: string;
	/** The rule with the smallest number that matches decides; of equal ones the first by id. */
	readonly priority: number;
	readonly isEnabled: boolean;
	readonly match: RoutingMatch;
	/** `priority`: the first target. `weighted`: each gets calls by its share of the weights. The others are to fall back on. */
	readonly strategy: 'priority' | 'weighted';
	readonly targets: readonly RoutingRuleTarget[];
	/** Unix milliseconds. */
	readonly createdAtMs: number;
	readonly updatedAtMs: number;
}

/** What is null matches every call. */
export interface RoutingMatch {
	/** As callers write it; `*` stands for any text. */
	readonly model: string | null;
	readonly team: string | null;
	readonly format: ClientDialectName | null;
}

export interface RoutingRuleTarget {
	readonly provider: string;
	/** Its name there; null: as the caller wrote it. */
	readonly model: string | null;
	/** A whole number; 0 takes no calls. */
	readonly weight: number;
}
