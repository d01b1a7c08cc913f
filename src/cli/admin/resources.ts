/**
 * Resources of the admin API: the commands that list, show and change them, with their flags. Those of webhooks have a file of their own.
 */

import { clientDialectNames } from '../../core/dialect-name.ts';
import { type Field, integer, list, modelLimits, monitored, onOrOff, orNone, pairs, target, text } from './fields.ts';
import { plainText } from './plain-text.ts';
import { field, type Resource, type Row, readOnly } from './resource.ts';
import { webhook } from './webhook-resources.ts';

const required = (one: Field): Field => ({ ...one, isRequired: true });
const fixed = (one: Field): Field => ({ ...one, isFixed: true });
const show = { show: { description: 'Show one.', suffix: '', filters: [] } };
const usageDays = [
	field('--from <day>', 'from', 'UTC day, inclusive, such as 2026-11-01'),
	field('--to <day>', 'to', 'UTC day, exclusive'),
];
const usageFilters = [...usageDays, field('--group-by <dimension>', 'group_by', 'model, provider, client or day')];

const team: Resource = {
	name: 'team',
	description: 'Teams: their tier, clients and limits.',
	example: 'tollgate team create --name Search --tier standard --clients search-bot --rpm 200',
	path: '/teams',
	argument: 'id',
	list: {
		columns: [
			['ID', 'id'],
			['NAME', 'name'],
			['TIER', 'tier'],
			['RPM', 'limits.rpm'],
			['DAILY TOKENS', 'limits.daily_tokens'],
			['CLIENTS', 'client_ids'],
			['ORIGIN', 'origin'],
		],
		filters: [field('--client <id>', 'client_id', 'only the team of this client')],
	},
	views: show,
	create: 'Create a team.',
	set: 'Update the given fields.',
	delete: 'Delete a team and its budgets. Its usage stays.',
	fields: [
		fixed(field('--id <id>', 'id', 'default: derived from the name')),
		field('--name <name>', 'name', 'display name'),
		field('--tier <tier>', 'tier', 'a tier of the configuration; default: sandbox'),
		field('--clients <ids>', 'client_ids', 'its clients, separated by commas', list),
		field('--rpm <number>', 'limits.rpm', 'requests per minute; none: the tier’s limit', orNone(integer)),
		field('--daily-tokens <number>', 'limits.daily_tokens', 'tokens per UTC day; none: the tier’s limit', orNone(integer)),
		field('--tpm <number>', 'limits.tpm', 'tokens per minute; none: the tier’s limit', orNone(integer)),
		field('--concurrent-requests <number>', 'limits.concurrent_requests', 'requests in flight; none: the tier’s limit', orNone(integer)),
		field(
			'--model-limits <limits>',
			'limits.models',
			'such as gpt-4*=rpm:10/tpm:50000, separated by commas; none: no limits',
			orNone(modelLimits),
		),
		field('--limit-mode <mode>', 'limits.mode', 'enforce, or monitor: limits are recorded and reject nothing'),
		field(
			'--allow-models <patterns>',
			'models.allow',
			'allowed models, separated by commas; *: any text; none: the tier’s list',
			orNone(list),
		),
		field('--deny-models <patterns>', 'models.deny', 'denied models, separated by commas; none: the tier’s list', orNone(list)),
		field('--models-mode <mode>', 'models.mode', 'enforce or monitor'),
		field('--providers <names>', 'providers', 'allowed providers, separated by commas; none: the tier’s list', orNone(list)),
		field('--monitor-providers <names>', 'providers', 'allowed providers, recorded and not enforced', monitored),
		field('--require-region <region>', 'require.region', 'region that providers must have; none: the tier’s', orNone(text)),
		field('--require-retention <retention>', 'require.retention', 'retention that providers must have; none: the tier’s', orNone(text)),
		field('--require-mode <mode>', 'require.mode', 'enforce or monitor'),
		field('--metadata <pairs>', 'metadata', 'free-form key=value pairs, separated by commas', pairs),
	],
};

