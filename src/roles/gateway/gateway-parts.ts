import { PriceBook } from '../../policy/budgets/price-book.ts';
import { TermsBook } from '../../policy/limits/team-terms.ts';
import { Routing } from '../../policy/routing/routing.ts';
import { Provider } from '../../wire/providers/provider.ts';
import type { GatewayPorts, GatewaySettings } from './gateway-settings.ts';
import { OpenCalls } from './open-calls.ts';
import { Settlements } from './settlements.ts';

/** What is made once and used by every call. */
export interface GatewayParts {
	readonly settings: GatewaySettings;
	readonly ports: GatewayPorts;
	readonly routing: Routing;
	readonly providers: ReadonlyMap<string, Provider>;
	readonly openCalls: OpenCalls;
	readonly terms: TermsBook;
	readonly prices: PriceBook;
	readonly settlements: Settlements;
}

export function assembleParts(settings: GatewaySettings, ports: GatewayPorts): GatewayParts {
	return {
		settings,
		ports,
		routing: new Routing(settings.routing, settings.providers),
		providers: new Map(settings.providers.map((provider) => [provider.name, new Provider(provider)])),
		openCalls: new OpenCalls(),
		terms: new TermsBook(settings.tiers, settings.budgets),
		prices: new PriceBook(settings.budgets, (provider, model) => ports.teams.priceOverride(provider, model)),
		settlements: new Settlements(),
	};
}
