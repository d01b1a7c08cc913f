import { memoize } from '../../core/bounded-map.ts';
import { clientDialectNames } from '../../core/dialect-name.ts';
import { matchesModel } from '../../core/model-pattern.ts';
import { Rejection } from '../../core/rejection.ts';
import type { RoutingRule, RoutingRuleTarget } from '../../core/routing-rule.ts';
import { compileSpellings, type Respell } from './model-spelling.ts';
import { vendorAliases } from './provider-names.ts';
import { decidingRule, excludedTargets, type TargetIdentity, targetsByRules } from './routing-rules.ts';
import type { ListedModel, ProviderModel, RoutedProvider, RoutingInput, RoutingSettings } from './routing-settings.ts';
import { decideTarget, type Target, type Targets } from './target.ts';

interface Family {
	readonly pattern: RegExp;
	/** Default provider's name; another provider of this kind is used if that one is missing. */
	readonly provider: string;
	readonly kind: string;
}

const families: readonly Family[] = [
	{ pattern: /^claude-/, provider: 'provider_a', kind: 'anthropic' },
	{ pattern: /^(?:gpt-|chatgpt-|o\d|text-embedding-(?:3-|ada-))/, provider: 'provider_b', kind: 'openai' },
	{ pattern: /^gemini-/, provider: 'provider_c', kind: 'gemini' },
];

/** Of a header's value, in characters. */
const maxShownLength = 64;

/** Reason for the targets of a request. */
export interface RouteReason {
	readonly by: RoutedBy;
	/** Id of the deciding rule. */
	readonly rule: string | null;
	/** Targets of the rule that cannot serve the request, because it must stay with the model of the first. */
	readonly excluded: readonly Target[];
}

/** Decision of a monitored rule. */
export interface MonitoredRoute {
	/** Id of the rule. */
	readonly rule: string;
	readonly target: Target;
}

export type RoutedBy = 'provider_header' | 'rule' | 'prefix' | 'alias' | 'configured_model' | 'family' | 'default';

/** Decides the provider and model name of a request. Built once from the configuration. */
export class Routing {
	readonly #settings: RoutingSettings;
	/** Spelling of models by the names of the configured providers. */
	readonly #names: ReadonlyMap<string, Respell>;
	/** Providers by vendor's name. */
	readonly #vendors: ReadonlyMap<string, string>;
	readonly #aliases: ReadonlyMap<string, Target>;
	/** Models and deployments that the configuration names. */
	readonly #configured: ReadonlyMap<string, Target>;
	readonly #familyOf: (model: string) => string | undefined;
	readonly #isConfigured = (provider: string): boolean => this.#names.has(provider);

	/** @throws Error when an alias names a provider that is not configured. */
	constructor(settings: RoutingSettings, providers: readonly RoutedProvider[]) {
		this.#settings = settings;
		this.#names = compileSpellings(providers);
		this.#vendors = vendorAliases(providers);
		this.#aliases = new Map(Object.entries(settings.aliases).map(([name, target]) => [name, this.#compileAlias(name, target)]));
		this.#configured = this.#compileConfigured(providers);
		this.#familyOf = compileFamilies(providers);
	}