const budget: Resource = {
	name: 'budget',
	description: 'Budgets: limit the spend of a team in an hour, day, week or month, on all of its requests or some.',
	example: 'tollgate budget create --team search --limit-usd 250.00 --window month',
	path: '/budgets',
	argument: 'id',
	list: {
		columns: [
			['ID', 'id'],
			['TEAM', 'team'],
			['MODEL', 'model'],
			['WINDOW', 'window'],
			['LIMIT USD', 'limit_usd'],
			['SPENT USD', 'usage.spent_usd'],
			['RESERVED USD', 'usage.reserved_usd'],
			['USED %', 'usage.utilization_percent'],
			['STATE', 'usage.state'],
		],
		filters: [field('--team <id>', 'team', 'only this team')],
	},
	views: show,
	create: 'Create a budget. Earlier spend in its current window counts.',
	set: 'Update the given fields. Applies within a second.',
	delete: 'Delete a budget.',
	fields: [
		fixed(field('--id <id>', 'id', 'default: random')),
		field('--team <id>', 'team', 'team of the budget'),
		field('--model <model>', 'scope.model', 'a name or a pattern with *; none: all models', orNone(text)),
		field('--client <id>', 'scope.client', 'only requests of this client; none: all clients', orNone(text)),
		field('--provider <name>', 'scope.provider', 'only requests to this provider; none: all providers', orNone(text)),
		field('--attribute <name=value>', 'scope.attribute', 'only requests with this attribute; none: all', orNone(text)),
		field('--window <window>', 'window', 'hour, day, week or month; default: month'),
		field('--timezone <zone>', 'timezone', 'IANA time zone in which windows begin; default: UTC'),
		field('--week-start <day>', 'week_start', 'first day of a week; default: monday'),
		field('--limit-usd <amount>', 'limit_usd', 'US dollars, such as 250.00'),
		field('--warning-percent <number>', 'warning_threshold_percent', 'share of the limit at which a warning is logged', integer),
		field('--hard-percent <number>', 'hard_limit_percent', 'share of the limit at which requests are rejected', integer),
		field('--when-exceeded <action>', 'when_exceeded', 'reject, fallback_model or warn; default: reject'),
		field('--fallback-model <model>', 'fallback_model', 'model that serves requests that the budget would reject', orNone(text)),
		field('--raise-to <amount>', 'raise.limit_usd', 'a larger limit until --raise-until'),
		field('--raise-until <time>', 'raise.until', 'end of the raise, such as 2026-12-01T00:00:00Z'),
		field('--mode <mode>', 'mode', 'enforce, or monitor: the budget is recorded and rejects nothing'),
	],
};

const price: Resource = {
	name: 'price',
	description: 'Prices of models, in US dollars per million tokens.',
	example: 'tollgate price set provider_b/gpt-4o-mini --input 0.15 --output 0.60',
	path: '/pricing',
	argument: 'provider/model',
	isPath: true,
	isSetWhole: true,
	list: {
		columns: [
			['PROVIDER', 'provider'],
			['MODEL', 'model'],
			['INPUT', 'input_usd_per_million_tokens'],
			['OUTPUT', 'output_usd_per_million_tokens'],
			['CACHE READ', 'cache_read_usd_per_million_tokens'],
			['CACHE WRITE', 'cache_write_usd_per_million_tokens'],
			['SOURCE', 'source'],
		],
		filters: [
			field('--provider <name>', 'provider', 'only this provider'),
			{ ...field('--unpriced', 'unpriced', 'only models in use that have no price'), read: () => true },
		],
	},
	views: show,
	set: 'Set a price override. Omitted cache rates equal the input rate.',
	delete: 'Delete the override. The default applies again, if there is one.',
	fields: [
		required(field('--input <rate>', 'input_usd_per_million_tokens', 'such as 2.50')),
		required(field('--output <rate>', 'output_usd_per_million_tokens', 'such as 10.00')),
		field('--cache-read <rate>', 'cache_read_usd_per_million_tokens', 'rate for cache reads'),
		field('--cache-write <rate>', 'cache_write_usd_per_million_tokens', 'rate for cache writes'),
	],
};

