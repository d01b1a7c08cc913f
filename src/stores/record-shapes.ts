/** Tables of records, with the same column names in SQLite and PostgreSQL. */
import type { AllowLists, ModelLists, ProviderList, Requirement } from '../core/allow-lists.ts';
import {
	type BudgetRaise,
	type BudgetScope,
	type BudgetWindow,
	budgetWindows,
	exceededActions,
	plainBudget,
	weekdays,
} from '../core/budget.ts';
import { clientDialectNames } from '../core/dialect-name.ts';
import { policyModes } from '../core/policy-mode.ts';
import type { RoutingMatch, RoutingRule, RoutingRuleTarget } from '../core/routing-rule.ts';
import type { ModelLimits, Team, TeamLimits } from '../core/team.ts';
import type { RecordTable } from './contracts/record-changes.ts';
import type { Budget, ClientRecord, PriceKey, PriceOverride, SigningKeyRecord } from './contracts/records.ts';
import { byName, listOf, membersFrom, numberFrom, oneOf, orAbsent, orNull, textFrom } from './decode.ts';
import { bigintOf, booleanOf, integerOf, integerOrNullOf, jsonOf, type Row, textOf, textOrNullOf, wordsOf } from './row.ts';

/** List items are words without spaces. */
export type ColumnValue = string | number | bigint | boolean | null | readonly string[];

export interface RecordShape<Key, Value> extends Pick<RecordTable<Key, Value, never>, 'kind' | 'keyOf' | 'nameOf'> {
	readonly table: string;
	/** Names of the key columns. */
	readonly key: readonly string[];
	/** Values in the order of `key`. */
	keyValues(key: Key): string[];
	/** Columns by name, except `version`. */
	readonly columns: Readonly<Record<string, (value: Value) => ColumnValue>>;
	/** @throws TypeError */
	valueOf(row: Row): Value;
}

const byId = {
	key: ['id'],
	keyOf: ({ id }: { readonly id: string }) => id,
	nameOf: (id: string) => id,
	keyValues: (id: string) => [id],
};

const secretFrom = (value: unknown): ClientRecord['secrets'][number] => {
	const { hash, expiresAtMs } = membersFrom(value);
	return { hash: textFrom(hash), expiresAtMs: orNull(numberFrom)(expiresAtMs) };
};

export const clientShape: RecordShape<string, ClientRecord> = {
	...byId,
	kind: 'client',
	table: 'clients',
	columns: {
		id: ({ id }) => id,
		name: ({ name }) => name,
		secrets: ({ secrets }) => JSON.stringify(secrets),
		scopes: ({ scopes }) => scopes,
		is_disabled: ({ isDisabled }) => isDisabled,
		may_set_attributes: ({ canSetAttributes }) => canSetAttributes,
		created_at_ms: ({ createdAtMs }) => createdAtMs,
		updated_at_ms: ({ updatedAtMs }) => updatedAtMs,
	},
	valueOf: (row) => ({
		id: textOf(row, 'id'),
		name: textOf(row, 'name'),
		secrets: jsonOf(row, 'secrets', listOf(secretFrom)),
		scopes: wordsOf(row, 'scopes'),
		isDisabled: booleanOf(row, 'is_disabled'),
		canSetAttributes: booleanOf(row, 'may_set_attributes'),
		createdAtMs: integerOf(row, 'created_at_ms'),
		updatedAtMs: integerOf(row, 'updated_at_ms'),
	}),
};

const textOrNull = orNull(textFrom);
const limitFrom = orNull(numberFrom);

function limitsFrom(value: unknown): TeamLimits {
	const { requestsPerMinute, dailyTokens, tokensPerMinute, concurrentRequests, models, mode } = membersFrom(value);
	return {
		...(requestsPerMinute !== undefined && { requestsPerMinute: limitFrom(requestsPerMinute) }),
		...(dailyTokens !== undefined && { dailyTokens: limitFrom(dailyTokens) }),
		...(tokensPerMinute !== undefined && { tokensPerMinute: limitFrom(tokensPerMinute) }),
		...(concurrentRequests !== undefined && { concurrentRequests: limitFrom(concurrentRequests) }),
		...(models !== undefined && { models: byName(modelLimitsFrom)(models) }),
		...(mode !== undefined && { mode: oneOf(policyModes)(mode) }),
	};
}

function modelLimitsFrom(value: unknown): ModelLimits {
	const { requestsPerMinute, tokensPerMinute } = membersFrom(value);
	return {
		...(requestsPerMinute !== undefined && { requestsPerMinute: limitFrom(requestsPerMinute) }),
		...(tokensPerMinute !== undefined && { tokensPerMinute: limitFrom(tokensPerMinute) }),
	};
}

const patternsFrom = orAbsent(listOf(textFrom));
const modeFrom = orAbsent(oneOf(policyModes));
const optionalText = orAbsent(textFrom);

