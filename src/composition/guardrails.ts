/** Guardrails from the configuration. */
import { readContentWeights } from '../../content-filter/read-weights.ts';
import type { Config } from '../config/schema.ts';
import { contentCategories } from '../policy/guardrails/content/content-category.ts';
import { type ContentScorer, createContentScorer } from '../policy/guardrails/content/content-scorer.ts';
import type { RuleAction } from '../policy/guardrails/guardrail.ts';
import type { GuardrailSettings } from '../policy/guardrails/guardrails.ts';
import { type PiiKind, piiKinds } from '../policy/guardrails/pii/pii-kind.ts';

/** @returns undefined where guardrails are switched off. */
export function guardrailSettings(config: Config): GuardrailSettings | undefined {
	const { guardrails, enable_guardrails: isEnabled, enforce_guardrails: isEnforced } = config;
	if (!isEnabled) return undefined;
	const { content, pii, topics } = guardrails;
	return {
		isEnforced,
		content: byName(contentCategories, (category) => ({
			strength: content.enabled ? content[category] : 'none',
			action: content.enabled ? content.action : 'none',
		})),
		pii: byName(piiKinds, (kind) => (pii.enabled ? piiAction(pii.types, kind) : 'none')),
		masksAnswers: pii.mask_answers,
		words: { entries: guardrails.words, action: guardrails.words_action },
		patterns: guardrails.patterns,
		// Topics belong to enforcement (Spec: Guardrails), unless they are wanted always.
		topics: isEnforced || guardrails.topics_when === 'always' ? topics : [],
		unreadable: guardrails.unreadable,
		teams: guardrails.teams,
	};
}

/** A list names what blocks. */
function piiAction(types: Config['guardrails']['pii']['types'], kind: PiiKind): RuleAction {
	if ('length' in types) return types.includes(kind) ? 'block' : 'none';
	const action = types[kind];
	return action === undefined || action === 'off' ? 'none' : action;
}

function byName<Name extends string, Value>(names: readonly Name[], valueOf: (name: Name) => Value): Record<Name, Value> {
	return Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<Name, Value>;
}

let scorer: ContentScorer | undefined;

/** Reads the weights once, when they are first needed. */
export function contentScorerFor(settings: GuardrailSettings | undefined): ContentScorer | undefined {
	if (settings === undefined || contentCategories.every((category) => settings.content[category].strength === 'none')) return undefined;
	scorer ??= createContentScorer(readContentWeights());
	return scorer;
}
