/** Decides which targets a team may use. */
import type { AllowListName, AllowLists, Denial, ProviderFacts } from '../../core/allow-lists.ts';
import { compileModelPattern, matchesModel } from '../../core/model-pattern.ts';
import type { PolicyMode } from '../../core/policy-mode.ts';
import { Rejection } from '../../core/rejection.ts';
import type { Team } from '../../core/team.ts';
import { vendorAliases } from './provider-names.ts';
import type { RoutedProvider } from './routing-settings.ts';

/** A target with all of its names. */
export interface JudgedTarget {
	/** Model name as sent by the client. */
	readonly requested: string;
	/** True if that name is only another spelling of the target, so that the target's own name decides. */
	readonly isOwnName: boolean;
	readonly provider: string;
	readonly model: string;
	/** Vendor's name of the model, if the configuration states another one. */
	readonly knownAs: string | undefined;
}

/** First enforced and first monitored list that does not allow a target. */
export interface Judgement {
	readonly enforced: Denial | undefined;
	readonly monitored: Denial | undefined;
}

/** Lists in force for a team, compiled. */
export interface CompiledAllowLists {
	judge(target: JudgedTarget): Judgement;
	readonly lists: readonly ListInForce[];
}

export interface ListInForce {
	readonly path: string;
	readonly mode: PolicyMode;
	/** Patterns, names of providers, or the required value. */
	readonly values: readonly string[];
}

/** Thrown if no target of a request is allowed. */
export class AllowListRejection extends Rejection {
	readonly denial: Denial;

	constructor(requested: string, team: string, denial: Denial) {
		super('model_not_allowed', {
			param: 'model',
			message: `Team \`${team}\` may not use model ${JSON.stringify(requested)}: ${reasons[denial.list]} (\`${denial.path}\`). Use a model that \`GET /v1/models\` lists, or ask an administrator to change the list`,
		});
		this.denial = denial;
	}
}

const reasons: Readonly<Record<AllowListName, string>> = {
	'models.deny': 'a list denies it',
	'models.allow': 'a list does not allow it',
	providers: 'a list does not allow its provider',
	'require.region': 'its provider is not in the required region',
	'require.retention': 'its provider does not have the required retention',
};

/** Tier of a team whose own tier is no longer configured. */
const fallbackTier = 'sandbox';

interface Compiled extends ListInForce {
	readonly name: AllowListName;
	allows(target: JudgedTarget): boolean;
}

/** Compiles lists once for each version of a team; teams without lists of their own share those of their tier. */
export class AllowListResolver {
	readonly #tiers: ReadonlyMap<string, CompiledAllowLists | undefined>;
	readonly #ofTiers: ReadonlyMap<string, AllowLists>;
	readonly #ofTeams = new WeakMap<Team, { readonly compiled: CompiledAllowLists | undefined }>();
	readonly #providers: readonly RoutedProvider[];

	constructor(tiers: Readonly<Record<string, { readonly allowLists?: AllowLists }>>, providers: readonly RoutedProvider[]) {
		this.#providers = providers;
		this.#ofTiers = new Map(Object.entries(tiers).map(([name, { allowLists = {} }]) => [name, allowLists]));
		this.#tiers = new Map([...this.#ofTiers].map(([name, lists]) => [name, compile([{ owner: `tiers.${name}`, lists }], providers)]));
	}

