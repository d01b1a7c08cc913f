import { describe, expect, it } from 'vitest';
import { Rejection } from '../../core/rejection.ts';
import type { RoutingRule } from '../../core/routing-rule.ts';
import { Routing } from './routing.ts';
import type { RoutingInput, RoutingSettings } from './routing-settings.ts';

const providers = [
	{ name: 'provider_a', kind: 'anthropic' },
	{ name: 'provider_b', kind: 'openai' },
	{ name: 'provider_c', kind: 'gemini' },
	{ name: 'provider_d', kind: 'azure-openai', models: ['our-gpt', 'gpt-4o-eu'] },
	{ name: 'local', kind: 'openai', models: ['llama', 'our-gpt'] },
];

const settings: RoutingSettings = {
	providerHeader: 'ignore',
	aliases: { fast: 'provider_b/gpt-5-mini', smart: 'provider_a/claude-x', slashed: 'local/meta/llama' },
	defaults: { chat: 'provider_b', messages: 'provider_a' },
};

const call: RoutingInput = { format: 'chat', model: 'm', team: 'red', stickyKey: '', rules: [], providerHeader: undefined };

function resolve(facts: Partial<RoutingInput>, more: Partial<RoutingSettings> = {}): string {
	try {
		const [target] = new Routing({ ...settings, ...more }, providers).resolveTargets({
			...call,
			...facts,
		});
		return `${target.provider} ${target.model}`;
	} catch (cause) {
		if (cause instanceof Rejection) return cause.code;
		throw cause;
	}
}

