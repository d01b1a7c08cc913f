import type { Target } from '../../policy/routing/target.ts';
import type { ModelFacts } from '../../wire/conversation/model-capabilities.ts';
import type { GatewaySettings } from './gateway-settings.ts';

const nothingSaid: ModelFacts = {};

/** Configured model capabilities, of aliases and of models at their provider, merged once. */
export class ModelFactsBook {
	/** Capabilities by provider, then by the model's name there. */
	readonly #ofModels: ReadonlyMap<string, ReadonlyMap<string, ModelFacts>>;
	/** Capabilities by alias, merged with those of the model behind it. */
	readonly #ofAliases: ReadonlyMap<string, ModelFacts>;

	constructor({ providers, routing, aliasFacts = {} }: Pick<GatewaySettings, 'providers' | 'routing' | 'aliasFacts'>) {
		this.#ofModels = new Map(providers.map(({ name, modelFacts = {} }) => [name, new Map(Object.entries(modelFacts))]));
		this.#ofAliases = new Map(
			Object.entries(aliasFacts).map(([alias, said]) => {
				const target = routing.aliases[alias] ?? '';
				const slash = target.indexOf('/');
				return [alias, laidOver(this.#ofModel(target.slice(0, slash), target.slice(slash + 1)), said)];
			}),
		);
	}

	/** Returns the capabilities of a target. Those of the alias override those of its model; missing ones are unknown. */
	of({ provider, model, alias }: Target): ModelFacts {
		return (alias === undefined ? undefined : this.#ofAliases.get(alias)) ?? this.#ofModel(provider, model);
	}

	#ofModel(provider: string, model: string): ModelFacts {
		return this.#ofModels.get(provider)?.get(model) ?? nothingSaid;
	}
}

function laidOver(below: ModelFacts, above: ModelFacts): ModelFacts {
	return { ...below, ...Object.fromEntries(Object.entries(above).filter(([, value]) => value !== undefined)) };
}
