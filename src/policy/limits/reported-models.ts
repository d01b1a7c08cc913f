import { BoundedMap } from '../../core/bounded-map.ts';

/** Stands in ledger entries and reports for further models of a team. */
export const otherModel = 'other';

/**
 * Models of a team and month that are reported by names which no list has. Clients choose model names, so without a bound a client could
 * grow reports, sums and the list of unpriced models by one entry a request.
 */
export const maxUnlistedModels = 100;

/** A team that is forgotten begins anew. */
const maxTeams = 10_000;

/** As much of a name as the ledger keeps. */
const maxNameLength = 256;

interface TeamModels {
	/** Such as `2026-11`. */
	month: string;
	readonly names: Set<string>;
}

interface ModelOfProvider {
	readonly provider: string;
	readonly model: string;
}

/** Decides under which name a request to a model that no list has is reported. One of a process, which outlives configurations. */
export class ReportedModels {
	readonly #teams = new BoundedMap<string, TeamModels>(maxTeams);

	/**
	 * @param month UTC month of the request's admission, such as `2026-11`.
	 * @param instead the name for what exceeds the bound.
	 */
	nameOf(team: string, month: string, target: ModelOfProvider, instead = otherModel): string {
		return this.#take(team, month, target) ? target.model : instead;
	}

	/** Takes over what an earlier process reported in the month. */
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
		// A request that moves to another target may have begun in the month before.
		if (month > models.month) {
			models.month = month;
			models.names.clear();
		}
		return models;
	}
}
