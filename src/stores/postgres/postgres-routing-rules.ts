import type { Insertable, Selectable } from 'kysely';
import type { RoutingRule } from '../../core/routing-rule.ts';
import type { Stored } from '../contracts/records.ts';
import type { RoutingRulesTable } from './records-schema.ts';
import type { PostgresTable } from './versioned-records.ts';

export const routingRuleTable: PostgresTable<string, RoutingRule, never> = {
	kind: 'routing_rule',
	nameOf: (id) => id,
	keyOf: ({ id }) => id,
	async find(db, id) {
		const row = await db.selectFrom('routing_rules').selectAll().where('id', '=', id).executeTakeFirst();
		return row && ruleOf(row);
	},
	list: async (db) => (await db.selectFrom('routing_rules').selectAll().orderBy('id').execute()).map(ruleOf),
	conflictOf: async () => undefined,
	put(db, rule) {
		const row = rowOf(rule);
		return db
			.insertInto('routing_rules')
			.values(row)
			.onConflict((conflict) => conflict.column('id').doUpdateSet(row))
			.execute();
	},
	remove: (db, id) => db.deleteFrom('routing_rules').where('id', '=', id).execute(),
};

function rowOf(rule: Stored<RoutingRule>): Insertable<RoutingRulesTable> {
	return {
		id: rule.id,
		name: rule.name,
		priority: rule.priority,
		is_enabled: rule.isEnabled,
		match: JSON.stringify(rule.match),
		strategy: rule.strategy,
		targets: JSON.stringify(rule.targets),
		created_at_ms: rule.createdAtMs,
		updated_at_ms: rule.updatedAtMs,
		version: rule.version,
	};
}

function ruleOf(row: Selectable<RoutingRulesTable>): Stored<RoutingRule> {
	return {
		id: row.id,
		name: row.name,
		priority: Number(row.priority),
		isEnabled: row.is_enabled,
		match: row.match,
		strategy: row.strategy,
		targets: row.targets,
		createdAtMs: Number(row.created_at_ms),
		updatedAtMs: Number(row.updated_at_ms),
		version: Number(row.version),
	};
}
