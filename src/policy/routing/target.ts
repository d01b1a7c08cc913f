declare const routed: unique symbol;

/** Resolved target of a request. Only routing creates one; a forged one does not compile. */
export interface Target {
	readonly [routed]: true;
	/** Name of a configured provider. */
	readonly provider: string;
	/** Model's name at the provider. */
	readonly model: string;
	/** Configured name that led to this target; undefined for none. */
	readonly alias?: string;
}

/** Targets in the order of attempts. */
export type Targets = readonly [Target, ...Target[]];

/** Creates a target; reserved for routing. */
export function decideTarget(provider: string, model: string, alias?: string): Target {
	return (alias === undefined ? { provider, model } : { provider, model, alias }) as Target;
}
