/** The part for operators and their tools. */

import { redactedConfig } from '../config/redacted-config.ts';
import type { Config } from '../config/schema.ts';
import { nearestName } from '../core/nearest-name.ts';
import type { KeySets } from '../io/key-sets.ts';
import { createReasoningEncryption } from '../io/reasoning-encryption.ts';
import { createAdmin } from '../roles/admin/admin.ts';
import type { ConfiguredRecords } from '../roles/admin/admin-settings.ts';
import type { RecordStore } from '../stores/contracts/records.ts';
import { Provider } from '../wire/providers/provider.ts';
import { reconfigurableVerifier } from './access-token-component.ts';
import { type Accounting, spentBy } from './accounting.ts';
import type { AppContext, Component } from './app-context.ts';
import { reconfigurableExplainer } from './explainer.ts';
import { contentScorerFor } from './guardrail-component.ts';
import { createReplayer, servingBounds } from './replayer.ts';
import { adminSettings, configuredTeams, gatewaySettings } from './settings.ts';
import type { Webhooks } from './webhooks.ts';

export function composeAdmin(
	context: AppContext,
	version: string,
	keySets: KeySets,
	records: RecordStore,
	accounting: Accounting,
	webhooks: Webhooks,
): Component {
	const { config, clock, log, newRequestId, connections } = context;
	const verifier = reconfigurableVerifier(context, keySets);
	// Read several times per request.
	let current = readConfig(config);
	const explainer = reconfigurableExplainer(config, {
		teams: accounting.records,
		readCounters: (team, budgets, limits) => accounting.admission.read(team, budgets, limits),
		responseOwners: accounting.responseOwners,
		verifier,
		trafficOf: config.roles.includes('gateway') ? (provider) => accounting.traffic.of(provider) : undefined,
		contentScorerFor,
		reasoningEncryption: createReasoningEncryption(),
		clock,
	});
	const { ledger, requestRecords } = accounting;
	const replay = createReplayer(() => current.config, { records, ledger, requestRecords, clock }, servingBounds);
	const role = createAdmin(
		adminSettings(() => current.config, version, connections.documents),
		{
			records,
			ledger,
			requestRecords,
			admission: accounting.countersAtHand,
			sumUpSpent: spentBy(accounting.sumUp, clock),
			verifier,
			configured: () => current.configured,
			providerReports: () => accounting.providerReports(),
			effectiveConfig: () => current.rendered,
			metrics: () => context.metrics.scrape(),
			explain: (request) => explainer.explain(request),
			replay,
			unpricedModels: () => accounting.unpriced.list(),
			webhooks: webhooks.dispatcher,
			changesApplied: () => accounting.records.caughtUp(),
			nearestName: (name, known) => nearestName(name, [...known]),
			clock,
			log,
			newId: newRequestId,
		},
	);
	return {
		role: {
			name: role.name,
			async start() {
				await keySets.start();
				await role.start();
			},
			stop: () => role.stop(),
		},
		prepare(next) {
			const commits = [verifier.prepare(next), explainer.prepare(next)];
			const ready = readConfig(next);
			return () => {
				for (const commit of commits) commit();
				current = ready;
			};
		},
	};
}

function readConfig(config: Config) {
	return { config, configured: configuredRecords(config), rendered: redactedConfig(config) };
}

export function configuredRecords(config: Config): ConfiguredRecords {
	const { providers, tiers, budgets, unregisteredClients } = gatewaySettings(config);
	return {
		tiers,
		budgetDefaults: budgets,
		unregisteredClients,
		configTeams: configuredTeams(config),
		configClients: config.identity.clients.map(({ id, name, scopes, may_set_attributes: canSetAttributes }) => ({
			id,
			name: name ?? id,
			scopes,
			canSetAttributes,
		})),
		providers: providers.map((settings) => ({
			name: settings.name,
			kind: settings.kind,
			...(settings.facts !== undefined && { facts: settings.facts }),
			isConfigured: new Provider(settings).isConfigured,
			vendorModel: (model) => settings.modelCapabilities?.[model]?.knownAs ?? model,
		})),
	};
}
