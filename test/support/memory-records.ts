/** Records that live as long as the process. Values are copied on the way in and out, so that they are never shared. */
import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../src/core/clock.ts';
import type { RoutingRule } from '../../src/core/routing-rule.ts';
import type { Team } from '../../src/core/team.ts';
import {
	type ChangeRecorder,
	createRecordChanges,
	type RecordChanges,
	type RecordTable,
} from '../../src/stores/contracts/record-changes.ts';
import type {
	AuditEntry,
	AuditLog,
	Budget,
	ClientRecord,
	PriceKey,
	PriceOverride,
	RecordStore,
	Stored,
	VersionedStore,
} from '../../src/stores/contracts/records.ts';
import { createMemoryResponseOwners } from '../../src/stores/memory/memory-response-owners.ts';
import { webhookDeliveriesIn } from '../../src/stores/sqlite/sqlite-webhook-deliveries.ts';
import { createMemoryProviderReports } from './memory-provider-reports.ts';
import { createMemorySigningKeys } from './memory-signing-keys.ts';

type Changed = () => void;

/** @param clock that determines the expiry of provider reports. */
export function createMemoryRecords(clock?: Clock): RecordStore {
	const listeners = new Set<() => void>();
	const changed: Changed = () => {
		for (const listener of [...listeners]) listener();
	};
	const entries: AuditEntry[] = [];
	let lastVersion = 0;
	const book: ChangeRecorder = { nextVersion: () => ++lastVersion, append: (entry) => void entries.push(entry) };
	const budgets = createRecordChanges(budgetTable(), book);
	const teams = createRecordChanges(teamTable(budgets), book);
	const priceOverrides = createRecordChanges(priceTable(), book);
	const routingRules = createRecordChanges(ruleTable(), book);
	return {
		clients: storeOf(createRecordChanges(clientTable(teams), book), changed),
		teams: storeOf(teams, changed),
		budgets: storeOf(budgets, changed),
		priceOverrides: storeOf(priceOverrides, changed),
		routingRules: storeOf(routingRules, changed),
		audit: createAuditLog(entries, changed),
		signingKeys: createMemorySigningKeys(changed),
		providerReports: createMemoryProviderReports(clock),
		responseOwners: createMemoryResponseOwners({ clock: clock ?? { nowMs: () => Date.now() } }),
		webhookDeliveries: webhookDeliveriesIn((prepare) => {
			const database = new DatabaseSync(':memory:');
			prepare(database);
			return database;
		}),
		onChange(listener) {
			const registered = (): void => listener();
			listeners.add(registered);
			return () => listeners.delete(registered);
		},
		async close() {
			listeners.clear();
		},
	};
}

/** @param nameOf distinguishes two keys, and orders them. */
function mapTable<Key, Value extends object>(
	nameOf: (key: Key) => string,
	keyOf: (value: Value) => Key,
): Pick<RecordTable<Key, Value, never>, 'keyOf' | 'get' | 'list' | 'put' | 'remove'> {
	const records = new Map<string, Stored<Value>>();
	return {
		keyOf,
		get: (key) => structuredClone(records.get(nameOf(key))),
		list: () => structuredClone([...records].toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([, record]) => record)),
		put: (value) => void records.set(nameOf(keyOf(value)), structuredClone(value)),
		remove: (key) => void records.delete(nameOf(key)),
	};
}

function clientTable(teams: RecordChanges<string, Team, 'client_taken'>): RecordTable<string, ClientRecord, never> {
	return {
		...mapTable<string, ClientRecord>(
			(id) => id,
			({ id }) => id,
		),
		kind: 'client',
		nameOf: (id) => id,
		conflictOf: () => undefined,
		removing(id, terms) {
			const team = teams.list().find(({ clientIds }) => clientIds.includes(id));
			if (team !== undefined) teams.replace({ ...team, clientIds: team.clientIds.filter((other) => other !== id) }, terms);
		},
	};
}

