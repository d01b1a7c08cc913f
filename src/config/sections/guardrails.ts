import { z } from 'zod';
import { nearestName } from '../../core/nearest-name.ts';
import { policyModes } from '../../core/policy-mode.ts';
import { contentCategories } from '../../policy/guardrails/content/content-category.ts';
import { ruleActions } from '../../policy/guardrails/guardrail.ts';
import { maxPatternLength, whyNotPattern } from '../../policy/guardrails/patterns/pattern-detector.ts';
import { piiKinds } from '../../policy/guardrails/pii/pii-kind.ts';
import { nonEmpty, teamId } from '../values.ts';
import { classifierAction, moderationProvider } from './moderation-providers.ts';

const strength = z.enum(['none', 'low', 'medium', 'high']).default('medium');
const ruleAction = z.enum(ruleActions);
const mode = z.enum(policyModes);

function modeBy<const Names extends readonly [string, ...string[]]>(names: Names) {
	return z
		.union([mode, z.partialRecord(z.enum(names), mode)], { error: 'must be enforce or monitor, or a mapping to them' })
		.default('enforce');
}

const monitorMeaning = '`monitor`: matches are recorded and counted, and neither block nor mask.';

const content = z.strictObject({
	enabled: z.boolean().default(true).describe('Evaluates texts for harmful content.'),
	hate: strength.describe('Strength against hate.'),
	violence: strength.describe('Strength against violence.'),
	sexual: strength.describe('Strength against sexual content.'),
	misconduct: strength.describe('Strength against misconduct.'),
	prompt_attack: strength.describe('Strength against attempts to override instructions.'),
	action: classifierAction.describe('Action for matches under `enforce_guardrails`.'),
	mode: modeBy(contentCategories).describe(`Mode of all categories, or by category. ${monitorMeaning}`),
});

const piiAction = z.enum(['block', 'mask', 'log', 'off']);

const pii = z.strictObject({
	enabled: z.boolean().default(true).describe('Searches texts for personal data.'),
	types: z
		.union([z.array(z.enum(piiKinds)).max(100), z.partialRecord(z.enum(piiKinds), piiAction)], {
			error: 'must be a list of kinds, or for each kind block, mask, log or off',
		})
		.default(['ssn', 'card', 'email', 'phone'])
		.describe('Types of personal data: a list (each blocks), or `block`, `mask`, `log` or `off` per type. Unlisted types are off.'),
	mask_responses: z
		.boolean()
		.default(true)
		.describe('Applies `mask` to responses as well; otherwise matches in responses are only logged.'),
	mode: modeBy(piiKinds).describe(`Mode of all types, or by type. ${monitorMeaning}`),
});

const topic = z.strictObject({
	name: nonEmpty.max(100).describe('Name of the topic in assessments.'),
	description: nonEmpty.max(2000).describe('Description of the topic in one sentence.'),
	examples: z.array(nonEmpty.max(2000)).max(100).default([]).describe('Example phrases of the topic.'),
	keywords: z.array(nonEmpty.max(100)).max(1000).default([]).describe('Words and phrases that match on their own.'),
	action: classifierAction.describe('Action for matches under `enforce_guardrails`.'),
	mode: mode.default('enforce').describe(monitorMeaning),
});

const pattern = z.strictObject({
	name: z
		.string()
		.regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, `_` and `-`')
		.describe('Name of the pattern in assessments.'),
	pattern: nonEmpty
		.max(maxPatternLength)
		.superRefine((text, context) => {
			const why = whyNotPattern(text);
			if (why !== undefined) context.addIssue({ code: 'custom', message: why });
		})
		.describe('Regular expression in the syntax of RE2, whose time is linear.'),
	action: ruleAction.default('block').describe('Action for matches under `enforce_guardrails`.'),
	mode: mode.default('enforce').describe(monitorMeaning),
});

const fields = z.strictObject({
	content: content.prefault({}).describe('Content policy.'),
	pii: pii.prefault({}).describe('Policy on personal data.'),
	topics: z.array(topic).max(1000).default([]).describe('Denied topics.'),
	topics_when: z
		.enum(['enforcing', 'always'])
		.default('enforcing')
		.describe('Evaluates topics only under `enforce_guardrails`, or always.'),
	words: z.array(nonEmpty.max(500)).max(100_000).default([]).describe('Words and phrases that match the word policy.'),
	words_action: ruleAction.default('block').describe('Action for matches under `enforce_guardrails`.'),
	words_mode: mode.default('enforce').describe(monitorMeaning),
	patterns: z.array(pattern).max(200).default([]).describe('Regular expressions that match.'),
	unreadable: z
		.enum(['pass', 'block'])
		.default('pass')
		.describe('Action for images, audio, files and unknown content under `enforce_guardrails`. They are recorded as not evaluated.'),
	teams: z
		.record(teamId, z.record(nonEmpty.max(200), ruleAction))
		.default({})
		.describe(
			'Overrides per team: a rule such as `pii.email` or `moderation.NAME`, or a policy such as `words` or `moderation`, with `none`, `log`, `block` or `mask`.',
		),
	moderation_providers: z.array(moderationProvider).max(20).default([]).describe('External moderation providers.'),
});

export const guardrails = fields.superRefine((settings, context) => {
	const known = rulesOf(settings);
	for (const [team, rules] of Object.entries(settings.teams)) {
		for (const rule of Object.keys(rules)) {
			if (known.includes(rule)) continue;
			const nearest = nearestName(rule, known);
			const hint = nearest === undefined ? `Known: ${known.join(', ')}` : `Did you mean \`${nearest}\`?`;
			context.addIssue({ code: 'custom', path: ['teams', team, rule], message: `Unknown guardrail rule \`${rule}\`. ${hint}` });
		}
	}
});

/** Names of policies and of their rules. */
function rulesOf({ topics, patterns, moderation_providers: moderationProviders }: z.output<typeof fields>): string[] {
	const rules = {
		content: contentCategories,
		pii: piiKinds,
		topics: topics.map(({ name }) => name),
		words: ['listed'],
		patterns: patterns.map(({ name }) => name),
		moderation: moderationProviders.map(({ name }) => name),
	};
	return Object.entries(rules).flatMap(([policy, names]) => [policy, ...names.map((name) => `${policy}.${name}`)]);
}
