/** A team as the data plane needs it. A client belongs to at most one. */
export interface Team {
	/** Slug: lower-case letters, digits, `-`, `_`, `.`; 1 to 64 characters. */
	readonly id: string;
	readonly name: string;
	/** Name of a tier of the configuration. */
	readonly tier: string;
	readonly clientIds: readonly string[];
	/** Its own in place of the tier's. */
	readonly limits?: TeamLimits;
	/** For its owners; means nothing here. */
	readonly metadata?: Readonly<Record<string, string>>;
	/** Unix milliseconds; absent for teams of the configuration. */
	readonly createdAtMs?: number;
	readonly updatedAtMs?: number;
}

/** Null is unlimited; what is absent is as the tier says. */
export interface TeamLimits {
	readonly requestsPerMinute?: number | null;
	readonly dailyTokens?: number | null;
}