function teamTable(budgets: RecordChanges<string, Budget, 'scope_taken'>): RecordTable<string, Team, 'client_taken'> {
	const table = mapTable<string, Team>(
		(id) => id,
		({ id }) => id,
	);
	return {
		...table,
		kind: 'team',
		nameOf: (id) => id,
		conflictOf(team) {
			const isTwice = new Set(team.clientIds).size < team.clientIds.length;
			const isElsewhere = table
				.list()
				.some(({ id, clientIds }) => id !== team.id && clientIds.some((client) => team.clientIds.includes(client)));
			return isTwice || isElsewhere ? 'client_taken' : undefined;
		},
		removing(team, terms) {
			for (const budget of budgets.list()) if (budget.team === team) budgets.delete(budget.id, terms);
		},
	};
}

function scopeOf({ team, model, client, provider, attribute, window }: Budget): string {
	return JSON.stringify([team, model, client, provider, attribute, window]);
}

function budgetTable(): RecordTable<string, Budget, 'scope_taken'> {
	const table = mapTable<string, Budget>(
		(id) => id,
		({ id }) => id,
	);
	return {
		...table,
		kind: 'budget',
		nameOf: (id) => id,
		conflictOf: (budget) =>
			table.list().some((other) => other.id !== budget.id && scopeOf(other) === scopeOf(budget)) ? 'scope_taken' : undefined,
	};
}

function priceTable(): RecordTable<PriceKey, PriceOverride, never> {
	return {
		...mapTable<PriceKey, PriceOverride>(
			({ provider, model }) => `${provider}\u0000${model}`,
			({ provider, model }) => ({ provider, model }),
		),
		kind: 'price_override',
		nameOf: ({ provider, model }) => `${provider}/${model}`,
		conflictOf: () => undefined,
	};
}

function ruleTable(): RecordTable<string, RoutingRule, never> {
	return {
		...mapTable<string, RoutingRule>(
			(id) => id,
			({ id }) => id,
		),
		kind: 'routing_rule',
		nameOf: (id) => id,
		conflictOf: () => undefined,
	};
}

function storeOf<Key, Value, Conflict extends string>(
	records: RecordChanges<Key, Value, Conflict>,
	changed: Changed,
): VersionedStore<Key, Value, Conflict> {
	const notifying = <Outcome extends string>(outcome: Outcome): Outcome => {
		if (outcome === 'created' || outcome === 'replaced' || outcome === 'deleted') changed();
		return outcome;
	};
	return {
		get: async (key) => records.get(key),
		list: async () => records.list(),
		create: async (value, terms) => notifying(records.create(value, terms)),
		replace: async (value, terms) => notifying(records.replace(value, terms)),
		delete: async (key, terms) => notifying(records.delete(key, terms)),
	};
}

function createAuditLog(entries: AuditEntry[], changed: Changed): AuditLog {
	return {
		async append(entry) {
			entries.push(structuredClone(entry));
			changed();
		},
		async list({ kind, key, limit, cursor }) {
			if (cursor !== undefined && !/^[1-9]\d*$/.test(cursor)) {
				throw new RangeError(`${JSON.stringify(cursor)} is not a valid cursor`);
			}
			const wanted = entries
				.map((entry, index) => ({ entry, sequence: index + 1 }))
				.filter(({ entry, sequence }) => sequence < Number(cursor ?? Number.POSITIVE_INFINITY) && [undefined, entry.kind].includes(kind))
				.filter(({ entry }) => key === undefined || entry.key === key)
				.toReversed();
			const page = wanted.slice(0, Math.max(1, Math.min(limit, 1000)));
			const last = page.at(-1);
			return {
				entries: page.map(({ entry }) => structuredClone(entry)),
				nextCursor: last !== undefined && wanted.length > page.length ? String(last.sequence) : null,
			};
		},
	};
}
