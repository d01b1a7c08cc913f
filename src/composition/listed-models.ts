import type { Config } from '../config/schema.ts';
import { listedModel } from '../policy/budgets/price-of.ts';
import { gatewaySettings } from './settings.ts';

/** What the price list calls the model of a call; undefined: it is not on it. */
export type ListModel = (call: { readonly provider: string; readonly model: string }) => string | undefined;

export function listModels(config: Config): ListModel {
	const providers = new Map(gatewaySettings(config).providers.map((provider) => [provider.name, provider]));
	return ({ provider: name, model }) => {
		const provider = providers.get(name);
		return provider && listedModel(provider.kind, provider.modelFacts?.[model]?.knownAs ?? model);
	};
}
