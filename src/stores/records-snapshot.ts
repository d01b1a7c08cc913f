/** In-memory snapshot of teams, budgets and prices, which follows the record store. */

import { allModels, type BudgetedRequest, counterName, hasOwnName, isInScope } from '../core/budget-scope.ts';
import { ByModel } from '../core/by-model.ts';
import type { Clock, Timer } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { RoutingRule } from '../core/routing-rule.ts';
import type { Team } from '../core/team.ts';
import { UpstreamError } from '../core/upstream-error.ts';
import type { Budget, PriceOverride, RecordStore, Stored } from './contracts/records.ts';

/**
 * Every method throws `records_unavailable` until the store was read once, because the budgets of a request are unknown until then.
 */
export interface RecordsSnapshot {
	readonly isLoaded: boolean;
	team(id: string): Team | undefined;
	teamOf(clientId: string): Team | undefined;
	canSetAttributes(clientId: string): boolean;
	/**
	 * Returns the budgets that a request counts toward: those for all requests first. Those of one model are found by its name, or by its
	 * name in the price list if no budget has its name.
	 */
	budgetsFor(team: string, request: BudgetedRequest): readonly Stored<Budget>[];
	budgetsOf(team: string): readonly Stored<Budget>[];
	priceOverride(provider: string, model: string): Stored<PriceOverride> | undefined;
	/** Models with an override, by provider. */
	overriddenModels(): readonly { readonly provider: string; readonly model: string }[];
	/** Enforced rules, in the order in which they apply. */
	routingRules(): readonly RoutingRule[];
	/** Enforced and monitored rules, in the order in which they would apply; empty if no rule is monitored. */
	routingRulesWithMonitored(): readonly RoutingRule[];
	/** Resolves when the snapshot includes the changes of this process, or at once if the store cannot be read. */
	caughtUp(): Promise<void>;
	/** Replaces the teams of the configuration. */
	configure(teams: readonly Team[]): void;
	close(): void;
}

type Followed = Pick<RecordStore, 'clients' | 'teams' | 'budgets' | 'priceOverrides' | 'routingRules' | 'onChange'>;

export interface SnapshotDeps {
	readonly clock: Clock;
	readonly log: Log;
}

/** Maximum time that the start waits for the store. */
const maxWaitedMs = 1_000;
/** Time between attempts while reading fails. */
const retryMs = 1_000;

/**
 * Opens a snapshot. Teams of the configuration take precedence over stored ones of the same id, and over stored claims on their clients. A
 * failed read is retried until it succeeds. Resolves when the store was read, failed, or takes too long.
 */
export async function openRecordsSnapshot(
	records: Followed,
	configuredTeams: readonly Team[],
	{ clock, log }: SnapshotDeps,
): Promise<RecordsSnapshot> {
	let configured = configuredTeams;
	let known: Known | undefined;
	let latestRead = 0;
	let knownRead = 0;
	let latest = Promise.resolve();
	let isFailing = false;
	let isClosed = false;
	let timer: Timer | undefined;
	const follow = async (): Promise<void> => {
		const read = ++latestRead;
		timer?.cancel();
		try {
			const [stored, policies] = await Promise.all([records.teams.list(), readPolicies(records)]);
			// A slower read that began earlier is outdated.
			if (read < knownRead || isClosed) return;
			knownRead = read;
			known = { stored, policies, teams: indexTeams(stored, configured) };
			if (isFailing) log.info('records are readable again');
			isFailing = false;
		} catch (cause) {
			if (read !== latestRead || isClosed) return;
			if (!isFailing) log.error(`records could not be read; ${known === undefined ? noneYet : lastKnown}`, { cause: String(cause) });
			isFailing = true;
			timer = clock.after(retryMs, () => void follow());
		}
	};
	const stopListening = records.onChange(() => {
		latest = follow();
	});
	const patience = Promise.withResolvers<void>();
	const patienceTimer = clock.after(maxWaitedMs, patience.resolve);
	await Promise.race([follow(), patience.promise]);
	patienceTimer.cancel();
	const knownNow = (): Known => {
		if (known === undefined) throw new UpstreamError('records_unavailable');
		return known;
	};
	return {
		get isLoaded() {
			return known !== undefined;
		},
		team: (id) => knownNow().teams.byId.get(id),
		teamOf: (clientId) => knownNow().teams.byClient.get(clientId),
		canSetAttributes: (clientId) => knownNow().policies.attributeClients.has(clientId),
		budgetsFor(team, request) {
			const budgets = knownNow().policies.budgets.get(team);
			if (budgets === undefined) return none;
			const { ofModels, ofAll, scoped } = budgets;
			const { model, listed } = request;
			const byName = ofModels.size === 0 ? undefined : ofModels.find(model);
			const isOwnName = byName !== undefined || (scoped.length > 0 && hasOwnName(scoped, model));
			const byList = isOwnName || listed === undefined || ofModels.size === 0 ? undefined : ofModels.find(listed);
			const unscoped = byName ?? byList ?? ofAll;
			if (scoped.length === 0) return unscoped;
			const more = scoped.filter((budget) => isInScope(budget, request, isOwnName));
			return more.length === 0 ? unscoped : [...unscoped, ...more];
		},
		budgetsOf: (team) => knownNow().policies.budgets.get(team)?.all ?? none,
		priceOverride: (provider, model) => knownNow().policies.prices.get(provider)?.find(model),
		overriddenModels: () => knownNow().policies.overridden,
		routingRules: () => knownNow().policies.rules,
		routingRulesWithMonitored: () => knownNow().policies.rulesWithMonitored,
		caughtUp: () => latest,
		configure(next) {
			configured = next;
			if (known !== undefined) known = { ...known, teams: indexTeams(known.stored, configured) };
		},
		close() {
			isClosed = true;
			timer?.cancel();
			stopListening();
		},
	};
}

