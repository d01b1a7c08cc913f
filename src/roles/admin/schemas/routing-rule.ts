import { z } from 'zod';
import { clientDialectNames } from '../../../core/dialect-name.ts';
import { policyModes } from '../../../core/policy-mode.ts';
import type { RoutingRule } from '../../../core/routing-rule.ts';
import { modelName, named, readOnly, slug, text, time, timeOf } from './values.ts';

const anyModel = '*';

const target = z.strictObject({
	provider: text(64).describe('A provider of the configuration.'),
	model: modelName.nullable().optional().describe('Model name at the provider; null: the name in the request.'),
	weight: z.int().min(0).max(1_000_000).optional().describe('Share of requests under `weighted`; default 1.'),
});

export const minPriority = -1_000_000;
export const maxPriority = 1_000_000;

const fields = {
	name: text(200).describe('Display name.'),
	priority: z.int().min(minPriority).max(maxPriority).describe('The matching rule with the smallest number applies.'),
	enabled: z.boolean(),
	mode: z.enum(policyModes).describe('`monitor`: the target that the rule would choose is recorded, and requests are not rerouted.'),
	match: z.strictObject({
		model: modelName.optional().describe('Model name as in the request; `*` matches any text. Default `*`: every model.'),
		team: text(256).nullable().optional().describe('Null: any.'),
		format: z.enum(clientDialectNames).nullable().optional().describe('Null: any.'),
	}),
	strategy: z.enum(['priority', 'weighted']).describe('`priority`: the first target. `weighted`: by share. The others are its fallbacks.'),
	targets: z.array(target).min(1).max(50),
};

export const routingRule = named(
	'RoutingRule',
	z.strictObject({
		id: slug,
		name: z.string(),
		priority: z.int(),
		enabled: z.boolean(),
		mode: fields.mode,
		match: z.strictObject({ model: z.string(), team: z.string().nullable(), format: z.enum(clientDialectNames).nullable() }),
		strategy: fields.strategy,
		targets: z.array(z.strictObject({ provider: z.string(), model: z.string().nullable(), weight: z.int() })),
		created_at: time,
		updated_at: time,
	}),
);

const given = { id: slug.optional(), created_at: readOnly, updated_at: readOnly };

export const routingRuleInput = named(
	'RoutingRuleInput',
	z.strictObject({
		...given,
		name: fields.name,
		priority: fields.priority.optional().describe('Default: 100.'),
		enabled: fields.enabled.optional().describe('Default: true.'),
		mode: fields.mode.optional(),
		match: fields.match.optional().describe('Default: every request.'),
		strategy: fields.strategy.optional(),
		targets: fields.targets,
	}),
);

/** Omitted fields stay unchanged. */
export const routingRuleChange = named(
	'RoutingRuleUpdate',
	z.strictObject({
		...given,
		name: fields.name.optional(),
		priority: fields.priority.optional(),
		enabled: fields.enabled.optional(),
		mode: fields.mode.optional(),
		match: fields.match.optional().describe('Replaces all targets.'),
		strategy: fields.strategy.optional(),
		targets: fields.targets.optional(),
	}),
);

export function matchOf({ model = anyModel, team = null, format = null }: z.output<typeof fields.match>): RoutingRule['match'] {
	return { model: model === anyModel ? null : model, team, format };
}

export function targetsOf(targets: z.output<typeof fields.targets>): RoutingRule['targets'] {
	return targets.map(({ provider, model = null, weight = 1 }) => ({ provider, model, weight }));
}

export function routingRuleBody(rule: RoutingRule): z.output<typeof routingRule> {
	return {
		id: rule.id,
		name: rule.name,
		priority: rule.priority,
		enabled: rule.isEnabled,
		mode: rule.mode,
		match: { ...rule.match, model: rule.match.model ?? anyModel },
		strategy: rule.strategy,
		targets: rule.targets.map((one) => ({ ...one })),
		created_at: timeOf(rule.createdAtMs),
		updated_at: timeOf(rule.updatedAtMs),
	};
}