const route: Resource = {
	name: 'route',
	description: 'Routing rules: targets by model, team or format.',
	example: 'tollgate route create --name Cheap --match-model gpt-4o --target provider_b/gpt-4o-mini --target provider_d/mini',
	path: '/routing',
	argument: 'id',
	list: {
		columns: [
			['PRIORITY', 'priority'],
			['ID', 'id'],
			['NAME', 'name'],
			['ENABLED', 'enabled'],
			['MODE', 'mode'],
			['MODEL', 'match.model'],
			['TEAM', 'match.team'],
			['FORMAT', 'match.format'],
			['STRATEGY', 'strategy'],
			['TARGETS', ({ targets }) => (targets as Row[]).map(targetText).join(' ')],
		],
		filters: [],
	},
	views: show,
	create: 'Create a rule.',
	set: 'Update the given fields; --target replaces all targets.',
	delete: 'Delete a rule.',
	fields: [
		fixed(field('--id <id>', 'id', 'default: random')),
		field('--name <name>', 'name', 'display name'),
		field('--priority <number>', 'priority', 'the matching rule with the smallest number applies; default: 100', integer),
		field('--enabled <boolean>', 'enabled', 'true or false', onOrOff),
		field('--mode <mode>', 'mode', 'enforce, or monitor: the target is recorded, and requests are not rerouted'),
		field('--match-model <model>', 'match.model', 'model name as in the request; *: any'),
		field('--match-team <id>', 'match.team', 'none: any', orNone(text)),
		field('--match-format <format>', 'match.format', `${clientDialectNames.join(', ')}, or none: any`, orNone(text)),
		field('--strategy <name>', 'strategy', 'priority or weighted'),
		field('--target <target>', 'targets', 'provider, provider/model or provider/model=weight; repeatable', target),
	],
};

function targetText({ provider, model, weight }: Row): string {
	return `${plainText(provider)}${model === null ? '' : `/${plainText(model)}`}${weight === 1 ? '' : `=${plainText(weight)}`}`;
}

/** Shows the dimensions of a group in the order of the response; a model follows its provider. */
function groupText({ provider, model, ...row }: Row): string {
	const served = model === undefined ? provider : `${plainText(provider)}/${plainText(model)}`;
	const others = Object.entries(row).filter(([name]) => !sumNames.has(name));
	const values = [...others.map(([, value]) => value ?? 'none'), ...(served === undefined ? [] : [served])];
	return values.map(plainText).join(' ');
}

const sumNames = new Set(['requests', 'tokens', 'cost_usd', 'estimated_cost_usd']);

const client: Resource = {
	name: 'client',
	description: 'OAuth clients of the embedded identity.',
	example: 'tollgate client set search --disabled true',
	path: '/clients',
	argument: 'id',
	views: show,
	set: 'Update, disable or enable a client. Issued access tokens stay valid for inference until they expire.',
	fields: [
		field('--name <name>', 'name', 'display name'),
		field('--scopes <names>', 'scopes', 'scopes of the client, such as invoke or admin:read', list),
		field('--may-set-attributes <boolean>', 'may_set_attributes', 'true: its requests may carry `x-gateway-attributes`', onOrOff),
		field('--disabled <boolean>', 'disabled', 'true: the token endpoint treats the client as unknown', onOrOff),
	],
};

const usage: Resource = {
	name: 'usage',
	description: 'Usage by team for this UTC month or a range of days: requests, tokens, cost and budgets.',
	example: 'tollgate usage --group-by team,model,attribute:project --interval day',
	path: '/usage',
	argument: 'team',
	list: {
		columns: [
			['GROUP', groupText],
			['REQUESTS', 'requests'],
			['INPUT', 'tokens.input'],
			['OUTPUT', 'tokens.output'],
			['CACHE READ', 'tokens.cache_read'],
			['CACHE WRITE', 'tokens.cache_write'],
			['COST USD', 'cost_usd'],
			['ESTIMATED USD', 'estimated_cost_usd'],
		],
		filters: [
			field('--from <time>', 'from', 'UTC day or time, inclusive, such as 2026-11-01 or 2026-11-01T14:00:00Z'),
			field('--to <time>', 'to', 'UTC day or time, exclusive'),
			field(
				'--group-by <dimensions>',
				'group_by',
				'up to three of team, client, model, provider, endpoint, attribute:NAME, and day, separated by commas; default: team',
			),
			field('--interval <interval>', 'interval', 'hour, day or month: split the period'),
		],
		isDefault: true,
	},
	views: {
		show: {
			description: 'In this UTC month, or between two days.',
			suffix: '',
			filters: usageFilters,
		},
		history: { description: 'By month.', suffix: '/history', filters: usageFilters },
	},
	fields: [],
};

const audit: Resource = {
	...readOnly,
	name: 'audit',
	description: 'Audit log, newest first; --json includes before and after.',
	example: 'tollgate audit list --kind team --key search --json',
	path: '/audit',
	list: {
		columns: [
			['TIME', 'time'],
			['ACTOR', 'actor'],
			['ACTION', 'action'],
			['KIND', 'kind'],
			['KEY', 'key'],
		],
		filters: [
			field('--kind <kind>', 'kind', 'client, team, budget, price_override or routing_rule'),
			field('--key <id>', 'key', 'id of the record; provider/model for a price'),
		],
		defaultRows: 100,
	},
};

