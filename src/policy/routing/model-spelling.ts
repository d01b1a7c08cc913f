import type { RoutedProvider } from './routing-settings.ts';

/** Returns the canonical spelling of a model's name at a provider. */
export type Respell = (model: string) => string;

const asWritten: Respell = (model) => model;

/** Functions by the provider's name, which merge exactly the names that the provider treats as the same model. */
export function compileSpellings(providers: readonly RoutedProvider[]): ReadonlyMap<string, Respell> {
	return new Map(providers.map((provider) => [provider.name, respellFor(provider)]));
}

function respellFor({ kind, models = [] }: RoutedProvider): Respell {
	if (kind === 'gemini') return withoutCollection;
	return kind === 'azure-openai' ? asConfigured(models) : asWritten;
}

/** Removes the collection, which is part of Google's paths and optional for its clients. */
function withoutCollection(model: string): string {
	return model.replace(/^(?:models\/)+(?=.)/, '');
}

/** Returns the configured spelling of a deployment, or lower case, because Azure's names are case-insensitive. */
function asConfigured(deployments: readonly string[]): Respell {
	const exact = new Set(deployments);
	const byFolded = new Map(deployments.map((name) => [name.toLowerCase(), name]));
	return (model) => {
		if (exact.has(model)) return model;
		const folded = model.toLowerCase();
		return byFolded.get(folded) ?? folded;
	};
}
