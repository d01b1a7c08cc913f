import type { RoutedProvider } from './routing-settings.ts';

interface Vendor {
	/** Vendor's name, which clients and operators can use in place of a provider's name. */
	readonly alias: string;
	readonly kind: string;
	/** Built-in provider of this kind. */
	readonly builtIn: string;
}

const vendors: readonly Vendor[] = [
	{ alias: 'anthropic', kind: 'anthropic', builtIn: 'provider_a' },
	{ alias: 'openai', kind: 'openai', builtIn: 'provider_b' },
	{ alias: 'gemini', kind: 'gemini', builtIn: 'provider_c' },
	{ alias: 'google', kind: 'gemini', builtIn: 'provider_c' },
	{ alias: 'azure', kind: 'azure-openai', builtIn: 'provider_d' },
	// The configuration and the demo's banner use this spelling of the kind.
	{ alias: 'azure-openai', kind: 'azure-openai', builtIn: 'provider_d' },
];

/**
 * Maps the vendors' names to providers: the built-in one if it has the vendor's kind, or the first one of the kind. A vendor's name that is
 * also a provider's name is no alias.
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

/** @returns the provider for its name or a vendor's name; any other name is returned unchanged. */
export function providerNamed(given: string, providers: readonly Pick<RoutedProvider, 'name' | 'kind'>[]): string {
	return vendorAliases(providers).get(given) ?? given;
}