describe('resolveTargets', () => {
	it.each([
		['claude-opus-5', 'provider_a claude-opus-5'],
		['gpt-5', 'provider_b gpt-5'],
		['o1', 'provider_b o1'],
		['o4-mini', 'provider_b o4-mini'],
		['chatgpt-4o-latest', 'provider_b chatgpt-4o-latest'],
		['gemini-3-pro', 'provider_c gemini-3-pro'],
		['our-gpt', 'provider_d our-gpt'],
		['gpt-4o-eu', 'provider_d gpt-4o-eu'],
		['llama', 'local llama'],
		['fast', 'provider_b gpt-5-mini'],
		['smart', 'provider_a claude-x'],
		['slashed', 'local meta/llama'],
		['provider_a/anything', 'provider_a anything'],
		['local/meta/llama-3', 'local meta/llama-3'],
		['provider_c/gpt-5', 'provider_c gpt-5'],
		['provider_a/fast', 'provider_a fast'],
		['meta/llama-3', 'provider_b meta/llama-3'],
		['provider_a/', 'provider_b provider_a/'],
		['/x', 'provider_b /x'],
		['opus', 'provider_b opus'],
		['oracle', 'provider_b oracle'],
		['claude', 'provider_b claude'],
		['provider_ax', 'provider_b provider_ax'],
		['anthropicx', 'provider_b anthropicx'],
		['__proto__', 'provider_b __proto__'],
		['constructor', 'provider_b constructor'],
		['toString/x', 'provider_b toString/x'],
		['anthropic/anything', 'provider_a anything'],
		['openai/gpt-5', 'provider_b gpt-5'],
		['gemini/x/y', 'provider_c x/y'],
		['azure/our-gpt', 'provider_d our-gpt'],
		['Azure/x', 'provider_b Azure/x'],
		['openai/', 'provider_b openai/'],
		['google/gemini-x', 'provider_c gemini-x'],
		['azure-openai/anything', 'provider_d anything'],
	])('sends %s to %s', (model, expected) => {
		expect(resolve({ model })).toBe(expected);
	});

	it('falls back to the default of the format, and says so when there is none', () => {
		expect(resolve({ format: 'messages', model: 'unknown' })).toBe('provider_a unknown');
		expect(resolve({ model: 'unknown' }, { defaults: {} })).toBe('provider_unknown');
		expect(resolve({ model: 'unknown' }, { defaults: { chat: 'missing' } })).toBe('provider_unknown');
	});

	it.each([
		['ignore', undefined, 'gpt-5', 'provider_b gpt-5'],
		['ignore', 'provider_a', 'gpt-5', 'provider_b gpt-5'],
		['ignore', 'nonsense', 'gpt-5', 'provider_b gpt-5'],
		['optional', undefined, 'gpt-5', 'provider_b gpt-5'],
		['optional', '', 'gpt-5', 'provider_b gpt-5'],
		['optional', 'provider_a', 'gpt-5', 'provider_a gpt-5'],
		['optional', ' provider_a ', 'gpt-5', 'provider_a gpt-5'],
		['optional', 'nonsense', 'gpt-5', 'provider_unknown'],
		['optional', 'PROVIDER_A', 'gpt-5', 'provider_unknown'],
		['optional', 'provider_a, provider_b', 'gpt-5', 'provider_unknown'],
		['required', undefined, 'gpt-5', 'provider_not_set'],
		['required', '', 'provider_a/x', 'provider_not_set'],
		['required', 'provider_b', 'gpt-5', 'provider_b gpt-5'],
		['required', 'nonsense', 'gpt-5', 'provider_unknown'],
		['required', 'constructor', 'gpt-5', 'provider_unknown'],
		['required', 'provider_a', 'provider_a/claude-x', 'provider_a claude-x'],
		['required', 'provider_a', 'provider_b/gpt-5', 'provider_a provider_b/gpt-5'],
		['required', 'provider_b', 'fast', 'provider_b gpt-5-mini'],
		['required', 'provider_a', 'fast', 'provider_a fast'],
		['required', 'local', 'claude-x', 'local claude-x'],
		['optional', 'anthropic', 'gpt-5', 'provider_a gpt-5'],
		['required', ' azure ', 'gpt-5', 'provider_d gpt-5'],
		['required', 'openai', 'openai/gpt-5', 'provider_b gpt-5'],
		['required', 'openai', 'provider_b/gpt-5', 'provider_b gpt-5'],
		['required', 'provider_b', 'openai/gpt-5', 'provider_b gpt-5'],
		['required', 'local', 'openai/gpt-oss', 'local openai/gpt-oss'],
		['required', 'openai', 'fast', 'provider_b gpt-5-mini'],
	] as const)('header mode %s, header %j, model %s: %s', (providerHeader, header, model, expected) => {
		expect(resolve({ model, providerHeader: header }, { providerHeader })).toBe(expected);
	});

	it('lists the known providers when a request names an unknown one', () => {
		const routing = new Routing({ ...settings, providerHeader: 'optional' }, providers);
		expect(() => routing.resolveTargets({ ...call, providerHeader: 'x' })).toThrow('provider_a, provider_b, provider_c, provider_d, local');
	});

	it('follows an operator’s rule before names, but not before the header or a prefix', () => {
		const rule = {
			id: 'r',
			name: 'r',
			priority: 1,
			isEnabled: true,
			mode: 'enforce' as const,
			match: { model: 'fast', team: 'red', format: null },
			strategy: 'priority' as const,
			targets: [{ provider: 'provider_c', model: 'gemini-x', weight: 1 }],
			createdAtMs: 0,
			updatedAtMs: 0,
		};
		expect(resolve({ model: 'fast', rules: [rule] })).toBe('provider_c gemini-x');
		expect(resolve({ model: 'fast', team: 'blue', rules: [rule] })).toBe('provider_b gpt-5-mini');
		expect(resolve({ model: 'fast', rules: [rule], providerHeader: 'provider_b' }, { providerHeader: 'optional' })).toBe(
			'provider_b gpt-5-mini',
		);
		const ofAll = { ...rule, match: { model: null, team: null, format: null } };
		expect(resolve({ model: 'provider_b/x', rules: [ofAll] })).toBe('provider_b x');
		expect(resolve({ model: 'vendor/x', rules: [ofAll] })).toBe('provider_c gemini-x');
	});

	it('takes the kind of a built-in provider, as the banner shows it, for a name of the provider', () => {
		for (const { name, kind } of providers.slice(0, 4)) expect(resolve({ model: `${kind}/some-model` })).toBe(`${name} some-model`);
	});

	it('lets a name that an operator gave to a model go before a vendor’s name in it', () => {
		const named = { aliases: { 'openai/fast': 'provider_a/claude-x' } };
		expect(resolve({ model: 'openai/fast' }, named)).toBe('provider_a claude-x');
		const rule = {
			id: 'r',
			name: 'r',
			priority: 1,
			isEnabled: true,
			mode: 'enforce' as const,
			match: { model: 'openai/gpt-oss*', team: null, format: null },
			strategy: 'priority' as const,
			targets: [{ provider: 'local', model: null, weight: 1 }],
			createdAtMs: 0,
			updatedAtMs: 0,
		};
		expect(resolve({ model: 'openai/gpt-oss-20b', rules: [rule] })).toBe('local openai/gpt-oss-20b');
		expect(resolve({ model: 'openai/gpt-5', rules: [rule] })).toBe('provider_b gpt-5');
		const ofAll = { ...rule, match: { model: '*', team: null, format: null } };
		expect(resolve({ model: 'openai/gpt-5', rules: [ofAll] }), 'as of the prefix `provider_b/`').toBe('provider_b gpt-5');
		const routing = new Routing({ ...settings, aliases: {} }, [...providers, { name: 'own', kind: 'openai', models: ['openai/gpt-oss'] }]);
		expect(routing.resolveTargets({ ...call, model: 'openai/gpt-oss' })[0]).toEqual({ provider: 'own', model: 'openai/gpt-oss' });
	});

	it.each([
		['claude-x', 'provider_a', 'anthropic'],
		['gpt-5', 'provider_b', 'openai'],
		['gemini-3', 'provider_c', 'gemini'],
	])('serves %s by %s, else by the first of kind %s', (model, name, kind) => {
		const own = { name: 'own', kind };
		const providerOf = (more: (typeof providers)[number][]) =>
			new Routing({ ...settings, aliases: {}, defaults: { chat: 'other' } }, [
				{ name: 'other', kind: 'openai-compatible' },
				own,
				...more,
			]).resolveTargets({ ...call, model })[0].provider;
		expect([providerOf([{ name, kind }]), providerOf([])]).toEqual([name, 'own']);
	});

	it('serves a family by a provider of its kind when none has the customary name', () => {
		const routing = new Routing({ ...settings, aliases: {}, defaults: { chat: 'fallback' } }, [
			{ name: 'fallback', kind: 'openai' },
			{ name: 'vendor', kind: 'anthropic' },
		]);
		const providerOf = (model: string) => routing.resolveTargets({ ...call, model })[0].provider;
		expect([providerOf('claude-x'), providerOf('gpt-5'), providerOf('gemini-3')]).toEqual(['vendor', 'fallback', 'fallback']);
	});

	it.each(['nowhere/gpt', 'provider_b', 'provider_b/', '/gpt', ''])('is not built with an alias to %j', (target) => {
		expect(() => new Routing({ ...settings, aliases: { bad: target } }, providers)).toThrow('routing.aliases.bad');
	});

	it('lists every name it knows once, with the provider that serves it', () => {
		const routing = new Routing({ ...settings, aliases: { llama: 'provider_b/gpt-5', fast: 'provider_b/gpt-5-mini' } }, providers);
		const configured = ['our-gpt provider_d', 'gpt-4o-eu provider_d', 'llama provider_b', 'fast provider_b'];
		const namesOf = (team: string, rules: RoutingInput['rules'], known: Parameters<Routing['modelsOf']>[2] = []) =>
			routing.modelsOf(team, rules, known).map(({ id, target }) => `${id} ${target.provider}`);
		expect(namesOf('red', [])).toEqual(configured);
		const target = { provider: 'provider_c', model: 'gemini-x', weight: 1 };
		const rules = [
			{ model: 'fast', team: 'red' },
			{ model: 'wise', team: 'red' },
			{ model: 'any*', team: null },
			{ model: null, team: 'blue' },
			{ model: 'lost', team: null, provider: 'unknown' },
		].map(({ model, team, provider = target.provider }, index) => ({
			id: String(index),
			name: '',
			priority: index,
			isEnabled: true,
			mode: 'enforce' as const,
			match: { model, team, format: null },
			strategy: 'priority' as const,
			targets: [{ ...target, provider }],
			createdAtMs: 0,
			updatedAtMs: 0,
		}));
		expect(namesOf('red', rules)).toEqual([...configured.slice(0, 3), 'fast provider_c', 'wise provider_c']);
		expect(namesOf('green', rules)).toEqual(configured);
		const known = [
			{ provider: 'provider_b', model: 'gpt-5' },
			{ provider: 'provider_b', model: 'anything' },
			{ provider: 'provider_d', model: 'gpt-5' },
			{ provider: 'provider_b', model: 'fast' },
			{ provider: 'unknown', model: 'x' },
		];
		const listed = ['gpt-5 provider_b', 'provider_b/anything provider_b', 'provider_d/gpt-5 provider_d', 'provider_b/fast provider_b'];
		expect(namesOf('green', [], known)).toEqual([...configured, ...listed]);
		expect(namesOf('green', rules, known)).toContain('anything provider_c');
	});
});

