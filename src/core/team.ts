/** A team as the data plane needs it. A client belongs to at most one. */
export interface Team {
	/** Slug: lower-case letters, digits, `-`, `_`, `.`; 1 to 64 characters. */
	readonly id: string;
	readonly name: string;
	/** Name of a tier of the configuration. */
	readonly tier: string;
	readonly clientIds: readonly string[];
}
