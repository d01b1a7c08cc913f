import type { RoutedProvider } from './routing-settings.ts';

interface Vendor {
	/** As clients and operators write it in place of a provider's name. */
	readonly alias: string;
	readonly kind: string;
	/** The built-in provider of this kind. */
	readonly builtIn: string;
}

const vendors: readonly Vendor[] = [
	{ alias: 'anthropic', kind: 'anthropic', builtIn: 'provider_a' },
	{ alias: 'openai', kind: 'openai', builtIn: 'provider_b' },
	{ alias: 'gemini', kind: 'gemini', builtIn: 'provider_c' },
	{ alias: 'google', kind: 'gemini', builtIn: 'provider_c' },
	{ alias: 'azure', kind: 'azure-openai', builtIn: 'provider_d' },
	// As the configuration and the demo's banner spell the kind.
	{ alias: 'azure-openai', kind: 'azure-openai', builtIn: 'provider_d' },
];

/**
 * By the vendors' names, the provider that each stands for: the built-in one if it is of the vendor's kind, else the first of the kind.
 * A vendor's name that a provider itself has is no alias.
 */
export function vendorAliases(providers: readonly Pick<RoutedProvider, 'name' | 'kind'>[]): ReadonlyMap<string, string> {
	const aliases = new Map<string, string>();
	for (const { alias, kind, builtIn } of vendors) {
		if (providers.some(({ name }) => name === alias)) continue;
		const ofKind = providers.filter((provider) => provider.kind === kind);
		const found = ofKind.find(({ name }) => name === builtIn) ?? ofKind[0];
		if (found !== undefined) aliases.set(alias, found.name);
	}
	return aliases;
}

/** @returns the provider that a name or a vendor's name stands for; a name that is neither stays as it is. */
export function providerNamed(given: string, providers: readonly Pick<RoutedProvider, 'name' | 'kind'>[]): string {
	return vendorAliases(providers).get(given) ?? given;
}
