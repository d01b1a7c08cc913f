/** Explanation and enforcement agree: each request of a generated corpus is explained, then sent. */
import { describe, expect, test } from 'vitest';
import { callerOf, GatewayBench, jsonResponse, settle, teamDirectory, testSettings } from '../../../test/support/gateway-bench.ts';
import { gambling, guardrailsWith, piiRules } from '../../../test/support/guarded-gateway.ts';
import { type BudgetPolicy, plainBudget } from '../../core/budget.ts';
import { allModels, counterName } from '../../core/budget-scope.ts';
import type { ClientDialectName } from '../../core/dialect-name.ts';
import { parseUsd } from '../../core/money.ts';
import type { RoutingRule } from '../../core/routing-rule.ts';
import type { Team } from '../../core/team.ts';
import { periodOf } from '../../policy/limits/utc-time.ts';
import { noReasoningEncryption } from '../../wire/conversation/reasoning-encryption.ts';
import { differencesOf } from '../../wire/json/difference.ts';
import { createExplainer, type Explanation, type RequestExplainer } from './explain-request.ts';
import type { GatewaySettings } from './gateway-settings.ts';

/** mulberry32, so that the corpus is the same each time. */
function createChance(seed: number): <Item>(items: readonly Item[]) => Item {
	let state = seed;
	return (items) => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return items[((mixed ^ (mixed >>> 14)) >>> 0) % items.length] as (typeof items)[number];
	};
}

const usd = (text: string): bigint => parseUsd(text) ?? 0n;
const budget = (id: string, limit: string, model: string | null = null): BudgetPolicy => ({
	...plainBudget,
	id,
	model,
	limitNanoUsd: usd(limit),
	warningThresholdPercent: 80,
	hardLimitPercent: 100,
});

const teams: readonly Team[] = [
	{ id: 'free', name: 'Free', tier: 'standard', clientIds: ['free-bot'] },
	{ id: 'slow', name: 'Slow', tier: 'standard', clientIds: ['slow-bot'], limits: { requestsPerMinute: 2 } },
	{ id: 'silent', name: 'Silent', tier: 'standard', clientIds: ['silent-bot'], limits: { dailyTokens: 2000 } },
	{ id: 'poor', name: 'Poor', tier: 'standard', clientIds: ['poor-bot'] },
	{ id: 'spent', name: 'Spent', tier: 'standard', clientIds: ['spent-bot'] },
	{ id: 'capped', name: 'Capped', tier: 'standard', clientIds: ['capped-bot'] },
	{ id: 'barred', name: 'Barred', tier: 'standard', clientIds: ['barred-bot'], allowLists: { models: { deny: ['claude-*', 'our-gpt'] } } },
];

const budgets: Readonly<Record<string, readonly BudgetPolicy[]>> = {
	poor: [budget('poor-all', '0.05')],
	spent: [budget('spent-all', '1.00')],
	capped: [budget('capped-all', '100.00'), budget('capped-gpt', '0.00', 'gpt-5')],
};

const rules: readonly RoutingRule[] = [
	{
		match: { model: 'led', team: null, format: null },
		strategy: 'priority' as const,
		targets: ['provider_a/claude-sonnet-4-5', 'provider_b/gpt-5'],
	},
	{
		match: { model: 'spread', team: null, format: null },
		strategy: 'weighted' as const,
		targets: ['provider_b/gpt-5', 'provider_d/our-gpt'],
	},
	{
		match: { model: 'unset-first', team: null, format: null },
		strategy: 'priority' as const,
		targets: ['provider_e/any', 'provider_b/gpt-5-mini'],
	},
	{
		match: { model: null, team: 'poor', format: 'messages' as const },
		strategy: 'priority' as const,
		targets: ['provider_a/claude-haiku-4-5'],
	},
].map(({ targets, ...rule }, index) => ({
	id: `rule-${index}`,
	name: `Rule ${index}`,
	priority: index,
	isEnabled: true,
	mode: 'enforce' as const,
	createdAtMs: 0,
	updatedAtMs: 0,
	...rule,
	targets: targets.map((target) => ({ provider: target.slice(0, 10), model: target.slice(11), weight: 1 })),
}));

const monitoredRules = rules
	.slice(0, 1)
	.map((rule) => ({ ...rule, id: 'tried', mode: 'monitor' as const, match: { model: 'tried', team: null, format: null } }));