const request: Resource = {
	name: 'request',
	description: 'Requests, newest first, rejected ones included.',
	example: 'tollgate request list --team search --code rpm_limit_exceeded --limit 20',
	path: '/requests',
	argument: 'request-id',
	list: {
		columns: [
			['TIME', 'time'],
			['REQUEST', 'id'],
			['TEAM', 'team_id'],
			['CLIENT', 'client_id'],
			['MODEL', ({ model, model_requested: requested }) => plainText(model ?? requested ?? '-')],
			['PROVIDER', 'provider'],
			['STATUS', 'status'],
			['CODE', 'code'],
			['TOKENS', 'usage.total'],
			['COST USD', 'cost_usd'],
			['GUARDRAILS', 'guardrails'],
			['MS', 'duration_ms'],
		],
		filters: [
			field('--from <time>', 'from', 'UTC, inclusive, such as 2026-11-21T00:00:00Z'),
			field('--to <time>', 'to', 'UTC, exclusive'),
			field('--team <id>', 'team', 'only this team'),
			field('--client <id>', 'client', 'only this client'),
			field('--model <model>', 'model', 'only this model, requested or served'),
			field('--provider <name>', 'provider', 'only this provider'),
			field('--status <number>', 'status', 'only this status, such as 429'),
			field('--code <code>', 'code', 'only this error code, such as rpm_limit_exceeded'),
			field('--endpoint <path>', 'endpoint', 'only this endpoint, such as /v1/messages'),
			field('--attribute <name:value>', 'attribute', 'only this attribute, such as project:search'),
		],
		defaultRows: 100,
	},
	views: show,
	fields: [],
};

const provider: Resource = {
	...readOnly,
	name: 'provider',
	description: 'Model providers: their health, and the rate limits that they report.',
	example: 'tollgate provider list',
	path: '/providers',
	list: {
		columns: [
			['NAME', 'name'],
			['KIND', 'kind'],
			['CONFIGURED', 'configured'],
			['HEALTH', 'health.state'],
			['SINCE', 'health.since'],
			['TIGHTEST RATE LIMIT', (row) => limitText(tightestLimit(row))],
			['RESETS', (row) => plainText(tightestLimit(row)?.['resets_at'] ?? '-')],
		],
		filters: [],
	},
};

/** Returns the reported rate limit with the smallest remaining share; one without a limit counts by what remains. */
function tightestLimit({ rate_limits: limits }: Row): Row | undefined {
	const rows = Array.isArray(limits) ? limits.filter((one: unknown): one is Row => typeof one === 'object' && one !== null) : [];
	const share = ({ remaining, limit }: Row): number => Number(remaining) / Math.max(1, Number(limit ?? 1));
	return rows.toSorted((left, right) => share(left) - share(right))[0];
}

function limitText(row: Row | undefined): string {
	if (row === undefined) return '-';
	const { model, kind, remaining, limit } = row;
	return `${plainText(model)} ${plainText(kind)} ${plainText(remaining)}${limit === null ? '' : `/${plainText(limit)}`}`;
}

const assessment: Resource = {
	...readOnly,
	name: 'assessment',
	description: 'Guardrail assessments, newest first. Never contain text.',
	example: 'tollgate assessment list --team search --policy pii',
	path: '/guardrails/assessments',
	list: {
		columns: [
			['TIME', 'time'],
			['REQUEST', 'request_id'],
			['TEAM', 'team'],
			['STAGE', 'stage'],
			['POLICY', 'policy'],
			['CATEGORY', 'category'],
			['ACTION', 'action'],
			['OUTCOME', 'outcome'],
			['COUNT', 'count'],
		],
		filters: [
			field('--request <id>', 'request_id', 'only this request'),
			field('--team <id>', 'team', 'only this team'),
			field('--stage <stage>', 'stage', 'input or output'),
			field('--policy <policy>', 'policy', 'such as content or pii'),
			field('--category <category>', 'category', 'such as email'),
			field('--action <action>', 'action', 'NONE, MASK or BLOCK'),
			field('--outcome <outcome>', 'outcome', 'such as matched or failed; default: all except clean'),
			field('--from <time>', 'from', 'UTC, inclusive, such as 2026-11-21T00:00:00Z'),
			field('--to <time>', 'to', 'UTC, exclusive'),
		],
		defaultRows: 100,
	},
};

export const resources: readonly Resource[] = [team, budget, price, route, provider, client, usage, request, assessment, audit, webhook];
