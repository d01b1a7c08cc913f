import type { ClientDialectName } from './dialect-name.ts';
import type { PolicyMode } from './policy-mode.ts';

/** Routing rule that an operator sets. */
export interface RoutingRule {
	/** Slug: lower-case letters, digits, `-`, `_`, `.`; 1 to 64 characters. */
	readonly id: string;
	readonly name: string;
	/** The matching rule with the smallest number decides; among equal numbers, the first by id. */
	readonly priority: number;
	readonly isEnabled: boolean;
	/** `monitor`: the rule is decided and recorded, and changes no targets. */
	readonly mode: PolicyMode;
	readonly match: RoutingMatch;
	/** `priority`: the first target. `weighted`: each target gets its share of requests by weight. The remaining targets are for failover. */
	readonly strategy: 'priority' | 'weighted';
	readonly targets: readonly RoutingRuleTarget[];
	/** Unix milliseconds. */
	readonly createdAtMs: number;
	readonly updatedAtMs: number;
}

/** Conditions of a rule. Null matches every request. */
export interface RoutingMatch {
	/** Model name as clients write it; `*` matches any text. */
	readonly model: string | null;
	readonly team: string | null;
	readonly format: ClientDialectName | null;
}

export interface RoutingRuleTarget {
	readonly provider: string;
	/** Model name at the provider; null keeps the client's name. */
	readonly model: string | null;
	/** A whole number; 0 receives no requests. */
	readonly weight: number;
}
