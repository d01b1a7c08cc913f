/** Caps on output, in tokens of one choice, for requests that name none. */
export interface OutputCaps {
	/** For models that `models` does not name. */
	readonly default?: number | undefined;
	/** By the model's name at its provider, or by the vendor's name of it. */
	readonly models?: Readonly<Record<string, number>> | undefined;
}

export interface DefaultOutputCapSettings extends OutputCaps {
	/** By the team's id; these go before the others. */
	readonly teams?: Readonly<Record<string, OutputCaps>> | undefined;
}

interface CapTable {
	readonly byModel: ReadonlyMap<string, number>;
	readonly byDefault: number | undefined;
}

/** Which cap a request gets that names none: its team's for the model, its team's, the model's, the general one. */
export class DefaultOutputCaps {
	readonly #general: CapTable;
	readonly #teams: ReadonlyMap<string, CapTable>;

	constructor(settings: DefaultOutputCapSettings = {}) {
		this.#general = tableOf(settings);
		this.#teams = new Map(Object.entries(settings.teams ?? {}).map(([team, caps]) => [team, tableOf(caps)]));
	}

	/** @param knownAs the vendor's name of the model. @returns undefined for no cap. */
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
