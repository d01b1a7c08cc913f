import type { DatabaseSync } from 'node:sqlite';
import { clientDialectNames } from '../../core/dialect-name.ts';
import type { RoutingMatch, RoutingRule, RoutingRuleTarget } from '../../core/routing-rule.ts';
import type { RecordTable } from '../contracts/record-changes.ts';
import { decodeJson, listOf, membersFrom, numberFrom, oneOf, orNull, textFrom } from '../decode.ts';
import { integerOf, textOf } from './database.ts';
import { prepareTable } from './versioned-records.ts';

const textOrNull = orNull(textFrom);
const strategyFrom = oneOf(['priority', 'weighted']);
const formatFrom = orNull(oneOf(clientDialectNames));

function matchFrom(value: unknown): RoutingMatch {
	const { model, team, format } = membersFrom(value);
	return { model: textOrNull(model), team: textOrNull(team), format: formatFrom(format) };
}

function targetFrom(value: unknown): RoutingRuleTarget {
	const { provider, model, weight } = membersFrom(value);
	return { provider: textFrom(provider), model: textOrNull(model), weight: numberFrom(weight) };
}

export function createRoutingRuleTable(database: DatabaseSync): RecordTable<string, RoutingRule, never> {
	return {
		kind: 'routing_rule',
		nameOf: (id) => id,
		keyOf: ({ id }) => id,
		conflictOf: () => undefined,
		...prepareTable<string, RoutingRule>(database, {
			table: 'routing_rules',
			key: ['id'],
			rest: ['name', 'priority', 'is_enabled', 'match', 'strategy', 'targets', 'created_at_ms', 'updated_at_ms'],
			keyValues: (id) => [id],
			values: (rule) => [
				rule.id,
				rule.name,
				rule.priority,
				rule.isEnabled ? 1 : 0,
				JSON.stringify(rule.match),
				rule.strategy,
				JSON.stringify(rule.targets),
				rule.createdAtMs,
				rule.updatedAtMs,
			],
			valueOf: (row) => ({
				id: textOf(row, 'id'),
				name: textOf(row, 'name'),
				priority: integerOf(row, 'priority'),
				isEnabled: integerOf(row, 'is_enabled') === 1,
				match: decodeJson(textOf(row, 'match'), matchFrom),
				strategy: strategyFrom(row['strategy']),
				targets: decodeJson(textOf(row, 'targets'), listOf(targetFrom)),
				createdAtMs: integerOf(row, 'created_at_ms'),
				updatedAtMs: integerOf(row, 'updated_at_ms'),
			}),
		}),
	};
}