const rule = {
	id: 'r',
	name: 'r',
	priority: 1,
	isEnabled: true,
	mode: 'enforce' as const,
	match: { model: 'ruled', team: 'red', format: null },
	strategy: 'priority' as const,
	targets: [{ provider: 'provider_c', model: 'gemini-x', weight: 1 }],
	createdAtMs: 0,
	updatedAtMs: 0,
};
const lost = { ...rule, id: 'lost', targets: [{ provider: 'unknown', model: null, weight: 1 }] };

describe('explain', () => {
	it.each([
		['gpt-5', ' provider_a ', 'provider_header', null],
		['provider_b/x', undefined, 'prefix', null],
		['ruled', undefined, 'rule', 'r'],
		['fast', undefined, 'alias', null],
		['llama', undefined, 'configured_model', null],
		['gpt-5', undefined, 'family', null],
		['unknown', undefined, 'default', null],
	])('of %s with the header %s is %s', (model, providerHeader, by, id) => {
		const routing = new Routing({ ...settings, providerHeader: 'optional' }, providers);
		expect(routing.explain({ ...call, model, providerHeader, rules: [lost, rule] })).toEqual({ by, rule: id, excluded: [] });
	});
});

describe('monitoredRoute', () => {
	const tried = { ...rule, id: 'tried', mode: 'monitor' as const, targets: [{ provider: 'local', model: null, weight: 1 }] };
	const routeOf = (model: string, rules: readonly RoutingRule[], providerHeader?: string): string | undefined => {
		const routing = new Routing({ ...settings, providerHeader: 'optional' }, providers);
		const found = routing.monitoredRoute({ ...call, model, providerHeader, rules: [] }, rules);
		return found && `${found.rule} ${found.target.provider}/${found.target.model}`;
	};

	it('is the first target of a monitored rule that would decide', () => {
		expect(routeOf('ruled', [tried, rule])).toBe('tried local/ruled');
		expect(routeOf('ruled', [{ ...lost, mode: 'monitor' }, tried])).toBe('tried local/ruled');
	});

	it('is undefined where an enforced rule, a header, a prefix or no rule decides', () => {
		expect(routeOf('ruled', [rule, tried])).toBeUndefined();
		expect(routeOf('ruled', [tried], 'provider_b')).toBeUndefined();
		expect(routeOf('provider_b/ruled', [{ ...tried, match: { model: null, team: null, format: null } }])).toBeUndefined();
		expect(routeOf('other', [tried])).toBeUndefined();
	});
});

describe('findTarget', () => {
	const find = (model: string, more: Partial<RoutingSettings> = {}): string => {
		const found = new Routing({ ...settings, providerHeader: 'required', ...more }, providers).findTarget({
			...call,
			model,
			rules: [rule],
		});
		return found === undefined ? 'nowhere' : `${found.target.provider} ${found.target.model} ${found.isDefault}`;
	};

	it.each([
		['local/x', 'local x false'],
		['ruled', 'provider_c gemini-x false'],
		['fast', 'provider_b gpt-5-mini false'],
		['gpt-5', 'provider_b gpt-5 false'],
		['unknown', 'provider_b unknown true'],
	])('of %s is %s', (model, expected) => {
		expect(find(model)).toBe(expected);
	});

	it('leads nowhere without a default that is configured', () => {
		expect([find('unknown', { defaults: {} }), find('unknown', { defaults: { chat: 'missing' } })]).toEqual(['nowhere', 'nowhere']);
	});
});
