import type { Config } from '../config/schema.ts';
import { listedModel } from '../policy/budgets/price-of.ts';
import { gatewaySettings } from './settings.ts';

/** Returns the price list's name for the model of a request; undefined if the model is not listed. */
export type ListModel = (request: { readonly provider: string; readonly model: string }) => string | undefined;

export function listModels(config: Config): ListModel {
	const providers = new Map(gatewaySettings(config).providers.map((provider) => [provider.name, provider]));
	return ({ provider: name, model }) => {
		const provider = providers.get(name);
		return provider && listedModel(provider.kind, provider.modelCapabilities?.[model]?.knownAs ?? model);
	};
}
