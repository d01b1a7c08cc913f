/** The part that operators and their tools reach. */
import { nearestName } from '../config/nearest.ts';
import { redactedConfig } from '../config/redact.ts';
import type { Config } from '../config/schema.ts';
import { createAdmin } from '../roles/admin/admin.ts';
import type { AdminSettings, ConfiguredRecords } from '../roles/admin/admin-settings.ts';
import type { Identity } from '../roles/identity/identity.ts';
import type { RecordStore } from '../stores/contracts/records.ts';
import { Provider } from '../wire/providers/provider.ts';
import { openKeySet, reconfigurableVerifier } from './access-tokens.ts';
import type { Accounting } from './accounting.ts';
import type { Part, World } from './part.ts';
import { configuredTeams, gatewaySettings, listenAddress } from './settings.ts';

export function composeAdmin(
	world: World,
	version: string,
	identity: Identity | undefined,
	records: RecordStore,
	accounting: Accounting,
): Part {
	const { config, clock, log, newRequestId } = world;
	const keySet = openKeySet(world, identity);
	const verifier = reconfigurableVerifier(world, keySet);
	// Asked for several times a request.
	let current = { configured: configuredRecords(config), shown: redactedConfig(config) };
	const role = createAdmin(adminSettings(config, version), {
		records,
		ledger: accounting.ledger,
		admission: accounting.admission,
		verifier,
		configured: () => current.configured,
		effectiveConfig: () => current.shown,
		unpricedModels: () => accounting.unpriced.list(),
		nearestName: (name, known) => nearestName(name, [...known]),
		clock,
		log,
		newId: newRequestId,
	});
	return {
		role: {
			name: role.name,
			async start() {
				await keySet.start();
				await role.start();
			},
			stop: () => role.stop(),
		},
		prepare(next) {
			const commit = verifier.prepare(next);
			return () => {
				commit();
				current = { configured: configuredRecords(next), shown: redactedConfig(next) };
			};
		},
		close: () => keySet.stop(),
	};
}

function adminSettings({ admin, auth, gateway }: Config, version: string): AdminSettings {
	return {
		listen: listenAddress(admin.listen),
		scopeBase: auth.scope_base,
		version,
		maxRequestsPerMinute: admin.max_requests_per_minute,
		graceMs: gateway.shutdown_grace_ms,
	};
}

function configuredRecords(config: Config): ConfiguredRecords {
	const { providers, tiers, budgets, unregisteredClients } = gatewaySettings(config);
	return {
		tiers,
		budgetDefaults: budgets,
		unregisteredClients,
		pinnedTeams: configuredTeams(config),
		pinnedClients: config.identity.clients.map(({ id, name, scopes }) => ({ id, name: name ?? id, scopes })),
		providers: providers.map((settings) => ({
			name: settings.name,
			kind: settings.kind,
			isConfigured: new Provider(settings).isConfigured,
			// Nothing watches providers yet but the calls that go to them.
			health: () => ({ state: 'unknown', sinceMs: null, detail: null }),
		})),
	};
}
