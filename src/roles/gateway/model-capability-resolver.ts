import type { Target } from '../../policy/routing/target.ts';
import type { ModelCapabilities } from '../../wire/conversation/model-capabilities.ts';
import type { GatewaySettings } from './gateway-settings.ts';

const emptyReading: ModelCapabilities = {};

/** Configured model capabilities, of aliases and of models at their provider, merged once. */
export class ModelCapabilityResolver {
	/** Capabilities by provider, then by the model's name there. */
	readonly #ofModels: ReadonlyMap<string, ReadonlyMap<string, ModelCapabilities>>;
	/** Capabilities by alias, merged with those of the model behind it. */
	readonly #ofAliases: ReadonlyMap<string, ModelCapabilities>;

	constructor({ providers, routing, aliasCapabilities = {} }: Pick<GatewaySettings, 'providers' | 'routing' | 'aliasCapabilities'>) {
		this.#ofModels = new Map(providers.map(({ name, modelCapabilities = {} }) => [name, new Map(Object.entries(modelCapabilities))]));
		this.#ofAliases = new Map(
			Object.entries(aliasCapabilities).map(([alias, said]) => {
				const target = routing.aliases[alias] ?? '';
				const slash = target.indexOf('/');
				return [alias, laidOver(this.#ofModel(target.slice(0, slash), target.slice(slash + 1)), said)];
			}),
		);
	}

	/** Returns the capabilities of a target. Those of the alias override those of its model; missing ones are unknown. */
	of({ provider, model, alias }: Target): ModelCapabilities {
		return (alias === undefined ? undefined : this.#ofAliases.get(alias)) ?? this.#ofModel(provider, model);
	}

	#ofModel(provider: string, model: string): ModelCapabilities {
		return this.#ofModels.get(provider)?.get(model) ?? emptyReading;
	}
}

function laidOver(below: ModelCapabilities, above: ModelCapabilities): ModelCapabilities {
	return { ...below, ...Object.fromEntries(Object.entries(above).filter(([, value]) => value !== undefined)) };
}
