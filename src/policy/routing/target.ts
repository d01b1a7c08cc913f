declare const routed: unique symbol;

/** Where a call goes, decided. Only routing makes one; a forged one does not compile. */
export interface Target {
	readonly [routed]: true;
	/** Name of a configured provider. */
	readonly provider: string;
	/** The model's name there. */
	readonly model: string;
}

/** In the order in which they are to be tried. */
export type Targets = readonly [Target, ...Target[]];

/** For routing alone. */
export function decideTarget(provider: string, model: string): Target {
	return { provider, model } as Target;
}
