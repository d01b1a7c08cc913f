import { expect, test } from 'vitest';
import { type BudgetedRequest, counterName, describeScope, hasOwnName, isInScope, scopeOfCounter } from './budget-scope.ts';

const everything = { client: null, model: null, provider: null, attribute: null };
const request: BudgetedRequest = {
	clientId: 'bot',
	provider: 'provider_b',
	model: 'GPT-4o-2026',
	listed: 'gpt-4o',
	attributes: { project: 'a=b' },
};

test('the name of a counter says what counts', () => {
	for (const [scope, name] of [
		[everything, 'all'],
		[{ ...everything, model: 'gpt-*' }, 'model:gpt-*'],
		[{ ...everything, client: 'a&b=c/d' }, 'scope:client=a%26b%3Dc%2Fd'],
		[
			{ client: 'bot', model: 'm', provider: 'p', attribute: 'project=a=b' },
			'scope:client=bot&model=m&provider=p&attribute=project%3Da%3Db',
		],
	] as const) {
		expect(counterName(scope)).toBe(name);
		expect(scopeOfCounter(name)).toEqual(scope);
	}
	expect([scopeOfCounter('other'), scopeOfCounter('scope:moon=1')]).toEqual([undefined, undefined]);
});

test.each([
	['everything', {}, true],
	['its client', { client: 'bot' }, true],
	['another client', { client: 'other' }, false],
	['its provider', { provider: 'provider_b' }, true],
	['another provider', { provider: 'provider_a' }, false],
	['its model in another spelling', { model: 'gpt-4O-2026' }, true],
	['its name in the price list', { model: 'gpt-4o' }, true],
	['a pattern of its name', { model: 'gpt-*-2026' }, true],
	['a pattern with its provider', { model: 'provider_b/*' }, true],
	['a pattern of other names', { model: 'claude-*' }, false],
	['its attribute', { attribute: 'project=a=b' }, true],
	['another value of its attribute', { attribute: 'project=a' }, false],
	['another attribute', { attribute: 'user=a=b' }, false],
	['its client and its model', { client: 'bot', model: 'gpt-*' }, true],
	['its client and another provider', { client: 'bot', provider: 'provider_a' }, false],
])('a request counts toward %s: %o', (_title, scope, expected) => {
	expect(isInScope({ ...everything, ...scope }, request, false)).toBe(expected);
});

test('a budget of the exact name takes the request from that of the listed name', () => {
	expect(isInScope({ ...everything, model: 'gpt-4o' }, request, true)).toBe(false);
	expect(isInScope({ ...everything, model: 'gpt-4o*' }, request, true)).toBe(true);
	expect(hasOwnName([{ ...everything, model: 'gpt-4O-2026' }], request.model)).toBe(true);
	expect(hasOwnName([{ ...everything, model: 'gpt-4o' }, everything], request.model)).toBe(false);
});

test('a scope is described by its parts', () => {
	expect(describeScope(everything)).toBe('');
	expect(describeScope({ client: 'bot', model: 'gpt-*', provider: 'p', attribute: 'a=b' })).toBe(
		' of the model gpt-* and the client bot and the provider p and the attribute a=b',
	);
});
