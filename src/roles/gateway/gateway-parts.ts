import { Routing } from '../../policy/routing/routing.ts';
import { Provider } from '../../wire/providers/provider.ts';
import type { GatewayPorts, GatewaySettings } from './gateway-settings.ts';
import { OpenCalls } from './open-calls.ts';

/** What is made once and used by every call. */
export interface GatewayParts {
	readonly settings: GatewaySettings;
	readonly ports: GatewayPorts;
	readonly routing: Routing;
	readonly providers: ReadonlyMap<string, Provider>;
	readonly openCalls: OpenCalls;
}

export function assembleParts(settings: GatewaySettings, ports: GatewayPorts): GatewayParts {
	return {
		settings,
		ports,
		routing: new Routing(settings.routing, settings.providers),
		providers: new Map(settings.providers.map((provider) => [provider.name, new Provider(provider)])),
		openCalls: new OpenCalls(),
	};
}
