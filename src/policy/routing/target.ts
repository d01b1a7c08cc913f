declare const routed: unique symbol;

/** Where a call goes, decided. Only routing makes one; a forged one does not compile. */
export interface Target {
	readonly [routed]: true;
	/** Name of a configured provider. */
	readonly provider: string;
	/** The model's name there. */
	readonly model: string;
	/** The configured name that led here; undefined: none did. */
	readonly alias?: string;
}

/** In the order in which they are to be tried. */
export type Targets = readonly [Target, ...Target[]];

/** For routing alone. */
export function decideTarget(provider: string, model: string, alias?: string): Target {
	return (alias === undefined ? { provider, model } : { provider, model, alias }) as Target;
}