const directory = teamDirectory({
	teamOf: (clientId) => teams.find(({ clientIds }) => clientIds.includes(clientId)),
	team: (id) => teams.find((team) => team.id === id),
	budgetsFor: (team, { model }) => (budgets[team] ?? []).filter((one) => one.model === null || one.model === model),
	budgetsOf: (team) => budgets[team] ?? [],
	routingRules: () => rules,
	routingRulesWithMonitored: () => [...rules, ...monitoredRules],
});

const [firstProvider] = testSettings.providers;
if (firstProvider === undefined) throw new Error('no provider');
const providers = [
	...testSettings.providers,
	{ ...firstProvider, name: 'provider_e', kind: 'openai-compatible' as const, baseUrl: 'https://e.test/v1', apiKey: 'REPLACE_ME' },
	// Never ejected, because an explanation lists targets in the order of routing.
].map((provider) => ({ ...provider, traffic: { ...provider.traffic, ejectAfterFailures: 1_000_000 } }));

const guardrails = guardrailsWith({
	pii: piiRules('none', { ssn: 'block', card: 'block', email: 'mask', phone: 'log' }),
	patterns: [{ name: 'ticket', pattern: 'TCK-[0-9]{4}', action: 'mask' }],
	topics: [gambling],
	teams: { slow: { words: 'mask', 'pii.card': 'log' }, poor: { 'pii.email': 'none' } },
});

const variants: readonly Partial<GatewaySettings>[] = [
	{},
	{ isTranslationStrict: true, unregisteredClients: 'reject', guardrails },
	{
		budgets: { ...testSettings.budgets, reservation: 'worst_case', unknownPrice: 'reject' },
		guardrails: { ...guardrails, unreadable: 'block' },
	},
	{
		routing: {
			providerHeader: 'optional',
			aliases: { fast: 'provider_b/gpt-5-mini', soft: 'provider_a/claude-sonnet-4-5' },
			defaults: { chat: 'provider_b' },
		},
		guardrails,
		tiers: { ...testSettings.tiers, sandbox: { requestsPerMinute: 3, dailyTokens: null, monthlyBudgetUsd: '0.01' } },
	},
	{ routing: { ...testSettings.routing, providerHeader: 'required' }, maxBodyBytes: 600 },
	{ guardrails: { ...guardrails, isEnforced: false } },
];

const clients = ['free-bot', 'slow-bot', 'silent-bot', 'poor-bot', 'spent-bot', 'capped-bot', 'barred-bot', 'unknown-bot', 'free'];
const models = [
	'gpt-5',
	'gpt-5-mini',
	'claude-sonnet-4-5',
	'gemini-2.5-flash',
	'our-gpt',
	'fast',
	'soft',
	'led',
	'spread',
	'unset-first',
	'provider_a/claude-haiku-4-5',
	'provider_e/any',
	'provider_x/any',
	'no-such-model',
];

type Chance = ReturnType<typeof createChance>;

const tripping = [
	'Write to ada@example.org, or to bob@example.org',
	'My card is 4111 1111 1111 1111',
	'Call +49 30 901820',
	'Where is the darkfish?',
	'It is in TCK-1234 \u00e9',
	'A round of roulette',
	'Ask (ada@example.org) about TCK-4321',
	'carol@example.net, TCK-0001 and TCK-0002',
];

function contentBy(chance: Chance): unknown {
	const text = 'word '.repeat(chance([1, 20, 400]));
	const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
	return chance<() => unknown>([
		() => text,
		() => text,
		() => text + chance(tripping),
		() => text + chance(tripping),
		() => [{ type: 'text', text: chance(tripping) + text }],
		() => [{ type: 'text', text }, image],
	])();
}

function bodyBy(chance: Chance, format: ClientDialectName): string {
	const body: Record<string, unknown> = {
		model: chance(models),
		messages: [{ role: 'user', content: contentBy(chance) }],
		...chance<object>([{}, { stream: true }, { stream: true, stream_options: { include_usage: true } }]),
		...(format === 'messages' || chance([true, false]) ? { max_tokens: chance([1, 100, 5000, 200_000]) } : {}),
		...chance<object>([{}, {}, { temperature: 0.5 }, { seed: 7, logit_bias: { 50: 1 } }, { n: 2 }, { metadata: { user_id: 'x' } }]),
		...chance<object>([{}, {}, { tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }] }]),
	};
	const text = JSON.stringify(body);
	return chance([
		...Array.from({ length: 12 }, () => text),
		text.slice(0, -1),
		`\ufeff${text}`,
		'[]',
		'',
		text.replace('"messages"', '"message"'),
		text.replace('"role":"user"', '"role":7'),
		text.replace('{"model"', '{"model":"gpt-5","model"'),
		text.replace('"model":"', '"model":{}, "x":"'),
		JSON.stringify(body, null, '\t'),
		`{"model":"gpt-5","messages":${'['.repeat(70)}${']'.repeat(70)}}`,
	]);
}

