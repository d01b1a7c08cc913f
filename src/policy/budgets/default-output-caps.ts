/** Default output limits, in tokens of one choice, for requests without one. */
export interface OutputCaps {
	/** Limit for models that `models` does not name. */
	readonly default?: number | undefined;
	/** Limits by the model's name at its provider, or by the vendor's name. */
	readonly models?: Readonly<Record<string, number>> | undefined;
}

export interface DefaultOutputCapSettings extends OutputCaps {
	/** Limits by team id, which take precedence. */
	readonly teams?: Readonly<Record<string, OutputCaps>> | undefined;
}

interface CapTable {
	readonly byModel: ReadonlyMap<string, number>;
	readonly byDefault: number | undefined;
}

/** Chooses the default limit in this order: the team's for the model, the team's, the model's, the general one. */
export class DefaultOutputCaps {
	readonly #general: CapTable;
	readonly #teams: ReadonlyMap<string, CapTable>;

	constructor(settings: DefaultOutputCapSettings = {}) {
		this.#general = tableOf(settings);
		this.#teams = new Map(Object.entries(settings.teams ?? {}).map(([team, caps]) => [team, tableOf(caps)]));
	}

	/** @param knownAs the vendor's name of the model. @returns undefined for no limit. */
	capOf(team: string, model: string, knownAs: string): number | undefined {
		const own = this.#teams.get(team);
		return (own && capIn(own, model, knownAs)) ?? capIn(this.#general, model, knownAs);
	}
}

function tableOf({ models = {}, default: byDefault }: OutputCaps): CapTable {
	return { byModel: new Map(Object.entries(models)), byDefault };
}

function capIn({ byModel, byDefault }: CapTable, model: string, knownAs: string): number | undefined {
	return byModel.get(model) ?? byModel.get(knownAs) ?? byDefault;
}
