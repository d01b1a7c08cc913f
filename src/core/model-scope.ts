import { foldedModel } from './by-model.ts';
import { matchesModel } from './model-pattern.ts';

/** A model by the names under which limits know it. */
export interface NamedModel {
	readonly provider: string;
	/** Name at the provider. */
	readonly model: string;
	/** Name in the price list. */
	readonly listed?: string | undefined;
}

/**
 * Returns true if a pattern names the model: by its name, its name in the price list, or `provider/model`. Spellings that differ only in
 * case, or by a collection prefix, are the same name.
 */
export function isInModels(pattern: string, { provider, model, listed }: NamedModel): boolean {
	const wanted = foldedModel(pattern);
	const name = foldedModel(model);
	if (matchesModel(wanted, name) || matchesModel(wanted, `${provider}/${name}`)) return true;
	return listed !== undefined && listed !== model && matchesModel(wanted, foldedModel(listed));
}