test('a request that refers to a stored response is explained by its owner', async () => {
	const { bench, explain } = await createRig({ responses: { state: 'owner', retentionMs: 1 } });
	const owner = { team: 'free', provider: 'provider_b', model: 'gpt-5', expiresAtMs: bench.clock.nowMs() + 1 };
	await bench.owners.note(['resp_1'], owner);
	const explained = (team: string, model = 'gpt-5') => {
		const body = Buffer.from(JSON.stringify({ model, previous_response_id: 'resp_1' }));
		return explain({ of: { team }, format: 'responses', body, headers: {} });
	};
	const { outcome, route } = await explained('free');
	expect([outcome.admitted, route?.targets]).toMatchObject([true, [{ provider: 'provider_b', model: 'gpt-5' }]]);
	const rejected = { admitted: false, param: 'previous_response_id' };
	expect((await explained('slow')).outcome).toMatchObject({ ...rejected, code: 'response_not_found' });
	expect((await explained('free', 'claude-opus-5')).outcome).toMatchObject({ ...rejected, code: 'field_invalid' });
});

interface Rig {
	readonly bench: GatewayBench;
	readonly explain: RequestExplainer;
}

async function createRig(variant: Partial<GatewaySettings>): Promise<Rig> {
	const verifier = { verify: (accessToken: string) => callerOf(accessToken, accessToken === 'unscoped' ? [] : ['tollgate/invoke']) };
	const settings = { ...testSettings, providers, ...variant };
	const bench = new GatewayBench(settings, { teams: directory, verifier });
	const response = { id: 'x', usage: { prompt_tokens: 2000, completion_tokens: 1000, input_tokens: 2000, output_tokens: 1000 } };
	bench.respond = () => jsonResponse(200, JSON.stringify(response));
	const period = periodOf(bench.clock.nowMs());
	const spent = [null, 'gpt-5'].map((model) => ({ budget: counterName({ model }), period, settledNanoUsd: usd('1.00') }));
	await bench.admission.restore({ team: 'spent', tokensToday: 0, endedIds: [], budgets: spent });
	const explain = createExplainer(settings, {
		teams: directory,
		readCounters: (team, of) => bench.admission.read(team, of),
		responseOwners: bench.owners,
		verifier,
		trafficOf: (provider) => bench.traffic.of(provider),
		reasoningEncryption: () => noReasoningEncryption,
		clock: bench.clock,
	});
	return { bench, explain };
}

type Reported = readonly [policy: string, category: string, action: string];

function guardrailsOf({ guardrails: explained }: Explanation): readonly Reported[] {
	return (explained?.findings ?? []).map(({ policy, category, action }) => [policy, category, action]);
}

/** Returns the guardrail log lines of the request. */
function reported({ log }: GatewayBench, requestId: string): readonly Reported[] {
	return log.lines
		.filter(({ event, fields }) => event === 'guardrail assessment' && fields['requestId'] === requestId && fields['stage'] === 'input')
		.map(({ fields }) => [String(fields['policy']), String(fields['category']), String(fields['action'])]);
}

/** Advances the clock until monitoring guardrails have evaluated. */
async function observe({ clock }: GatewayBench): Promise<void> {
	for (let turn = 0; turn < 10; turn++) {
		clock.advance(1);
		await new Promise((resolve) => setImmediate(resolve));
	}
}

