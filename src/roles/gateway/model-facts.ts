import type { Target } from '../../policy/routing/target.ts';
import type { ModelFacts } from '../../wire/conversation/model-facts.ts';
import type { GatewaySettings } from './gateway-settings.ts';

const nothingSaid: ModelFacts = {};

/** What operators say of models: of a name of their own, and of a model at its provider. Put together once. */
export class ModelFactsBook {
	/** By the provider's name, then the model's name there. */
	readonly #ofModels: ReadonlyMap<string, ReadonlyMap<string, ModelFacts>>;
	/** By alias; whole, with what is said of the model that it leads to. */
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

	/** What is said of the alias that led to the target goes before what is said of its model; nothing is said of the rest. */
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
