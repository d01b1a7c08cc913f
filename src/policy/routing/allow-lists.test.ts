import { describe, expect, it } from 'vitest';
import type { AllowLists } from '../../core/allow-lists.ts';
import type { Team } from '../../core/team.ts';
import { AllowListResolver, findAllowListProblems, type JudgedTarget } from './allow-lists.ts';
import type { RoutedProvider } from './routing-settings.ts';

const providers: readonly RoutedProvider[] = [
	{ name: 'provider_a', kind: 'anthropic', facts: { region: 'us', retention: '30d' } },
	{ name: 'provider_b', kind: 'openai', facts: { region: 'eu' } },
	{ name: 'local', kind: 'openai-compatible', facts: { region: 'eu', retention: 'none' } },
];

const teamWith = (allowLists?: AllowLists, tier = 'standard'): Team => ({
	id: 'red',
	name: 'red',
	tier,
	clientIds: [],
	...(allowLists !== undefined && { allowLists }),
});

/** @returns the path of the list that decides, with its mode unless it is enforced. */
function decide(target: Partial<JudgedTarget>, ofTeam?: AllowLists, ofTier?: AllowLists): string {
	const tiers = { sandbox: {}, standard: ofTier === undefined ? {} : { allowLists: ofTier } };
	const lists = new AllowListResolver(tiers, providers).of(teamWith(ofTeam));
	if (lists === undefined) return 'no lists';
	const judged = { requested: 'gpt-4o', isOwnName: true, provider: 'provider_b', model: 'gpt-4o', knownAs: undefined, ...target };
	const { enforced, monitored } = lists.judge(judged);
	if (enforced !== undefined) return enforced.path;
	return monitored === undefined ? 'allowed' : `${monitored.path} ${monitored.mode}`;
}

const allow = (...patterns: string[]): AllowLists => ({ models: { allow: patterns } });
const deny = (...patterns: string[]): AllowLists => ({ models: { deny: patterns } });
const notAllowed = 'teams.red.models.allow';
const denied = 'teams.red.models.deny';

describe('allowed models', () => {
	it.each<[string, AllowLists, Partial<JudgedTarget>, string]>([
		['the name', allow('gpt-4o'), {}, 'allowed'],
		['a name that only begins like the pattern', allow('gpt-4'), {}, notAllowed],
		['a name in another case', allow('GPT-4o'), {}, notAllowed],
		['provider and name', allow('provider_b/gpt-4o'), {}, 'allowed'],
		['a vendor’s name for the provider', allow('openai/*'), {}, 'allowed'],
		['the same at another provider', allow('provider_a/*'), {}, notAllowed],
		['a wildcard for the provider', allow('*/gpt-*'), {}, 'allowed'],
		['an alias whose target is not allowed', allow('fast'), { requested: 'fast', isOwnName: false }, notAllowed],
		['an alias that is not allowed', allow('gpt-4o'), { requested: 'fast', isOwnName: false }, notAllowed],
		['an alias and its target', allow('fast', 'gpt-4o'), { requested: 'fast', isOwnName: false }, 'allowed'],
		['a model that is named like another provider’s', allow('provider_b/*'), { provider: 'local', model: 'provider_b/gpt-4o' }, notAllowed],
		['a model with a slash in its name', allow('meta/*'), { provider: 'local', model: 'meta/llama', requested: 'meta/llama' }, 'allowed'],
	])('%s', (_name, lists, target, expected) => {
		expect(decide(target, lists)).toBe(expected);
	});
});

describe('denied models', () => {
	it.each<[string, AllowLists, Partial<JudgedTarget>, string]>([
		['the name', deny('gpt-4o'), {}, denied],
		['another name', deny('gpt-4'), {}, 'allowed'],
		['the name in another case', deny('GPT-4o'), {}, denied],
		['the name after a slash', deny('gpt-4o'), { provider: 'local', model: 'vendor/gpt-4o' }, denied],
		['a deployment by the vendor’s name of its model', deny('gpt-4o'), { model: 'ours', requested: 'ours', knownAs: 'gpt-4o' }, denied],
		['a provider', deny('provider_b/*'), {}, denied],
		['a vendor', deny('openai/*'), {}, denied],
		['an alias by its name', deny('fast'), { requested: 'fast', isOwnName: false }, denied],
		['an alias by its target', deny('gpt-4o'), { requested: 'fast', isOwnName: false }, denied],
		['what is allowed too', { models: { allow: ['*'], deny: ['gpt-*'] } }, {}, denied],
		['nothing', deny(), {}, 'no lists'],
	])('%s', (_name, lists, target, expected) => {
		expect(decide(target, lists)).toBe(expected);
	});
});

describe('providers and their facts', () => {
	it.each<[string, AllowLists, string]>([
		['a listed provider', { providers: { allow: ['provider_b'] } }, 'allowed'],
		['a vendor’s name', { providers: { allow: ['openai'] } }, 'allowed'],
		['another provider', { providers: { allow: ['local'] } }, 'teams.red.providers'],
		['the region', { require: { region: 'eu' } }, 'allowed'],
		['another region', { require: { region: 'us' } }, 'teams.red.require.region'],
		['an unknown fact', { require: { retention: 'none' } }, 'teams.red.require.retention'],
	])('%s', (_name, lists, expected) => {
		expect(decide({}, lists)).toBe(expected);
	});
});