async function stateOf({ bench }: Rig): Promise<string> {
	const period = periodOf(bench.clock.nowMs());
	const counters = await Promise.all(teams.map(({ id }) => bench.admission.read(id, [{ budget: allModels, period }])));
	const { rows } = await bench.ledger.list({ limit: 1000 });
	const all = [counters, rows, bench.sent.length, bench.log.lines];
	return JSON.stringify(all, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}

test('500 requests of a generated corpus end as they were explained, and explaining them changes nothing', async () => {
	const chance = createChance(20_261_121);
	const rigs = await Promise.all(variants.map(createRig));
	const seen = new Map<string, number>();
	let masked = 0;
	for (let index = 0; index < 500; index++) {
		const rig = chance(rigs);
		const { bench } = rig;
		if (index % 60 === 59) bench.clock.advance(60_000);
		const format = chance<ClientDialectName>(['chat', 'messages']);
		const clientId = chance(clients);
		const body = Buffer.from(bodyBy(chance, format));
		const provider = chance([undefined, undefined, 'provider_b', 'provider_a', 'provider_q']);
		const headers = { 'x-gateway-session': `s${index}`, ...(provider !== undefined && { 'x-gateway-provider': provider }) };
		const before = await stateOf(rig);
		const of = chance([{ clientId }, { accessToken: clientId }]);
		const explained = await rig.explain({ of, format, body, headers });
		const what = `${index}: ${clientId} ${format} ${JSON.stringify(headers)} ${String(body)}`;
		expect(await stateOf(rig), `call ${what}`).toBe(before);

		const sentBefore = bench.sent.length;
		const path = format === 'chat' ? '/v1/chat/completions' : '/v1/messages';
		const response = await bench.ask(path, body, { ...headers, authorization: `Bearer ${clientId}` }, { id: `req-${index}` });
		await settle();
		await observe(bench);
		expect(guardrailsOf(explained), `call ${what}`).toEqual(reported(bench, `req-${index}`));
		masked += explained.guardrails?.state === 'masked' ? 1 : 0;
		const [sent] = bench.sent.slice(sentBefore);
		const { outcome, route, upstream, team } = explained;
		expect(outcome.admitted, `call ${what}`).toBe(sent !== undefined);
		if (sent === undefined) {
			expect([outcome.status, outcome.code], `call ${what}`).toEqual([response.status, response.record?.code]);
		} else {
			const bytes = sent.body as Buffer;
			expect([upstream?.bytes, team?.id], `call ${what}`).toEqual([bytes.length, response.record?.team]);
			expect(upstream?.differences, `call ${what}`).toEqual(differencesOf(JSON.parse(String(body)), JSON.parse(String(bytes)), 200));
			const target = route?.targets.find(({ code }) => code === null);
			const origin = providers.find(({ name }) => name === target?.provider)?.baseUrl ?? '';
			expect(origin, `call ${what}`).toContain(sent.origin);
		}
		const key = outcome.code ?? 'admitted';
		seen.set(key, (seen.get(key) ?? 0) + 1);
	}
	// A corpus whose requests all have the same outcome proves little.
	expect(seen.get('admitted')).toBeGreaterThan(80);
	expect(masked).toBeGreaterThan(10);
	expect(seen.get('guardrail_blocked')).toBeGreaterThan(20);
	const expected = [
		'rpm_limit_exceeded',
		'daily_token_limit_exceeded',
		'budget_exceeded',
		'model_budget_exceeded',
		'model_unpriced',
		'client_unregistered',
		'provider_not_set',
		'provider_unknown',
		'provider_key_unset',
		'body_not_json',
		'body_not_utf8',
		'body_too_large',
		'body_too_deep',
		'field_missing',
		'field_invalid',
		'guardrail_blocked',
	];
	expect([...seen.keys()]).toEqual(expect.arrayContaining(expected));
});

describe('an explanation', () => {
	test('goes as far as the decisions do', async () => {
		const { explain } = await createRig({});
		const rejected = await explain({ of: { accessToken: 'unscoped' }, format: 'chat', body: Buffer.from('{}'), headers: {} });
		expect(rejected).toMatchObject({
			outcome: { admitted: false, status: 403, code: 'scope_missing' },
			identity: null,
			team: null,
			route: null,
		});
		const administrator = { clientId: 'free-bot', scopeNames: ['admin'] };
		expect(await explain({ of: administrator, format: 'chat', body: Buffer.from('{}'), headers: {} })).toMatchObject({
			outcome: { admitted: false, status: 403, code: 'scope_missing' },
			identity: null,
		});
		const unread = await explain({ of: { clientId: 'free-bot' }, format: 'chat', body: Buffer.from('{"model":7}'), headers: {} });
		expect(unread).toMatchObject({ outcome: { status: 400, param: 'model' }, team: { id: 'free' }, request: null, upstream: null });
	});

	test.each([
		[undefined, null],
		[
			['invoke', 'admin'],
			['tollgate/invoke', 'tollgate/admin'],
		],
	])('shows the scopes %j of a client as %j', async (scopeNames, scopes) => {
		const { explain } = await createRig({});
		const of = { clientId: 'free-bot', scopeNames };
		const { identity } = await explain({ of, format: 'chat', body: Buffer.from('{}'), headers: {} });
		expect(identity).toEqual({ client_id: 'free-bot', scopes });
	});

	test.each([
		['led', 'rule', 'rule-0', ['provider_a', 'provider_b']],
		['fast', 'alias', null, ['provider_b']],
		['our-gpt', 'configured_model', null, ['provider_d']],
		['provider_a/claude-x', 'prefix', null, ['provider_a']],
		['claude-sonnet-4-5', 'family', null, ['provider_a']],
		['no-such-model', 'default', null, ['provider_b']],
	])('names what decided the route of %s: %s', async (model, by, rule, targets) => {
		const { explain } = await createRig({});
		const body = Buffer.from(JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] }));
		const { route } = await explain({ of: { team: 'free' }, format: 'chat', body, headers: {} });
		expect([route?.decided_by, route?.rule, route?.targets.map(({ provider }) => provider)]).toEqual([by, rule, targets]);
	});

	test('names the lists in force, and the one that does not allow a target', async () => {
		const { explain } = await createRig({});
		const explainModel = (model: string) => {
			const body = Buffer.from(JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] }));
			return explain({ of: { team: 'barred' }, format: 'chat', body, headers: {} });
		};
		const list = 'teams.barred.models.deny';
		const lists = [{ path: list, mode: 'enforce', values: ['claude-*', 'our-gpt'] }];
		const denied = [{ provider: 'provider_a', model: 'claude-sonnet-4-5', list, mode: 'enforce' }];
		expect(await explainModel('claude-sonnet-4-5')).toMatchObject({
			outcome: { admitted: false, status: 403, code: 'model_not_allowed' },
			allow_lists: { lists, denied },
			route: null,
		});
		expect(await explainModel('led')).toMatchObject({
			outcome: { admitted: true },
			allow_lists: { lists, denied },
			route: { targets: [{ provider: 'provider_b' }] },
		});
		expect((await explainModel('gpt-5')).allow_lists).toEqual({ lists, denied: [] });
	});

	test('shows the target that a monitored rule would choose', async () => {
		const { explain } = await createRig({});
		const routeOf = async (model: string) => {
			const body = Buffer.from(JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] }));
			return (await explain({ of: { team: 'free' }, format: 'chat', body, headers: {} })).route;
		};
		const { decided_by: by, rule, monitored } = (await routeOf('tried')) ?? {};
		expect([by, rule, monitored]).toEqual(['default', null, { rule: 'tried', target: 'provider_a/claude-sonnet-4-5' }]);
		expect((await routeOf('led'))?.monitored).toBeNull();
	});

	test('lists the targets that embeddings must not fail over to, because they have another model', async () => {
		const { explain } = await createRig({});
		for (const [model, expected] of [
			['led', ['provider_a field_invalid', 'provider_b model_differs']],
			['spread', ['provider_b null', 'provider_d model_differs']],
		] as const) {
			const body = Buffer.from(JSON.stringify({ model, input: 'hi' }));
			const { route, reservation } = await explain({ of: { team: 'free' }, format: 'embeddings', body, headers: {} });
			expect(route?.targets.map(({ provider, code }) => `${provider} ${code}`)).toEqual(expected);
			if (model === 'spread') expect(reservation).toMatchObject({ input_tokens: 1, output_tokens: 0, cap_tokens: null });
		}
	});

	test('has the numbers: limits, price, reservation and the body to send', async () => {
		const { explain } = await createRig({ budgets: { ...testSettings.budgets, reservation: 'worst_case' } });
		const body = Buffer.from('{"model":"gpt-5","stream":true,"messages":[{"role":"user","content":"hi"}]}');
		const explained = await explain({ of: { clientId: 'capped-bot' }, format: 'chat', body, headers: {} });
		expect(explained).toMatchObject({
			outcome: { admitted: false, code: 'model_budget_exceeded', status: 429 },
			price: { provider: 'provider_b', model: 'gpt-5', source: 'default', tiers: [{ input_usd_per_million_tokens: '1.25' }] },
			reservation: { mode: 'worst_case', cap_tokens: 128_000 },
			limits: {
				budgets: [
					{ id: 'capped-all', spent_usd: '0.00' },
					{ id: 'capped-gpt', model: 'gpt-5', limit_usd: '0.00' },
				],
			},
			guardrails: { state: 'off', enforced: false, findings: [] },
			upstream: {
				translated: false,
				differences: [
					{ path: 'max_completion_tokens', after: 128_000 },
					{ path: 'stream_options', after: { include_usage: true } },
				],
			},
		});
	});
});