function allowListsFrom(value: unknown): AllowLists {
	const { models, providers, require } = membersFrom(value);
	return {
		models: orAbsent(modelListsFrom)(models),
		providers: orAbsent(providerListFrom)(providers),
		require: orAbsent(requirementFrom)(require),
	};
}

function modelListsFrom(value: unknown): ModelLists {
	const { allow, deny, mode } = membersFrom(value);
	return { allow: patternsFrom(allow), deny: patternsFrom(deny), mode: modeFrom(mode) };
}

function providerListFrom(value: unknown): ProviderList {
	const { allow, mode } = membersFrom(value);
	return { allow: listOf(textFrom)(allow), mode: modeFrom(mode) };
}

function requirementFrom(value: unknown): Requirement {
	const { region, retention, mode } = membersFrom(value);
	return { region: optionalText(region), retention: optionalText(retention), mode: modeFrom(mode) };
}

export const teamShape: RecordShape<string, Team> = {
	...byId,
	kind: 'team',
	table: 'teams',
	columns: {
		id: ({ id }) => id,
		name: ({ name }) => name,
		tier: ({ tier }) => tier,
		client_ids: ({ clientIds }) => clientIds,
		limits: ({ limits }) => (limits === undefined ? null : JSON.stringify(limits)),
		allow_lists: ({ allowLists }) => (allowLists === undefined ? null : JSON.stringify(allowLists)),
		metadata: ({ metadata }) => (metadata === undefined ? null : JSON.stringify(metadata)),
		created_at_ms: ({ createdAtMs = null }) => createdAtMs,
		updated_at_ms: ({ updatedAtMs = null }) => updatedAtMs,
	},
	valueOf(row) {
		const limits = jsonOf(row, 'limits', orNull(limitsFrom));
		const allowLists = jsonOf(row, 'allow_lists', orNull(allowListsFrom));
		const metadata = jsonOf(row, 'metadata', orNull(byName(textFrom)));
		const createdAtMs = integerOrNullOf(row, 'created_at_ms');
		const updatedAtMs = integerOrNullOf(row, 'updated_at_ms');
		return {
			id: textOf(row, 'id'),
			name: textOf(row, 'name'),
			tier: textOf(row, 'tier'),
			clientIds: jsonOf(row, 'client_ids', listOf(textFrom)),
			...(limits !== null && { limits }),
			...(allowLists !== null && { allowLists }),
			...(metadata !== null && { metadata }),
			...(createdAtMs !== null && { createdAtMs }),
			...(updatedAtMs !== null && { updatedAtMs }),
		};
	},
};

/** Names of windows in the column, which was there before the others. */
const periodNames: Readonly<Record<BudgetWindow, string>> = { hour: 'hourly', day: 'daily', week: 'weekly', month: 'monthly' };

function windowOf(row: Row): BudgetWindow {
	const period = textOf(row, 'period');
	const window = budgetWindows.find((one) => periodNames[one] === period);
	if (window === undefined) throw new TypeError(`\`${period}\` is no period of a budget`);
	return window;
}

/** The same scope is always the same text, so that an index finds a second budget of it. Null: all but the model. */
function scopeText({ client, provider, attribute }: BudgetScope): string | null {
	if (client === null && provider === null && attribute === null) return null;
	return JSON.stringify({
		...(client !== null && { client }),
		...(provider !== null && { provider }),
		...(attribute !== null && { attribute }),
	});
}

function scopeOf(row: Row): Omit<BudgetScope, 'model'> {
	const { client = null, provider = null, attribute = null } = jsonOf(row, 'scope', orNull(membersFrom)) ?? {};
	return { client: textOrNull(client), provider: textOrNull(provider), attribute: textOrNull(attribute) };
}

type BudgetTerms = Pick<Budget, 'timezone' | 'weekStart' | 'whenExceeded' | 'fallbackModel' | 'raise' | 'mode'>;

function budgetTermsText({ timezone, weekStart, whenExceeded, fallbackModel, raise, mode }: Budget): string {
	const raised = raise && { limitNanoUsd: raise.limitNanoUsd.toString(), untilMs: raise.untilMs };
	return JSON.stringify({ timezone, weekStart, whenExceeded, fallbackModel, raise: raised, mode });
}

/** Budgets of earlier releases have no terms. */
function budgetTermsOf(row: Row): BudgetTerms {
	const terms = { ...plainBudget, ...jsonOf(row, 'terms', orNull(membersFrom)) };
	return {
		timezone: textFrom(terms.timezone),
		weekStart: oneOf(weekdays)(terms.weekStart),
		whenExceeded: oneOf(exceededActions)(terms.whenExceeded),
		fallbackModel: textOrNull(terms.fallbackModel),
		raise: orNull(raiseFrom)(terms.raise),
		mode: oneOf(policyModes)(terms.mode),
	};
}

