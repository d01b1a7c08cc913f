/** Demo configuration: no file, no keys; the simulator serves what has no key. */
import { unsetKey } from './defaults.ts';
import { listenUrl, parseListen } from './listen.ts';
import type { Config, ProviderConfig, ProviderKind } from './schema.ts';
import { frozen } from './validate.ts';

export interface DemoConfig {
	readonly config: Config;
	/** Providers that the simulator replaces, because their key is not set. */
	readonly simulatedProviders: readonly string[];
}

/** Models in the demo's first commands: cheap, current, and priced. */
export const demoModels = { chat: 'gpt-5.4-mini', messages: 'claude-sonnet-5' } as const;

/** Name of the demo deployment of provider_d. */
const demoDeployment = 'demo-deployment';

/** Base path of each wire dialect that the simulator supports. */
const simulatorPaths: Readonly<Partial<Record<ProviderKind, string>>> = {
	anthropic: '/anthropic',
	openai: '/openai/v1',
	'openai-compatible': '/openai/v1',
	gemini: '/gemini',
	'azure-openai': '/azure',
};

/** Switches on the demo features, and points providers without a key to the simulator. */
export function demoConfig(config: Config): DemoConfig {
	const address = parseListen(config.simulator.listen);
	const origin = address === undefined ? '' : listenUrl(address);
	const simulatedProviders = Object.entries(config.providers)
		.filter(([, { kind, api_key: key, base_url: url }]) => simulatorPaths[kind] !== undefined && (key === unsetKey || url === null))
		.map(([name]) => name);
	const simulate = (provider: ProviderConfig): ProviderConfig => ({
		...provider,
		base_url: `${origin}${simulatorPaths[provider.kind] ?? ''}`,
		api_key: 'simulator',
		allow_private_network: true,
		deployments: provider.kind === 'azure-openai' ? { [demoDeployment]: {} } : provider.deployments,
	});
	const providers = Object.fromEntries(
		Object.entries(config.providers).map(([name, provider]) => [name, simulatedProviders.includes(name) ? simulate(provider) : provider]),
	);
	const roles =
		config.roles.includes('simulator') || simulatedProviders.length === 0 ? config.roles : [...config.roles, 'simulator' as const];
	return { config: frozen({ ...config, enable_admin_api: true, enable_guardrails: true, roles, providers }), simulatedProviders };
}
