/** The admin API: teams, budgets, prices, usage and clients, for operators and their tools. */
import type { Role } from '../../core/handler.ts';
import { type Access, createTokenAccess } from './access.ts';
import { type AdminDeps, createKeyedMutex } from './admin-deps.ts';
import { createAdminServer } from './admin-server.ts';
import type { AdminPorts, AdminSettings } from './admin-settings.ts';
import { createBudgetMeter } from './budget-meter.ts';
import { keepLists } from './known-lists.ts';
import type { Operation } from './operation.ts';
import { assessmentOperations } from './resources/assessments.ts';
import { auditOperations } from './resources/audit.ts';
import { budgetOperations } from './resources/budgets.ts';
import { clientOperations } from './resources/clients.ts';
import { configurationOperations } from './resources/configuration.ts';
import { explainOperations } from './resources/explain.ts';
import { pricingOperations } from './resources/pricing.ts';
import { metricsOperation, publicOperations } from './resources/public.ts';
import { replayOperations } from './resources/replay.ts';
import { requestOperations } from './resources/requests.ts';
import { routingOperations } from './resources/routing.ts';
import { teamOperations } from './resources/teams.ts';
import { usageOperations } from './resources/usage.ts';
import { webhookOperations } from './resources/webhooks.ts';
import type { FindTeamOf } from './team-access.ts';
import { createTeamLookup } from './team-lookup.ts';

export interface Admin extends Role {
	readonly name: 'admin';
	/** Rejects with the operating system's error, such as `EADDRINUSE`. */
	start(): Promise<void>;
	/** Listening address; undefined before the start. */
	readonly address: { readonly host: string; readonly port: number } | undefined;
}

export function createAdmin(settings: AdminSettings, ports: AdminPorts): Admin {
	const { clock } = ports;
	const { records, close } = keepLists(ports.records);
	let address: { host: string; port: number } | undefined;
	let isStopping = false;
	const operations = publicOperations(
		settings,
		[...assembleResources({ ...ports, records }), metricsOperation(ports.metrics, settings.hasOpenMetrics)],
		async () => {
			if (isStopping) throw new Error('stopping');
			await records.teams.get('-');
		},
	);
	const app = createAdminServer({
		...ports,
		operations,
		access: createTokenAccess(settings, ports),
		findTeamOf: teamFinder({ ...ports, records }),
		maxConnections: settings.maxConnections,
		...timeoutOf(settings),
	});

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
			close();
		},
	};
}

/** The same operations without a server, for a program that has opened the stores itself. */
export interface LocalAdmin {
	request(
		request: LocalRequest,
	): Promise<{ readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly text: string }>;
	close(): Promise<void>;
}

export interface LocalRequest {
	readonly method: Operation['method'];
	/** Path with its query. */
	readonly path: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly body?: string;
}

export function createLocalAdmin(access: Access, ports: Omit<AdminPorts, 'verifier' | 'metrics'>): LocalAdmin {
	const app = createAdminServer({ ...ports, operations: assembleResources(ports), access, findTeamOf: teamFinder(ports) });
	return {
		async request({ method, path, headers, body }) {
			const response = await app.inject({ method, url: path, headers, ...(body !== undefined && { payload: body }) });
			const rendered = Object.entries(response.headers).map(([name, value]) => [name, String(value)] as const);
			return { status: response.statusCode, headers: Object.fromEntries(rendered), text: response.body };
		},
		close: () => app.close(),
	};
}

function assembleResources(ports: Omit<AdminPorts, 'verifier' | 'metrics'>): Operation[] {
	const deps: AdminDeps = {
		...ports,
		teamLookup: createTeamLookup(ports),
		budgetMeter: createBudgetMeter(ports),
		runExclusive: createKeyedMutex(),
	};
	return [
		teamOperations,
		clientOperations,
		budgetOperations,
		pricingOperations,
		routingOperations,
		usageOperations,
		requestOperations,
		assessmentOperations,
		explainOperations,
		replayOperations,
		auditOperations,
		configurationOperations,
		webhookOperations,
	].flatMap((operationsOf) => operationsOf(deps));
}

function teamFinder(ports: Omit<AdminPorts, 'verifier' | 'metrics'>): FindTeamOf {
	const { teamsByClient } = createTeamLookup(ports);
	const finders: Readonly<Record<Parameters<FindTeamOf>[0], (id: string) => Promise<string | undefined>>> = {
		client: async (id) => (await teamsByClient()).get(id),
		budget: async (id) => (await ports.records.budgets.get(id))?.team,
		request: async (id) => (await ports.requestRecords.find(id))?.team ?? undefined,
	};
	return (kind, id) => finders[kind](id);
}

function timeoutOf({ requestTimeoutMs }: AdminSettings): { requestTimeoutMs?: number } {
	return requestTimeoutMs === undefined ? {} : { requestTimeoutMs };
}