function raiseFrom(value: unknown): BudgetRaise {
	const { limitNanoUsd, untilMs } = membersFrom(value);
	return { limitNanoUsd: BigInt(textFrom(limitNanoUsd)), untilMs: numberFrom(untilMs) };
}

export const budgetShape: RecordShape<string, Budget> = {
	...byId,
	kind: 'budget',
	table: 'budgets',
	columns: {
		id: ({ id }) => id,
		team: ({ team }) => team,
		model: ({ model }) => model,
		period: ({ window }) => periodNames[window],
		scope: scopeText,
		terms: budgetTermsText,
		limit_nano_usd: ({ limitNanoUsd }) => limitNanoUsd,
		warning_threshold_percent: ({ warningThresholdPercent }) => warningThresholdPercent,
		hard_limit_percent: ({ hardLimitPercent }) => hardLimitPercent,
		created_at_ms: ({ createdAtMs }) => createdAtMs,
		updated_at_ms: ({ updatedAtMs }) => updatedAtMs,
	},
	valueOf: (row) => ({
		id: textOf(row, 'id'),
		team: textOf(row, 'team'),
		model: textOrNullOf(row, 'model'),
		...scopeOf(row),
		...budgetTermsOf(row),
		window: windowOf(row),
		limitNanoUsd: bigintOf(row, 'limit_nano_usd'),
		warningThresholdPercent: Number(row['warning_threshold_percent']),
		hardLimitPercent: Number(row['hard_limit_percent']),
		createdAtMs: integerOf(row, 'created_at_ms'),
		updatedAtMs: integerOf(row, 'updated_at_ms'),
	}),
};

/** Columns of which no two budgets have the same values. */
export function budgetColumnsOf(budget: Budget) {
	return { team: budget.team, model: budget.model, period: periodNames[budget.window], scope: scopeText(budget) };
}

export const priceOverrideShape: RecordShape<PriceKey, PriceOverride> = {
	kind: 'price_override',
	table: 'price_overrides',
	key: ['provider', 'model'],
	keyOf: ({ provider, model }) => ({ provider, model }),
	nameOf: ({ provider, model }) => `${provider}/${model}`,
	keyValues: ({ provider, model }) => [provider, model],
	columns: {
		provider: ({ provider }) => provider,
		model: ({ model }) => model,
		input_pico_usd: ({ inputPicoUsd }) => inputPicoUsd,
		output_pico_usd: ({ outputPicoUsd }) => outputPicoUsd,
		cache_read_pico_usd: ({ cacheReadPicoUsd }) => cacheReadPicoUsd,
		cache_write_pico_usd: ({ cacheWritePicoUsd }) => cacheWritePicoUsd,
		updated_at_ms: ({ updatedAtMs }) => updatedAtMs,
	},
	valueOf: (row) => ({
		provider: textOf(row, 'provider'),
		model: textOf(row, 'model'),
		inputPicoUsd: bigintOf(row, 'input_pico_usd'),
		outputPicoUsd: bigintOf(row, 'output_pico_usd'),
		cacheReadPicoUsd: bigintOf(row, 'cache_read_pico_usd'),
		cacheWritePicoUsd: bigintOf(row, 'cache_write_pico_usd'),
		updatedAtMs: integerOf(row, 'updated_at_ms'),
	}),
};

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

export const routingRuleShape: RecordShape<string, RoutingRule> = {
	...byId,
	kind: 'routing_rule',
	table: 'routing_rules',
	columns: {
		id: ({ id }) => id,
		name: ({ name }) => name,
		priority: ({ priority }) => priority,
		is_enabled: ({ isEnabled }) => isEnabled,
		mode: ({ mode }) => mode,
		match: ({ match }) => JSON.stringify(match),
		strategy: ({ strategy }) => strategy,
		targets: ({ targets }) => JSON.stringify(targets),
		created_at_ms: ({ createdAtMs }) => createdAtMs,
		updated_at_ms: ({ updatedAtMs }) => updatedAtMs,
	},
	valueOf: (row) => ({
		id: textOf(row, 'id'),
		name: textOf(row, 'name'),
		priority: integerOf(row, 'priority'),
		isEnabled: booleanOf(row, 'is_enabled'),
		mode: oneOf(policyModes)(row['mode']),
		match: jsonOf(row, 'match', matchFrom),
		strategy: strategyFrom(row['strategy']),
		targets: jsonOf(row, 'targets', listOf(targetFrom)),
		createdAtMs: integerOf(row, 'created_at_ms'),
		updatedAtMs: integerOf(row, 'updated_at_ms'),
	}),
};

export function signingKeyOf(row: Row): SigningKeyRecord {
	return {
		kid: textOf(row, 'kid'),
		privateJwk: textOf(row, 'private_jwk'),
		createdAtMs: integerOf(row, 'created_at_ms'),
		activeFromMs: integerOf(row, 'active_from_ms'),
		retiredAtMs: integerOrNullOf(row, 'retired_at_ms'),
	};
}
