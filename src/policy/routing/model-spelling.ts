import type { RoutedProvider } from './routing-settings.ts';

/** The one spelling of a model's name at a provider. */
export type Respell = (model: string) => string;

const asWritten: Respell = (model) => model;

/** By the provider's name: names that it takes for the same model become one, and no others. */
export function compileSpellings(providers: readonly RoutedProvider[]): ReadonlyMap<string, Respell> {
	return new Map(providers.map((provider) => [provider.name, respellFor(provider)]));
}

function respellFor({ kind, models = [] }: RoutedProvider): Respell {
	if (kind === 'gemini') return withoutCollection;
	return kind === 'azure-openai' ? asConfigured(models) : asWritten;
}

/** Google's addresses name a model with its collection, which its clients may write or leave out. */
function withoutCollection(model: string): string {
	return model.replace(/^(?:models\/)+(?=.)/, '');
}

/** Azure does not tell names of deployments apart by case: as the configuration spells it, else in small letters. */
function asConfigured(deployments: readonly string[]): Respell {
	const exact = new Set(deployments);
	const byFolded = new Map(deployments.map((name) => [name.toLowerCase(), name]));
	return (model) => {
		if (exact.has(model)) return model;
		const folded = model.toLowerCase();
		return byFolded.get(folded) ?? folded;
	};
}
