import { unsetKey } from './defaults.ts';
import type { Config, ProviderConfig } from './schema.ts';

export interface UnsetKeys {
	/** Providers that the file names without a key, most likely by mistake. */
	readonly named: readonly string[];
	/** True if no provider can be called. */
	readonly isNoneSet: boolean;
}

/** @param namedProviders those that the configuration file itself names; all others are only built in. */
export function findUnsetKeys({ providers }: Config, namedProviders: readonly string[]): UnsetKeys {
	const all = Object.entries(providers);
	return {
		named: all.filter(([name, provider]) => namedProviders.includes(name) && lacksKey(provider)).map(([name]) => name),
		isNoneSet: all.every(([, provider]) => provider.base_url === null || lacksKey(provider)),
	};
}

/**
 * Warnings for the start-up log: one sentence for each named provider without a key, or one if no provider has a key. Empty without the
 * gateway role, because only the gateway calls providers.
 */
export function keyWarnings(config: Config, namedProviders: readonly string[]): string[] {
	if (!config.roles.includes('gateway')) return [];
	const { named, isNoneSet } = findUnsetKeys(config, namedProviders);
	if (named.length > 0) return named.map((name) => `providers.${name}.api_key: is not set; requests to the provider return 502`);
	return isNoneSet ? ['providers: no provider has a key; every request returns 502'] : [];
}

/** A provider without an address is not configured at all, whatever its key. */
function lacksKey({ base_url: baseUrl, api_key: key }: ProviderConfig): boolean {
	return baseUrl !== null && key === unsetKey;
}