	/**
	 * Lists the configured names and those of operators' rules, if they have a target for the team. The names of `known` models follow: the
	 * bare name if it leads to that model, or the name with the provider as prefix.
	 */
	modelsOf(team: string, rules: readonly RoutingRule[], known: readonly ProviderModel[]): readonly ListedModel[] {
		const named = new Map<string, Target>([...this.#configured, ...this.#aliases]);
		const capabilitiesOf = (model: string, format: RoutingInput['format'] = clientDialectNames[0]): RoutingInput => {
			return { format, model, team, stickyKey: '', rules, providerHeader: undefined };
		};
		for (const { match } of rules) {
			if (match.model === null || match.model.includes('*')) continue;
			const target = this.#byRule(capabilitiesOf(match.model, match.format ?? undefined))?.[0];
			if (target !== undefined) named.set(match.model, target);
		}
		for (const { provider, model } of known) {
			if (!this.#names.has(provider)) continue;
			const target = this.#decide(provider, model);
			const byRule = this.#byRule(capabilitiesOf(model))?.[0];
			if (byRule !== undefined && !named.has(model)) named.set(model, byRule);
			const bare = byRule ?? this.#byName({ model });
			const isBare = bare?.provider === provider && bare.model === target.model;
			const id = isBare ? model : `${provider}/${model}`;
			if (!named.has(id)) named.set(id, target);
		}
		return [...named].map(([id, target]) => ({ id, target }));
	}

	/**
	 * Returns the target of a name without a provider header; of several targets the first that is allowed.
	 * @returns undefined if it has none. `isDefault`: the name is unknown, so the format's default applies.
	 */
	findTarget(
		facts: Omit<RoutingInput, 'providerHeader'>,
		isAllowed: (target: Target) => boolean = () => true,
	): { readonly target: Target; readonly isDefault: boolean } | undefined {
		const requested = { ...facts, providerHeader: undefined };
		const prefixed = this.#byPrefix(requested);
		const named = prefixed === undefined ? (this.#byRule(requested) ?? listOf(this.#byName(requested))) : [prefixed];
		if (named.length > 0) {
			const target = named.find(isAllowed);
			return target && { target, isDefault: false };
		}
		const provider = this.#settings.defaults[facts.format];
		if (provider === undefined || !this.#names.has(provider)) return undefined;
		const target = this.#decide(provider, facts.model);
		return isAllowed(target) ? { target, isDefault: true } : undefined;
	}

	/** Returns true if a client's name for a model is only another spelling of the target, with or without its provider. */
	isOwnName(requested: string, { provider, model }: ProviderModel): boolean {
		if (this.#decide(provider, requested).model === model) return true;
		const prefixed = this.#splitPrefix(requested);
		return prefixed?.provider === provider && this.#decide(provider, prefixed.model).model === model;
	}

	/**
	 * Resolves targets by the first of these that applies:
	 * - provider header
	 * - `provider/model` or `vendor/model` prefix
	 * - operator's rule
	 * - alias
	 * - configured model or deployment
	 * - family of the name
	 * - default of the format
	 *
	 * @returns the target, followed by its fallbacks, which only a rule has.
	 * @throws {Rejection} `provider_not_set`, `provider_unknown`.
	 */
	resolveTargets(facts: RoutingInput): Targets {
		const chosen = this.#byHeader(facts) ?? this.#byPrefix(facts);
		if (chosen !== undefined) return [chosen];
		return this.#byRule(facts) ?? [this.#byName(facts) ?? this.#byDefault(facts)];
	}

	/** Returns the target that stores what a request refers to; undefined if its provider is not configured any more. */
	targetOf({ provider, model }: ProviderModel): Target | undefined {
		return this.#names.has(provider) ? this.#decide(provider, model) : undefined;
	}

	/**
	 * Returns the monitored rule that would decide, and the first target that it would choose. Undefined if another rule would, or none.
	 * @param rules enforced and monitored ones, by precedence.
	 */
	monitoredRoute(enforced: RoutingInput, rules: readonly RoutingRule[]): MonitoredRoute | undefined {
		const facts = { ...enforced, rules };
		if (this.#precedesRules(facts)) return undefined;
		const rule = decidingRule(rules, facts, this.#isConfigured);
		const [target] = rule?.mode === 'monitor' ? (this.#byRule(facts) ?? []) : [];
		return rule && target && { rule: rule.id, target };
	}

	/** Explains which of them decides, for facts that have targets. */
	explain(facts: RoutingInput): RouteReason {
		const rule = this.#precedesRules(facts) ? undefined : decidingRule(facts.rules, facts, this.#isConfigured);
		if (rule === undefined) return { by: this.#reasonWithoutRule(facts), rule: null, excluded: [] };
		const excluded = excludedTargets(rule, this.#isConfigured, this.#identityFor(facts));
		return { by: 'rule', rule: rule.id, excluded: excluded.map((target) => this.#targetOf(target, facts)) };
	}

	#precedesRules(facts: RoutingInput): boolean {
		return (this.#byHeader(facts) ?? this.#byPrefix(facts)) !== undefined;
	}

	#reasonWithoutRule(facts: RoutingInput): RoutedBy {
		const { model } = facts;
		if (this.#byHeader(facts) !== undefined) return 'provider_header';
		if (this.#byPrefix(facts) !== undefined) return 'prefix';
		if (this.#aliases.has(model)) return 'alias';
		if (this.#configured.has(model)) return 'configured_model';
		return this.#familyOf(model) === undefined ? 'default' : 'family';
	}

	#byHeader({ providerHeader, model }: RoutingInput): Target | undefined {
		if (this.#settings.providerHeader === 'ignore') return undefined;
		const given = providerHeader?.trim() ?? '';
		if (given === '') {
			if (this.#settings.providerHeader === 'required') throw new Rejection('provider_not_set', { message: 'provider is not set' });
			return undefined;
		}
		const name = this.#providerNamed(given);
		if (name === undefined) {
			throw new Rejection('provider_unknown', {
				message: `\`x-gateway-provider\` is ${JSON.stringify(given.slice(0, maxShownLength))}, which is not a configured provider. Known: ${this.#known()}`,
			});
		}
		// The header takes precedence: a prefix or an alias is only used if it leads to the same provider.
		const alias = this.#aliases.get(model);
		if (alias?.provider === name) return alias;
		const prefixed = this.#splitPrefix(model);
		return prefixed?.provider === name ? this.#decide(name, prefixed.model) : this.#decide(name, model);
	}

	#byRule(facts: RoutingInput): Targets | undefined {
		if (facts.rules.length === 0) return undefined;
		const [first, ...later] = targetsByRules(facts.rules, facts, this.#isConfigured, this.#identityFor(facts)).map((target) =>
			this.#targetOf(target, facts),
		);
		return first && [first, ...later];
	}

	#targetOf({ provider, model }: RoutingRuleTarget, facts: RoutingInput): Target {
		return this.#decide(provider, model ?? facts.model);
	}

	#identityFor(facts: RoutingInput): TargetIdentity {
		const { modelOf } = facts;
		return modelOf && ((target) => modelOf(this.#targetOf(target, facts)));
	}

	/** Resolves a prefix only if it is a provider, because model names can have slashes themselves. */
	#byPrefix(facts: Pick<RoutingInput, 'model' | 'rules'>): Target | undefined {
		const prefixed = this.#splitPrefix(facts.model);
		if (prefixed === undefined || (prefixed.isVendor && this.#isConfiguredName(facts))) return undefined;
		return this.#decide(prefixed.provider, prefixed.model);
	}

	#splitPrefix(model: string): { readonly provider: string; readonly model: string; readonly isVendor: boolean } | undefined {
		const slash = model.indexOf('/');
		if (slash === -1 || slash === model.length - 1) return undefined;
		const name = model.slice(0, slash);
		const provider = this.#providerNamed(name);
		return provider === undefined ? undefined : { provider, model: model.slice(slash + 1), isVendor: provider !== name };
	}

	#providerNamed(name: string): string | undefined {
		return this.#names.has(name) ? name : this.#vendors.get(name);
	}

	/** Tells whether an operator configured the whole name: `openai/gpt-oss-20b` is a model of many servers, not only a prefix. */
	#isConfiguredName({ model, rules }: Pick<RoutingInput, 'model' | 'rules'>): boolean {
		if (this.#aliases.has(model) || this.#configured.has(model)) return true;
		return rules.some(({ match }) => match.model?.includes('/') === true && matchesModel(match.model, model));
	}

	/** Resolves a configured name before its family, because the operator chose it explicitly. */
	#byName({ model }: Pick<RoutingInput, 'model'>): Target | undefined {
		const named = this.#aliases.get(model) ?? this.#configured.get(model);
		if (named !== undefined) return named;
		const provider = this.#familyOf(model);
		return provider === undefined ? undefined : this.#decide(provider, model);
	}

	#byDefault({ format, model }: RoutingInput): Target {
		const provider = this.#settings.defaults[format];
		if (provider !== undefined && this.#names.has(provider)) return this.#decide(provider, model);
		throw new Rejection('provider_unknown', {
			param: 'model',
			message: `No configured provider serves this model, and \`routing.defaults.${format}\` is not set. Known providers: ${this.#known()}`,
		});
	}

	#compileAlias(name: string, target: string): Target {
		const slash = target.indexOf('/');
		const provider = target.slice(0, Math.max(slash, 0));
		const model = target.slice(slash + 1);
		if (!this.#names.has(provider) || model === '') {
			throw new Error(`routing.aliases.${name} is \`${target}\`, not \`provider/model\` with a configured provider`);
		}
		return this.#decide(provider, model, name);
	}

	/** Normalises the spelling, so that prices, limits and reports see one name. */
	#decide(provider: string, model: string, alias?: string): Target {
		return decideTarget(provider, this.#names.get(provider)?.(model) ?? model, alias);
	}

	#compileConfigured(providers: readonly RoutedProvider[]): ReadonlyMap<string, Target> {
		const configured = new Map<string, Target>();
		for (const { name, models = [] } of providers) {
			for (const model of models) if (!configured.has(model)) configured.set(model, this.#decide(name, model));
		}
		return configured;
	}

	#known(): string {
		return [...this.#names.keys()].join(', ');
	}
}

function listOf(target: Target | undefined): readonly Target[] {
	return target === undefined ? [] : [target];
}

/** Maps a model to the configured provider of its name's family. */
function compileFamilies(providers: readonly RoutedProvider[]): (model: string) => string | undefined {
	const served = families.flatMap(({ pattern, provider, kind }) => {
		const found = providers.find(({ name }) => name === provider) ?? providers.find((candidate) => candidate.kind === kind);
		return found === undefined ? [] : [{ pattern, provider: found.name }];
	});
	return memoize(1000, (model) => served.find(({ pattern }) => pattern.test(model))?.provider);
}
