/** Teams, budgets and prices of the record store, answered from memory: a snapshot that follows the store. */
import type { Log } from '../core/log.ts';
import type { Team } from '../core/team.ts';
import type { Budget, PriceOverride, RecordStore, Stored } from './contracts/records.ts';

export interface RecordsSnapshot {
	team(id: string): Stored<Team> | undefined;
	teamOf(clientId: string): Stored<Team> | undefined;
	/** What a call of the team to the model counts on: the team's own budget first, then the model's. */
	budgetsFor(team: string, model: string): readonly Stored<Budget>[];
	priceOverride(provider: string, model: string): Stored<PriceOverride> | undefined;
	close(): void;
}

type Followed = Pick<RecordStore, 'teams' | 'budgets' | 'priceOverrides' | 'onChange'>;

/** @throws Fault `records_unavailable` when the store cannot be read at first. */
export async function openRecordsSnapshot(records: Followed, log: Log): Promise<RecordsSnapshot> {
	let snapshot = await readAll(records);
	let latestRead = 0;
	const follow = async (): Promise<void> => {
		const read = ++latestRead;
		const fresh = await readAll(records);
		// A slower read that began earlier knows less.
		if (read === latestRead) snapshot = fresh;
	};
	const stopListening = records.onChange(() => {
		follow().catch((cause: unknown) => log.error('records could not be read; the last known ones stay in force', { cause }));
	});
	return {
		team: (id) => snapshot.teams.get(id),
		teamOf: (clientId) => snapshot.teamsOfClients.get(clientId),
		budgetsFor(team, model) {
			const budgets = snapshot.budgets.get(team);
			return budgets === undefined ? none : (budgets.ofModels.get(model) ?? budgets.ofAll);
		},
		priceOverride: (provider, model) => snapshot.prices.get(provider)?.get(model),
		close: stopListening,
	};
}

const none: readonly never[] = [];

interface TeamBudgets {
	readonly ofAll: readonly Stored<Budget>[];
	/** The model's and, before it, that of all. */
	readonly ofModels: Map<string, readonly Stored<Budget>[]>;
}

interface Snapshot {
	readonly teams: ReadonlyMap<string, Stored<Team>>;
	readonly teamsOfClients: ReadonlyMap<string, Stored<Team>>;
	readonly budgets: ReadonlyMap<string, TeamBudgets>;
	readonly prices: ReadonlyMap<string, ReadonlyMap<string, Stored<PriceOverride>>>;
}

async function readAll(records: Followed): Promise<Snapshot> {
	const [teams, budgets, prices] = await Promise.all([records.teams.list(), records.budgets.list(), records.priceOverrides.list()]);
	return {
		teams: new Map(teams.map((team) => [team.id, team])),
		teamsOfClients: new Map(teams.flatMap((team) => team.clientIds.map((clientId) => [clientId, team]))),
		budgets: grouped(budgets, ({ team }) => team, budgetsOf),
		prices: grouped(
			prices,
			({ provider }) => provider,
			(ofProvider) => new Map(ofProvider.map((price) => [price.model, price])),
		),
	};
}

function budgetsOf(ofTeam: readonly Stored<Budget>[]): TeamBudgets {
	const ofAll = ofTeam.filter(({ model }) => model === null);
	const ofModels = ofTeam.flatMap((budget) => (budget.model === null ? [] : [[budget.model, [...ofAll, budget]] as const]));
	return { ofAll, ofModels: new Map(ofModels) };
}

function grouped<Value, Group>(
	values: readonly Value[],
	nameOf: (value: Value) => string,
	groupOf: (values: Value[]) => Group,
): Map<string, Group> {
	return new Map([...Map.groupBy(values, nameOf)].map(([name, ofName]) => [name, groupOf(ofName)]));
}
