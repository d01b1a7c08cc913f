import { readContentWeights } from '../../content-filter/read-weights.ts';
import { moderationAddress } from '../config/defaults.ts';
import { proxyOf } from '../config/proxy.ts';
import type { Config } from '../config/schema.ts';
import { parseUsd, parseUsdPerMillionTokens } from '../core/money.ts';
import type { PolicyMode } from '../core/policy-mode.ts';
import { defaultPrice, defaultPricesDay } from '../policy/budgets/price-of.ts';
import { contentCategories } from '../policy/guardrails/content/content-category.ts';
import { type ContentScorer, createContentScorer } from '../policy/guardrails/content/content-scorer.ts';
import type { RuleAction } from '../policy/guardrails/guardrail.ts';
import type { GuardrailSettings } from '../policy/guardrails/guardrails.ts';
import { type PiiKind, piiKinds } from '../policy/guardrails/pii/pii-kind.ts';
import type { ModerationPrice, ModerationProviderSettings } from '../roles/gateway/moderation/moderation-settings.ts';
import type { ProtocolSettings } from '../wire/moderation/moderation-protocols.ts';

/** @returns undefined if guardrails are switched off. */
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
		masksResponses: pii.mask_responses,
		words: { entries: guardrails.words, action: guardrails.words_action },
		patterns: guardrails.patterns,
		// Topics belong to enforcement (Spec: Guardrails), unless configured to always apply.
		topics: isEnforced || guardrails.topics_when === 'always' ? topics : [],
		unreadable: guardrails.unreadable,
		monitored: monitoredRules(guardrails),
		teams: guardrails.teams,
	};
}

function monitoredRules({ content, pii, topics, patterns, words_mode: wordsMode, ...others }: Config['guardrails']): string[] {
	const named = (policy: string, rules: readonly { readonly name: string; readonly mode: PolicyMode }[]): string[] =>
		rules.filter(({ mode }) => mode === 'monitor').map(({ name }) => `${policy}.${name}`);
	return [
		...named(
			'content',
			contentCategories.map((name) => ({ name, mode: modeOf(content.mode, name) })),
		),
		...named(
			'pii',
			piiKinds.map((name) => ({ name, mode: modeOf(pii.mode, name) })),
		),
		...named('words', [{ name: 'listed', mode: wordsMode }]),
		...named('topics', topics),
		...named('patterns', patterns),
		...named('moderation', others.moderation_providers),
	];
}

/** Translates both forms of the setting: one mode for all, or by name. */
function modeOf<Name extends string>(modes: PolicyMode | Partial<Record<Name, PolicyMode>>, name: Name): PolicyMode {
	return typeof modes === 'string' ? modes : (modes[name] ?? 'enforce');
}

/** Translates both forms of the setting: the types in a list are blocked. */
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

type ModerationConfig = Config['guardrails']['moderation_providers'][number];

export function moderationProviderSettings({ guardrails }: Pick<Config, 'guardrails'>): ModerationProviderSettings[] {
	return guardrails.moderation_providers.map((moderationProvider) => ({
		name: moderationProvider.name,
		action: moderationProvider.action,
		protocol: protocolOf(moderationProvider),
		baseUrl: moderationProvider.base_url ?? moderationAddress(moderationProvider.kind, moderationProvider.region ?? ''),
		canReachPrivateNetwork: moderationProvider.allow_private_network,
		proxy: proxyOf(moderationProvider.proxy),
		awsCredentials: credentialsOf(moderationProvider),
		timeoutMs: moderationProvider.timeout_ms,
		maxConcurrent: moderationProvider.max_concurrent,
		onFailure: moderationProvider.on_failure,
		thresholds: { log: moderationProvider.log_threshold, block: moderationProvider.block_threshold },
		price: priceOf(moderationProvider),
	}));
}

const openAi = 'https://api.openai.com/v1';

function priceOf(moderationProvider: ModerationConfig): ModerationPrice | undefined {
	const {
		kind,
		model,
		base_url: baseUrl,
		input_usd_per_million_tokens: input,
		output_usd_per_million_tokens: output,
		usd_per_thousand_units: units,
	} = moderationProvider;
	// The same model has other prices elsewhere.
	const [listed] = baseUrl === openAi ? (defaultPrice('openai', model ?? '', defaultPricesDay)?.tiers ?? []) : [];
	const inputPicoUsd = input === null ? listed?.inputPicoUsd : parseUsdPerMillionTokens(input);
	const outputPicoUsd = output === null ? listed?.outputPicoUsd : parseUsdPerMillionTokens(output);
	if (kind === 'chat-judge') {
		if (inputPicoUsd === undefined || outputPicoUsd === undefined) return undefined;
		return { inputPicoUsd, outputPicoUsd, thousandUnitsNanoUsd: 0n };
	}
	// OpenAI does not charge for moderation.
	if (units === null && kind !== 'openai-moderation') return undefined;
	return { inputPicoUsd: 0n, outputPicoUsd: 0n, thousandUnitsNanoUsd: parseUsd(units ?? '0') ?? 0n };
}

/** The schema guarantees the fields that each kind needs. */
function protocolOf(moderationProvider: ModerationConfig): ProtocolSettings {
	const { kind, api_key: apiKey, model } = moderationProvider;
	switch (kind) {
		case 'openai-moderation':
			return { kind, apiKey, model };
		case 'azure-content-safety':
			return { kind, apiKey };
		case 'bedrock-guardrail':
			return { kind, apiKey, guardrailId: moderationProvider.guardrail_id ?? '', guardrailVersion: moderationProvider.guardrail_version };
		case 'chat-judge':
			return {
				kind,
				apiKey,
				model: model ?? '',
				form: moderationProvider.form ?? 'safeguard',
				policy: moderationProvider.policy ?? '',
				category: moderationProvider.category,
			};
	}
}

function credentialsOf(moderationProvider: ModerationConfig): ModerationProviderSettings['awsCredentials'] {
	const { region, access_key_id: accessKeyId, secret_access_key: secretAccessKey, session_token: sessionToken } = moderationProvider;
	if (moderationProvider.kind !== 'bedrock-guardrail' || moderationProvider.api_key !== null) return null;
	return region === null || accessKeyId === null || secretAccessKey === null
		? null
		: { region, accessKeyId, secretAccessKey, sessionToken };
}
