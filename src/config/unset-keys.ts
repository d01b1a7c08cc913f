import { unsetKey } from './defaults.ts';
import type { Config, ProviderConfig } from './schema.ts';

export interface UnsetKeys {
	/** Providers that the file names, and whose key is not set: it was meant to be. */
	readonly named: readonly string[];
	/** True: no provider at all could be called. */
	readonly isNoneSet: boolean;
}

/** @param namedProviders those that the configuration file itself names; the others are there only because they are built in. */
export function findUnsetKeys({ providers }: Config, namedProviders: readonly string[]): UnsetKeys {
	const all = Object.entries(providers);
	return {
		named: all.filter(([name, provider]) => namedProviders.includes(name) && lacksKey(provider)).map(([name]) => name),
		isNoneSet: all.every(([, provider]) => provider.base_url === null || lacksKey(provider)),
	};
}

/**
 * For the log of a start: one sentence for each provider that was meant to have a key, else one where none has any. Nothing where no
 * gateway runs, which alone calls providers.
 */
export function keyWarnings(config: Config, namedProviders: readonly string[]): string[] {
	if (!config.roles.includes('gateway')) return [];
	const { named, isNoneSet } = findUnsetKeys(config, namedProviders);
	if (named.length > 0) return named.map((name) => `providers.${name}.api_key: is not set; requests to the provider return 502`);
	return isNoneSet ? ['providers: no provider has a key; every request returns 502'] : [];
}

/** Without an address it is not configured at all, whatever its key. */
function lacksKey({ base_url: baseUrl, api_key: key }: ProviderConfig): boolean {
	return baseUrl !== null && key === unsetKey;
}
