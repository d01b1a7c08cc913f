/** Teams, budgets and prices of the record store, answered from memory: a snapshot that follows the store. */
import type { Log } from '../core/log.ts';
import type { RoutingRule } from '../core/routing-rule.ts';
import type { Team } from '../core/team.ts';
import type { Budget, PriceOverride, RecordStore, Stored } from './contracts/records.ts';

export interface RecordsSnapshot {
	team(id: string): Team | undefined;
	teamOf(clientId: string): Team | undefined;
	/** What a call of the team to the model counts on: the team's own budget first, then the model's. */
	budgetsFor(team: string, model: string): readonly Stored<Budget>[];
	/** All budgets of the team. */
	budgetsOf(team: string): readonly Stored<Budget>[];
	priceOverride(provider: string, model: string): Stored<PriceOverride> | undefined;
	/** Those in force, in the order in which they count. */
	routingRules(): readonly RoutingRule[];
	/** Replaces the teams that the configuration names. */
	configure(teams: readonly Team[]): void;
	close(): void;
}

type Followed = Pick<RecordStore, 'teams' | 'budgets' | 'priceOverrides' | 'routingRules' | 'onChange'>;

/**
 * Teams of the configuration win over stored ones of the same id, and over stored claims on their clients.
 * @throws Fault `records_unavailable` when the store cannot be read at first.
 */
export async function openRecordsSnapshot(records: Followed, configuredTeams: readonly Team[], log: Log): Promise<RecordsSnapshot> {
	let configured = configuredTeams;
	let stored = await records.teams.list();
	let teams = indexTeams(stored, configured);
	let policies = await readPolicies(records);
	let latestRead = 0;
	const follow = async (): Promise<void> => {
		const read = ++latestRead;
		const fresh = await Promise.all([records.teams.list(), readPolicies(records)]);
		// A slower read that began earlier knows less.
		if (read !== latestRead) return;
		[stored, policies] = fresh;
		teams = indexTeams(stored, configured);
	};
	const stopListening = records.onChange(() => {
		follow().catch((cause: unknown) => log.error('records could not be read; the last known ones stay in force', { cause: String(cause) }));
	});
	return {
		team: (id) => teams.byId.get(id),
		teamOf: (clientId) => teams.byClient.get(clientId),
		budgetsFor(team, model) {
			const budgets = policies.budgets.get(team);
			return budgets === undefined ? none : (budgets.ofModels.get(model) ?? budgets.ofAll);
		},
		budgetsOf: (team) => policies.budgets.get(team)?.all ?? none,
		priceOverride: (provider, model) => policies.prices.get(provider)?.get(model),
		routingRules: () => policies.rules,
		configure(next) {
			configured = next;
			teams = indexTeams(stored, configured);
		},
		close: stopListening,
	};
}

const none: readonly never[] = [];

interface Teams {
	readonly byId: ReadonlyMap<string, Team>;
	readonly byClient: ReadonlyMap<string, Team>;
}

function indexTeams(stored: readonly Team[], configured: readonly Team[]): Teams {
	const byId = new Map([...stored, ...configured].map((team) => [team.id, team]));
	const pinned = new Set(configured.map(({ id }) => id));
	const inOrder = [...stored.filter(({ id }) => !pinned.has(id)), ...configured];
	return { byId, byClient: new Map(inOrder.flatMap((team) => team.clientIds.map((clientId) => [clientId, team]))) };
}

interface TeamBudgets {
	readonly all: readonly Stored<Budget>[];
	readonly ofAll: readonly Stored<Budget>[];
	/** The model's and, before it, that of all. */
	readonly ofModels: Map<string, readonly Stored<Budget>[]>;
}

interface Policies {
	readonly rules: readonly RoutingRule[];
	readonly budgets: ReadonlyMap<string, TeamBudgets>;
	readonly prices: ReadonlyMap<string, ReadonlyMap<string, Stored<PriceOverride>>>;
}

async function readPolicies(records: Followed): Promise<Policies> {
	const [budgets, prices, rules] = await Promise.all([records.budgets.list(), records.priceOverrides.list(), records.routingRules.list()]);
	return {
		rules: rules.filter(({ isEnabled }) => isEnabled).toSorted((one, other) => one.priority - other.priority),
		budgets: grouped(budgets, ({ team }) => team, budgetsOf),
		prices: grouped(
			prices,
			({ provider }) => provider,
			(ofProvider) => new Map(ofProvider.map((price) => [price.model, price])),
		),
	};
}

function budgetsOf(all: readonly Stored<Budget>[]): TeamBudgets {
	const ofAll = all.filter(({ model }) => model === null);
	const ofModels = all.flatMap((budget) => (budget.model === null ? [] : [[budget.model, [...ofAll, budget]] as const]));
	return { all: [...ofAll, ...all.filter(({ model }) => model !== null)], ofAll, ofModels: new Map(ofModels) };
}

function grouped<Value, Group>(
	values: readonly Value[],
	nameOf: (value: Value) => string,
	groupOf: (values: Value[]) => Group,
): Map<string, Group> {
	return new Map([...Map.groupBy(values, nameOf)].map(([name, ofName]) => [name, groupOf(ofName)]));
}
