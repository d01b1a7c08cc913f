/** The admin API: teams, budgets, prices, usage and clients, for operators and their tools. */
import type { Role } from '../../core/handler.ts';
import type { AdminParts } from './admin-parts.ts';
import { createAdminServer } from './admin-server.ts';
import type { AdminPorts, AdminSettings } from './admin-settings.ts';
import { createBudgetMeter } from './budget-meter.ts';
import { auditOperations } from './resources/audit.ts';
import { budgetOperations } from './resources/budgets.ts';
import { clientOperations } from './resources/clients.ts';
import { configurationOperations } from './resources/configuration.ts';
import { pricingOperations } from './resources/pricing.ts';
import { publicOperations } from './resources/public.ts';
import { requestOperations } from './resources/requests.ts';
import { routingOperations } from './resources/routing.ts';
import { teamOperations } from './resources/teams.ts';
import { usageOperations } from './resources/usage.ts';
import { createTeamLookup } from './team-lookup.ts';
import { createTurns } from './turns.ts';

export interface Admin extends Role {
	readonly name: 'admin';
	/** Rejects with what the operating system said, such as `EADDRINUSE`. */
	start(): Promise<void>;
	/** Where it listens, once started. */
	readonly address: { readonly host: string; readonly port: number } | undefined;
}

export function createAdmin(settings: AdminSettings, ports: AdminPorts): Admin {
	const { records, verifier, nearestName, clock, log, newId } = ports;
	let address: { host: string; port: number } | undefined;
	let isStopping = false;
	const parts: AdminParts = {
		...ports,
		teamLookup: createTeamLookup(ports),
		budgetMeter: createBudgetMeter(ports),
		takeTurn: createTurns(),
	};
	const resources = [
		usageOperations,
		pricingOperations,
		teamOperations,
		budgetOperations,
		clientOperations,
		routingOperations,
		requestOperations,
		auditOperations,
		configurationOperations,
	].flatMap((operationsOf) => operationsOf(parts));
	const operations = publicOperations(settings, resources, async () => {
		if (isStopping) throw new Error('stopping');
		await records.teams.get('-');
	});
	const app = createAdminServer({ settings, operations, verifier, nearestName, clock, log, newId });

	return {
		name: 'admin',
		get address() {
			return address;
		},
		async start() {
			await app.listen({ host: settings.listen.host, port: settings.listen.port });
			const bound = app.server.address();
			if (bound !== null && typeof bound === 'object') address = { host: bound.address, port: bound.port };
		},
		async stop() {
			isStopping = true;
			const deadline = clock.after(settings.graceMs, () => app.server.closeAllConnections());
			await app.close();
			deadline.cancel();
		},
	};
}