	/** @returns undefined if the team may use every target. */
	of(team: Team): CompiledAllowLists | undefined {
		const tier = this.#tiers.has(team.tier) ? team.tier : fallbackTier;
		if (team.allowLists === undefined) return this.#tiers.get(tier);
		let known = this.#ofTeams.get(team);
		if (known === undefined) {
			const owners = [
				{ owner: `teams.${team.id}`, lists: team.allowLists },
				{ owner: `tiers.${tier}`, lists: this.#ofTiers.get(tier) ?? {} },
			];
			known = { compiled: compile(owners, this.#providers) };
			this.#ofTeams.set(team, known);
		}
		return known.compiled;
	}
}

interface OwnedLists {
	readonly owner: string;
	readonly lists: AllowLists;
}

/** @param owners those before replace lists of the same name of those after. */
function compile(owners: readonly OwnedLists[], providers: readonly RoutedProvider[]): CompiledAllowLists | undefined {
	const lists: Compiled[] = [];
	const add = (name: AllowListName, read: (lists: AllowLists) => Pick<ListInForce, 'values' | 'mode'> | undefined): void => {
		for (const { owner, lists: given } of owners) {
			const found = read(given);
			if (found === undefined) continue;
			lists.push({ name, path: `${owner}.${name}`, ...found, allows: compileList(name, found.values, providers) });
			return;
		}
	};
	add('models.deny', ({ models }) => inMode(models?.deny, models?.mode));
	add('models.allow', ({ models }) => inMode(models?.allow, models?.mode));
	add('providers', (given) => inMode(given.providers?.allow, given.providers?.mode));
	for (const fact of ['region', 'retention'] as const) {
		add(`require.${fact}`, ({ require }) => inMode(require?.[fact] === undefined ? undefined : [require[fact]], require?.mode));
	}
	const inForce = lists.filter(({ name, values }) => name !== 'models.deny' || values.length > 0);
	return inForce.length === 0 ? undefined : { lists: inForce, judge: (target) => judge(target, inForce) };
}

function inMode(values: readonly string[] | undefined, mode: PolicyMode = 'enforce'): Pick<ListInForce, 'values' | 'mode'> | undefined {
	return values && { values, mode };
}

function judge(target: JudgedTarget, lists: readonly Compiled[]): Judgement {
	let monitored: Denial | undefined;
	for (const { name, path, mode, allows } of lists) {
		if (allows(target)) continue;
		const denial: Denial = { list: name, path, mode };
		if (mode === 'enforce') return { enforced: denial, monitored };
		monitored ??= denial;
	}
	return { enforced: undefined, monitored };
}

function compileList(name: AllowListName, values: readonly string[], providers: readonly RoutedProvider[]): Compiled['allows'] {
	if (name === 'models.deny') return compileDeny(values, providers);
	if (name === 'models.allow') return compileAllow(values, providers);
	if (name === 'providers') {
		const aliases = vendorAliases(providers);
		const allowed = new Set(values.map((value) => aliases.get(value) ?? value));
		return ({ provider }) => allowed.has(provider);
	}
	const fact = name === 'require.region' ? 'region' : 'retention';
	const allowed = new Set(providers.filter(({ facts }) => values.includes(facts?.[fact] ?? '')).map((provider) => provider.name));
	return ({ provider }) => allowed.has(provider);
}

/**
 * Denies by every name that can stand for the model: in any case, after any slash, and by the vendor's name of a deployment. A spelling that
 * the list's author did not think of must not lead around it.
 */
function compileDeny(patterns: readonly string[], providers: readonly RoutedProvider[]): Compiled['allows'] {
	const matchers = [...deniedNames(patterns, providers)].map(compileModelPattern);
	const isDenied = (name: string): boolean => {
		const lower = name.toLowerCase();
		return matchers.some((matches) => matches(lower));
	};
	return ({ requested, provider, model, knownAs }) => {
		return !isDenied(requested) && !isDenied(`${provider}/${model}`) && (knownAs === undefined || !isDenied(`${provider}/${knownAs}`));
	};
}

function deniedNames(patterns: readonly string[], providers: readonly RoutedProvider[]): ReadonlySet<string> {
	const spelled = patterns.flatMap((pattern) => [pattern.toLowerCase(), withProvider(pattern, providers).toLowerCase()]);
	return new Set(spelled.flatMap((pattern) => [pattern, `*/${pattern}`]));
}

/** Allows a target if one pattern matches the client's name for it, and the same or another one matches the target. */
function compileAllow(patterns: readonly string[], providers: readonly RoutedProvider[]): Compiled['allows'] {
	const ofTargets = patterns.map((given) => {
		const { pattern, isQualified } = targetPattern(given, providers);
		return { matches: compileModelPattern(pattern), isQualified };
	});
	const ofNames = patterns.map(compileModelPattern);
	const isAllowedTarget = (provider: string, model: string): boolean =>
		ofTargets.some(({ matches, isQualified }) => matches(isQualified ? `${provider}/${model}` : model));
	return ({ requested, isOwnName, provider, model }) => {
		return isAllowedTarget(provider, model) && (isOwnName || ofNames.some((matches) => matches(requested)));
	};
}

interface TargetPattern {
	readonly pattern: string;
	/** True if the pattern is compared with `provider/model`, false for the model's name at its provider. */
	readonly isQualified: boolean;
}

/**
 * A pattern whose part before the first slash can be a provider is only compared with `provider/model`: a model at another provider can be
 * named like that.
 */
function targetPattern(pattern: string, providers: readonly RoutedProvider[]): TargetPattern {
	const qualified = withProvider(pattern, providers);
	const slash = qualified.indexOf('/');
	const head = qualified.slice(0, Math.max(slash, 0));
	return { pattern: qualified, isQualified: head.includes('*') || providers.some(({ name }) => name === head) };
}

/** Replaces a vendor's name before the first slash by that of its provider. */
function withProvider(pattern: string, providers: readonly RoutedProvider[]): string {
	const slash = pattern.indexOf('/');
	const provider = slash === -1 ? undefined : vendorAliases(providers).get(pattern.slice(0, slash));
	return provider === undefined ? pattern : `${provider}${pattern.slice(slash)}`;
}

/** A finding about valid lists that name unknown providers or allow nothing. */
export interface AllowListProblem {
	/** Such as `['models', 'allow']`. */
	readonly path: readonly (string | number)[];
	readonly message: string;
}

/** Stands for a text that no pattern contains. */
const opaque = '\u0001';

/**
 * Finds unknown providers, and lists that allow nothing.
 * @param below lists of the tier, which apply where `lists` has none.
 */
export function findAllowListProblems(
	lists: AllowLists,
	providers: readonly RoutedProvider[],
	below: AllowLists = {},
): readonly AllowListProblem[] {
	const problems: AllowListProblem[] = [];
	const names = providers.map(({ name }) => name);
	const aliases = vendorAliases(providers);
	for (const [index, name] of (lists.providers?.allow ?? []).entries()) {
		if (names.includes(aliases.get(name) ?? name)) continue;
		problems.push({ path: ['providers', index], message: `is \`${name}\`, an unknown provider. Known providers: ${names.join(', ')}` });
	}
	for (const fact of ['region', 'retention'] as const) {
		const wanted = lists.require?.[fact];
		if (wanted === undefined || providers.some(({ facts }) => facts?.[fact] === wanted)) continue;
		problems.push({ path: ['require', fact], message: `is \`${wanted}\`, which no provider has. ${factsText(fact, providers)}` });
	}
	if (lists.models?.allow?.length === 0) problems.push({ path: ['models', 'allow'], message: 'must have at least one pattern' });
	if (lists.providers?.allow.length === 0) problems.push({ path: ['providers'], message: 'must have at least one provider' });
	return problems.length > 0 ? problems : findEmptyCombination(lists, providers, below);
}

function findEmptyCombination(lists: AllowLists, providers: readonly RoutedProvider[], below: AllowLists): readonly AllowListProblem[] {
	const deny = lists.models?.deny ?? below.models?.deny ?? [];
	const allow = lists.models?.allow ?? below.models?.allow;
	const given = compile(
		[
			{ owner: '', lists: { ...lists, models: {} } },
			{ owner: '', lists: { ...below, models: {} } },
		],
		providers,
	);
	const isDenied = compileDeny(deny, providers);
	const named = (provider: string, model: string): JudgedTarget => ({
		requested: opaque,
		isOwnName: true,
		provider,
		model,
		knownAs: undefined,
	});
	const usable = providers.filter(({ name }) => {
		const { enforced, monitored } = given?.judge(named(name, opaque)) ?? {};
		return enforced === undefined && monitored === undefined;
	});
	if (usable.length === 0) {
		const path = [lists.require === undefined ? 'providers' : 'require'];
		return [{ path, message: 'excludes every provider: none is in `providers` and meets `require`' }];
	}
	const served = usable.filter(({ name }) => isDenied(named(name, opaque)));
	if (served.length === 0) return [{ path: ['models', 'deny'], message: 'denies every model of every provider' }];
	if (allow === undefined) return [];
	const isReachable = (pattern: string): boolean => {
		const { pattern: qualified, isQualified } = targetPattern(pattern, providers);
		const head = qualified.slice(0, qualified.indexOf('/'));
		return served.some(({ name }) => {
			if (isQualified && !matchesModel(head, name)) return false;
			const model = (isQualified ? qualified.slice(head.length + 1) : qualified).replaceAll('*', opaque);
			return isDenied(named(name, model));
		});
	};
	if (allow.some(isReachable)) return [];
	const path = ['models', lists.models?.deny === undefined ? 'allow' : 'deny'];
	return [{ path, message: 'leaves no model: the other lists exclude every pattern of `models.allow`' }];
}

function factsText(fact: keyof ProviderFacts, providers: readonly RoutedProvider[]): string {
	const known = [...new Set(providers.flatMap(({ facts }) => facts?.[fact] ?? []))];
	return known.length === 0 ? `Set \`providers.NAME.${fact}\` first` : `Known: ${known.join(', ')}`;
}