const noneYet = 'requests return 503 until they can be read';
const lastKnown = 'the last known records stay active';

interface Known {
	readonly stored: readonly Team[];
	readonly policies: Policies;
	readonly teams: Teams;
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
	/** Budgets of one model by its name, preceded by the budgets of all models. */
	readonly ofModels: ByModel<readonly Stored<Budget>[]>;
	/** Budgets with patterns, and with other scopes. */
	readonly scoped: readonly Stored<Budget>[];
}

interface Policies {
	/** Ids of clients that may set attributes. */
	readonly attributeClients: ReadonlySet<string>;
	readonly rules: readonly RoutingRule[];
	readonly rulesWithMonitored: readonly RoutingRule[];
	readonly budgets: ReadonlyMap<string, TeamBudgets>;
	readonly prices: ReadonlyMap<string, ByModel<Stored<PriceOverride>>>;
	readonly overridden: readonly Stored<PriceOverride>[];
}

async function readPolicies(records: Followed): Promise<Policies> {
	const [clients, budgets, prices, rules] = await Promise.all([
		records.clients.list(),
		records.budgets.list(),
		records.priceOverrides.list(),
		records.routingRules.list(),
	]);
	const enabled = rules.filter(({ isEnabled }) => isEnabled).toSorted((one, other) => one.priority - other.priority);
	return {
		attributeClients: new Set(clients.filter(({ canSetAttributes }) => canSetAttributes).map(({ id }) => id)),
		rules: enabled.filter(({ mode }) => mode === 'enforce'),
		rulesWithMonitored: enabled.some(({ mode }) => mode === 'monitor') ? enabled : none,
		budgets: grouped(budgets, ({ team }) => team, budgetsOf),
		prices: grouped(
			prices,
			({ provider }) => provider,
			(ofProvider) => new ByModel(ofProvider.map((price) => [price.model, price])),
		),
		overridden: prices,
	};
}

function budgetsOf(all: readonly Stored<Budget>[]): TeamBudgets {
	const isOfAll = (budget: Budget): boolean => counterName(budget) === allModels;
	const ofAll = all.filter(isOfAll);
	const others = all.filter((budget) => !isOfAll(budget));
	const plain = others.filter((budget) => budget.model?.includes('*') === false && counterName(budget).startsWith('model:'));
	const ofModels = [...Map.groupBy(plain, ({ model }) => model ?? '')].map(([model, of]) => [model, [...ofAll, ...of]] as const);
	return { all: [...ofAll, ...others], ofAll, ofModels: new ByModel(ofModels), scoped: others.filter((budget) => !plain.includes(budget)) };
}

function grouped<Value, Group>(
	values: readonly Value[],
	nameOf: (value: Value) => string,
	groupOf: (values: Value[]) => Group,
): Map<string, Group> {
	return new Map([...Map.groupBy(values, nameOf)].map(([name, ofName]) => [name, groupOf(ofName)]));
}
