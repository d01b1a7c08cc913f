import type { ModelCapabilities } from '../../wire/translation/model-capabilities.ts';

/** What operators say of a model, over what its name tells. */
export interface ModelFacts {
	/** The vendor's name of the model behind a free one, such as a deployment's: it is priced and capped as that one. */
	readonly knownAs?: string | undefined;
	/** The most that it can write. */
	readonly maxOutputTokens?: number | undefined;
	readonly capabilities?: ModelCapabilities | undefined;
}

/** By the provider's name, then the model's name there. */
export type ModelFactsBook = ReadonlyMap<string, ReadonlyMap<string, ModelFacts>>;

export const nothingSaid: ModelFacts = {};
