import { expect, it } from 'vitest';
import { providerNamed, vendorAliases } from './provider-names.ts';

const builtIn = [
	{ name: 'provider_a', kind: 'anthropic' },
	{ name: 'provider_b', kind: 'openai' },
	{ name: 'provider_c', kind: 'gemini' },
	{ name: 'provider_d', kind: 'azure-openai' },
];
const own = builtIn.map(({ kind }) => ({ name: `own-${kind}`, kind }));

it.each([
	['anthropic', 'anthropic', 'provider_a'],
	['openai', 'openai', 'provider_b'],
	['gemini', 'gemini', 'provider_c'],
	['google', 'gemini', 'provider_c'],
	['azure', 'azure-openai', 'provider_d'],
	['azure-openai', 'azure-openai', 'provider_d'],
])('%s stands for the built-in provider, else for the first of its kind', (alias, kind, provider) => {
	expect(providerNamed(alias, [...own, ...builtIn])).toBe(provider);
	expect(providerNamed(alias, [{ name: provider, kind: 'openai-compatible' }, ...own, { name: 'last', kind }])).toBe(`own-${kind}`);
	expect(providerNamed(alias, [])).toBe(alias);
});

it('the name of a provider is no alias', () => {
	const providers = [...builtIn, { name: 'openai', kind: 'openai-compatible' }];
	expect(providerNamed('openai', providers)).toBe('openai');
	expect(vendorAliases(providers).has('openai')).toBe(false);
	expect(providerNamed('provider_a', providers)).toBe('provider_a');
});
