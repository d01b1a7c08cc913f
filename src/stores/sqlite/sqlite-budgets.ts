import type { DatabaseSync } from 'node:sqlite';
import type { RecordTable } from '../contracts/record-changes.ts';
import type { Budget } from '../contracts/records.ts';
import { bigintOf, integerOf, textOf, textOrNullOf } from './database.ts';
import { prepareTable } from './versioned-records.ts';

export function createBudgetTable(database: DatabaseSync): RecordTable<string, Budget, 'scope_taken'> {
	const selectSameScope = database.prepare('SELECT 1 FROM budgets WHERE team = ? AND model IS ? AND id <> ?');
	return {
		kind: 'budget',
		nameOf: (id) => id,
		keyOf: ({ id }) => id,
		conflictOf: ({ id, team, model }) => (selectSameScope.get(team, model, id) === undefined ? undefined : 'scope_taken'),
		...prepareTable<string, Budget>(database, {
			table: 'budgets',
			key: ['id'],
			rest: [
				'team',
				'model',
				'period',
				'limit_nano_usd',
				'warning_threshold_percent',
				'hard_limit_percent',
				'created_at_ms',
				'updated_at_ms',
			],
			keyValues: (id) => [id],
			values: (budget) => [
				budget.id,
				budget.team,
				budget.model,
				budget.period,
				budget.limitNanoUsd,
				budget.warningThresholdPercent,
				budget.hardLimitPercent,
				budget.createdAtMs,
				budget.updatedAtMs,
			],
			valueOf: (row) => ({
				id: textOf(row, 'id'),
				team: textOf(row, 'team'),
				model: textOrNullOf(row, 'model'),
				period: 'monthly',
				limitNanoUsd: bigintOf(row, 'limit_nano_usd'),
				warningThresholdPercent: Number(row['warning_threshold_percent']),
				hardLimitPercent: Number(row['hard_limit_percent']),
				createdAtMs: integerOf(row, 'created_at_ms'),
				updatedAtMs: integerOf(row, 'updated_at_ms'),
			}),
		}),
	};
}
