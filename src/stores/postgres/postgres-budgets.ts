import type { Insertable, Selectable } from 'kysely';
import type { Budget, Stored } from '../contracts/records.ts';
import type { BudgetsTable } from './records-schema.ts';
import type { PostgresTable } from './versioned-records.ts';

export const budgetTable: PostgresTable<string, Budget, 'scope_taken'> = {
	kind: 'budget',
	nameOf: (id) => id,
	keyOf: ({ id }) => id,
	async find(db, id) {
		const row = await db.selectFrom('budgets').selectAll().where('id', '=', id).executeTakeFirst();
		return row && budgetOf(row);
	},
	list: async (db) => (await db.selectFrom('budgets').selectAll().orderBy('id').execute()).map(budgetOf),
	async conflictOf(db, { id, team, model }) {
		const sameScope = await db
			.selectFrom('budgets')
			.select('id')
			.where('team', '=', team)
			.where('model', 'is not distinct from', model)
			.where('id', '<>', id)
			.executeTakeFirst();
		return sameScope && 'scope_taken';
	},
	put(db, budget) {
		const row = rowOf(budget);
		return db
			.insertInto('budgets')
			.values(row)
			.onConflict((conflict) => conflict.column('id').doUpdateSet(row))
			.execute();
	},
	remove: (db, id) => db.deleteFrom('budgets').where('id', '=', id).execute(),
};

function rowOf(budget: Stored<Budget>): Insertable<BudgetsTable> {
	return {
		id: budget.id,
		team: budget.team,
		model: budget.model,
		period: budget.period,
		limit_nano_usd: budget.limitNanoUsd,
		warning_threshold_percent: budget.warningThresholdPercent,
		hard_limit_percent: budget.hardLimitPercent,
		created_at_ms: budget.createdAtMs,
		updated_at_ms: budget.updatedAtMs,
		version: budget.version,
	};
}

function budgetOf(row: Selectable<BudgetsTable>): Stored<Budget> {
	return {
		id: row.id,
		team: row.team,
		model: row.model,
		period: 'monthly',
		limitNanoUsd: row.limit_nano_usd,
		warningThresholdPercent: row.warning_threshold_percent,
		hardLimitPercent: row.hard_limit_percent,
		createdAtMs: Number(row.created_at_ms),
		updatedAtMs: Number(row.updated_at_ms),
		version: Number(row.version),
	};
}
