import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { Rejection } from '../../../core/rejection.ts';
import type { RoutingRule } from '../../../core/routing-rule.ts';
import { providerNamed } from '../../../policy/routing/provider-names.ts';
import type { Author, Stored } from '../../../stores/contracts/records.ts';
import type { AdminDeps } from '../admin-deps.ts';
import { fieldInvalid, isFieldTaken } from '../fields-rejection.ts';
import { type CsvResponse, defineOperation, type Operation } from '../operation.ts';
import { pageOf, pageQuery, sortUsageRows, takePage, whileSame } from '../page.ts';
import {
	matchOf,
	maxPriority,
	minPriority,
	routingRule,
	routingRuleBody,
	routingRuleChange,
	routingRuleInput,
	targetsOf,
} from '../schemas/routing-rule.ts';
import { named } from '../schemas/values.ts';
import {
	deleteStored,
	entityTag,
	findStored,
	idParams,
	type RequestedChange,
	requireMatch,
	requireSameId,
	respondCreated,
} from '../stored-records.ts';

const tag = 'routing';
const one = { schema: routingRule, hasEntityTag: true } as const;
const missing = (id: string): string => `Routing rule \`${id}\` does not exist`;

const ruleList = named('RoutingRuleList', pageOf(routingRule));

const defaultPriority = 100;
const priorityDigits = String(maxPriority - minPriority).length;

export function routingOperations(deps: AdminDeps): Operation[] {
	const { records, runExclusive } = deps;
	const inOrder = whileSame((all: readonly RoutingRule[]) => sortUsageRows(all, precedence));
	return [
		defineOperation({
			method: 'GET',
			path: '/routing',
			access: { needs: 'read', team: 'denied' },
			tag,
			summary: 'List routing rules by priority',
			query: z.strictObject({ ...pageQuery }),
			success: { status: 200, schema: ruleList },
			run: async ({ query }) => {
				return { body: takePage(inOrder(await records.routingRules.list()), query, routingRuleBody) };
			},
		}),
		defineOperation({
			method: 'POST',
			path: '/routing',
			access: { needs: 'write', team: 'denied' },
			tag,
			summary: 'Create a routing rule',
			description: 'Routes requests by model, team or format. Rules take precedence over aliases, model families and defaults.',
			body: routingRuleInput,
			success: { status: 201, ...one },
			rejections: ['record_conflict'],
			run: ({ body, author }) => runExclusive(() => createRule(deps, body, author)),
		}),
		defineOperation({
			method: 'GET',
			path: '/routing/{id}',
			access: { needs: 'read', team: 'denied' },
			tag,
			summary: 'Get a routing rule',
			params: idParams,
			success: { status: 200, ...one },
			rejections: ['record_unknown'],
			run: async ({ params: { id } }) => ruleResult(await storedRule(deps, id)),
		}),
		defineOperation({
			method: 'PUT',
			path: '/routing/{id}',
			access: { needs: 'write', team: 'denied' },
			tag,
			summary: 'Update a routing rule',
			description: 'Omitted fields stay unchanged.',
			params: idParams,
			body: routingRuleChange,
			success: { status: 200, ...one },
			rejections: ['record_unknown', 'record_stale'],
			run: ({ params: { id }, body, ifMatch, author }) => runExclusive(() => changeRule(deps, id, body, { ifMatch, author })),
		}),
		defineOperation({
			method: 'DELETE',
			path: '/routing/{id}',
			access: { needs: 'write', team: 'denied' },
			tag,
			summary: 'Delete a routing rule',
			params: idParams,
			success: { status: 204 },
			rejections: ['record_unknown', 'record_stale'],
			run: ({ params: { id }, ifMatch, author }) =>
				runExclusive(() => deleteStored(records.routingRules, id, missing(id), { ifMatch, author })),
		}),
	];
}

/** Sorts as text: by priority, then by id. */
function precedence({ priority, id }: RoutingRule): string {
	return `${String(priority - minPriority).padStart(priorityDigits, '0')} ${id}`;
}

async function createRule(deps: AdminDeps, input: z.output<typeof routingRuleInput>, author: Author): Promise<CsvResponse> {
	const rule: RoutingRule = {
		id: input.id ?? `rule-${randomBytes(6).toString('hex')}`,
		name: input.name,
		priority: input.priority ?? defaultPriority,
		isEnabled: input.enabled ?? true,
		mode: input.mode ?? 'enforce',
		match: matchOf(input.match ?? {}),
		strategy: input.strategy ?? 'priority',
		targets: namedTargets(deps, targetsOf(input.targets)),
		createdAtMs: author.atMs,
		updatedAtMs: author.atMs,
	};
	checkTargets(deps, rule);
	if ((await deps.records.routingRules.create(rule, { author })) !== 'created') {
		throw isFieldTaken('id', `must be unique: there is a routing rule \`${rule.id}\``);
	}
	return respondCreated(ruleResult(await storedRule(deps, rule.id)), '/routing', rule.id);
}

async function changeRule(
	deps: AdminDeps,
	id: string,
	change: z.output<typeof routingRuleChange>,
	{ ifMatch, author }: RequestedChange,
): Promise<CsvResponse> {
	requireSameId(change, id);
	const { version, ...before } = await storedRule(deps, id);
	requireMatch(ifMatch, entityTag(version));
	const rule: RoutingRule = {
		...before,
		name: change.name ?? before.name,
		priority: change.priority ?? before.priority,
		isEnabled: change.enabled ?? before.isEnabled,
		mode: change.mode ?? before.mode,
		match: change.match === undefined ? before.match : matchOf(change.match),
		strategy: change.strategy ?? before.strategy,
		targets: change.targets === undefined ? before.targets : namedTargets(deps, targetsOf(change.targets)),
		updatedAtMs: author.atMs,
	};
	checkTargets(deps, rule);
	if ((await deps.records.routingRules.replace(rule, { author, ifVersion: version })) !== 'replaced') throw new Rejection('record_stale');
	return ruleResult(await storedRule(deps, id));
}

function storedRule({ records }: AdminDeps, id: string): Promise<Stored<RoutingRule>> {
	return findStored(records.routingRules, id, missing(id));
}

function ruleResult(rule: Stored<RoutingRule>): CsvResponse {
	return { body: routingRuleBody(rule), headers: { etag: entityTag(rule.version) } };
}

/** Replaces vendor names by the provider's own name, which the rule stores. */
function namedTargets({ configured }: AdminDeps, targets: RoutingRule['targets']): RoutingRule['targets'] {
	const { providers } = configured();
	return targets.map((target) => ({ ...target, provider: providerNamed(target.provider, providers) }));
}

function checkTargets({ configured }: AdminDeps, { targets, strategy }: RoutingRule): void {
	const known = configured().providers.map(({ name }) => name);
	for (const [index, { provider }] of targets.entries()) {
		if (!known.includes(provider)) {
			throw fieldInvalid(`targets[${index}].provider`, `is \`${provider}\`, an unknown provider. Known providers: ${known.join(', ')}`);
		}
	}
	if (strategy === 'weighted' && targets.every(({ weight }) => weight === 0)) {
		throw fieldInvalid('targets', 'must include a target with a weight above 0 for strategy `weighted`');
	}
}