describe('lists of a tier', () => {
	it('apply until the team has the same list', () => {
		const ofTier: AllowLists = { models: { allow: ['gpt-*'], deny: ['gpt-4o'] }, providers: { allow: ['provider_b'] } };
		expect(decide({}, undefined, ofTier)).toBe('tiers.standard.models.deny');
		expect(decide({}, { models: { deny: [] } }, ofTier)).toBe('allowed');
		expect(decide({}, allow('claude-*'), ofTier)).toBe('tiers.standard.models.deny');
		expect(decide({}, { models: { allow: ['claude-*'], deny: ['x'] } }, ofTier)).toBe(notAllowed);
		expect(decide({ provider: 'local' }, { models: { deny: [] } }, ofTier)).toBe('tiers.standard.providers');
	});

	it('are those of sandbox for a team whose tier is not configured any more', () => {
		const resolver = new AllowListResolver({ sandbox: { allowLists: allow('a') } }, providers);
		expect(resolver.of(teamWith(undefined, 'gone'))?.lists).toMatchObject([{ path: 'tiers.sandbox.models.allow' }]);
	});

	it('are compiled once for each version of a team', () => {
		const resolver = new AllowListResolver({ sandbox: { allowLists: allow('a') }, standard: {} }, providers);
		const team = teamWith(allow('b'));
		expect(resolver.of(team)).toBe(resolver.of(team));
		expect(resolver.of({ ...team })).not.toBe(resolver.of(team));
		expect(resolver.of(teamWith())).toBeUndefined();
	});
});

describe('a monitored list', () => {
	const monitored: AllowLists = { models: { deny: ['gpt-*'], mode: 'monitor' } };

	it('decides and is not enforced', () => {
		expect(decide({}, monitored)).toBe('teams.red.models.deny monitor');
	});

	it('does not hide an enforced one', () => {
		expect(decide({}, { ...monitored, providers: { allow: ['local'] } })).toBe('teams.red.providers');
	});
});

describe('problems of lists', () => {
	const known = 'Known providers: provider_a, provider_b, local';

	it.each<[string, AllowLists, AllowLists, string, string]>([
		[
			'an unknown provider',
			{ providers: { allow: ['local', 'nobody'] } },
			{},
			'providers.1',
			`is \`nobody\`, an unknown provider. ${known}`,
		],
		['no provider', { providers: { allow: [] } }, {}, 'providers', 'must have at least one provider'],
		['no pattern', allow(), {}, 'models.allow', 'must have at least one pattern'],
		['an unknown region', { require: { region: 'mars' } }, {}, 'require.region', 'is `mars`, which no provider has. Known: us, eu'],
		[
			'facts of no single provider',
			{ require: { region: 'us', retention: 'none' } },
			{},
			'require',
			'excludes every provider: none is in `providers` and meets `require`',
		],
		[
			'providers without the tier’s fact',
			{ providers: { allow: ['provider_a'] } },
			{ require: { region: 'eu' } },
			'providers',
			'excludes every provider: none is in `providers` and meets `require`',
		],
		['everything denied', deny('*'), {}, 'models.deny', 'denies every model of every provider'],
		['every provider denied', deny('provider_*', 'local/*'), {}, 'models.deny', 'denies every model of every provider'],
		[
			'every allowed pattern denied',
			{ models: { allow: ['gpt-4o', 'gpt-5*'], deny: ['gpt-*'] } },
			{},
			'models.deny',
			'leaves no model: the other lists exclude every pattern of `models.allow`',
		],
		[
			'allowed models of other providers',
			{ ...allow('provider_a/*'), providers: { allow: ['local'] } },
			{},
			'models.allow',
			'leaves no model: the other lists exclude every pattern of `models.allow`',
		],
	])('%s', (_name, lists, below, path, message) => {
		expect(findAllowListProblems(lists, providers, below).map((problem) => [problem.path.join('.'), problem.message])).toEqual([
			[path, message],
		]);
	});

	it.each<[string, AllowLists, AllowLists]>([
		['none', {}, {}],
		['a vendor', { providers: { allow: ['openai'] } }, {}],
		['an allowed pattern that is only partly denied', { models: { allow: ['gpt-*'], deny: ['gpt-4*'] } }, {}],
		['an own list instead of the tier’s', { models: { deny: [] } }, deny('gpt-4o')],
		['a region', { ...allow('*/gpt-4o'), require: { region: 'eu' } }, {}],
	])('are absent: %s', (_name, lists, below) => {
		expect(findAllowListProblems(lists, providers, below)).toEqual([]);
	});

	it('names the setting that is missing for a fact that no provider states', () => {
		const plain = providers.map(({ name, kind }) => ({ name, kind }));
		expect(findAllowListProblems({ require: { region: 'eu' } }, plain)).toEqual([
			{ path: ['require', 'region'], message: 'is `eu`, which no provider has. Set `providers.NAME.region` first' },
		]);
	});
});
