import { BoundedMap } from '../../core/bounded-map.ts';

/** Name of a team's further models in ledger entries and reports. */
export const otherModel = 'other';

/**
 * Maximum number of unlisted models that are reported by name, for each team and month. Clients choose model names, so without a limit a
 * client could add one entry per request to reports, sums and the list of unpriced models.
 */
export const maxUnlistedModels = 100;

/** Maximum number of tracked teams; an evicted team starts again. */
const maxTeams = 10_000;

/** Maximum length of a name in the ledger. */
const maxNameLength = 256;

interface TeamModels {
	/** UTC month such as `2026-11`. */
	month: string;
	readonly names: Set<string>;
}

interface ModelOfProvider {
	readonly provider: string;
	readonly model: string;
}

/** Decides the reported name of a request to an unlisted model. One instance per process, which outlives configurations. */
export class ReportedModels {
	readonly #teams = new BoundedMap<string, TeamModels>(maxTeams);

	/**
	 * @param month UTC month of the request's admission, such as `2026-11`.
	 * @param instead the name for models beyond the limit.
	 */
	nameOf(team: string, month: string, target: ModelOfProvider, instead = otherModel): string {
		return this.#take(team, month, target) ? target.model : instead;
	}

	/** Restores a model that an earlier process reported in the month. */
	restore(team: string, month: string, target: ModelOfProvider): void {
		this.#take(team, month, target);
	}

	#take(team: string, month: string, { provider, model }: ModelOfProvider): boolean {
		const { names } = this.#modelsOf(team, month);
		const key = JSON.stringify([provider, model.slice(0, maxNameLength)]);
		if (names.has(key)) return true;
		if (names.size >= maxUnlistedModels) return false;
		names.add(key);
		return true;
	}

	#modelsOf(team: string, month: string): TeamModels {
		let models = this.#teams.get(team);
		if (models === undefined) {
			models = { month, names: new Set() };
			this.#teams.set(team, models);
		}
		// A request that fails over to another target can have begun in the previous month.
		if (month > models.month) {
			models.month = month;
			models.names.clear();
		}
		return models;
	}
}
