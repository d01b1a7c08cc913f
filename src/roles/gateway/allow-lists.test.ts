/** Lists of models and providers: every path of a request, the error in each format, monitor mode, and what a client sees of its models. */
import { describe, expect, it } from 'vitest';
import {
	callerOf,
	errorOf,
	GatewayBench,
	jsonResponse,
	summaryOf,
	teamDirectory,
	testSettings,
	textOf,
} from '../../../test/support/gateway-bench.ts';
import type { AllowLists } from '../../core/allow-lists.ts';
import type { HttpResponse } from '../../core/handler.ts';
import type { Labels, Metrics } from '../../core/metrics.ts';
import type { RoutingRule, RoutingRuleTarget } from '../../core/routing-rule.ts';
import type { Team } from '../../core/team.ts';
import type { GatewayProvider, GatewaySettings } from './gateway-settings.ts';

const hi = [{ role: 'user', content: 'hi' }];

interface Plan {
	readonly lists?: AllowLists;
	readonly ofTier?: AllowLists;
	readonly targets?: readonly RoutingRuleTarget[];
	readonly settings?: Partial<GatewaySettings>;
	readonly metrics?: Metrics;
}

function benchWith({ lists, ofTier, targets, settings, metrics }: Plan): GatewayBench {
	const team: Team = { id: 'red', name: 'red', tier: 'standard', clientIds: [], ...(lists !== undefined && { allowLists: lists }) };
	const match = { model: null, team: null, format: null };
	const rule: RoutingRule = {
		id: 'r',
		name: 'r',
		priority: 1,
		isEnabled: true,
		mode: 'enforce',
		match,
		strategy: 'priority',
		targets: targets ?? [],
		createdAtMs: 0,
		updatedAtMs: 0,
	};
	const tier = { requestsPerMinute: null, dailyTokens: null, monthlyBudgetUsd: null };
	const bench = new GatewayBench(
		{
			responses: { state: 'owner', retentionMs: 86_400_000 },
			routing: { ...testSettings.routing, providerHeader: 'optional' },
			tiers: { sandbox: tier, standard: ofTier === undefined ? tier : { ...tier, allowLists: ofTier } },
			...settings,
		},
		{
			teams: teamDirectory({ teamOf: () => team, team: () => team, routingRules: () => (targets === undefined ? [] : [rule]) }),
			verifier: { verify: () => callerOf('client-1') },
			...(metrics !== undefined && { metrics }),
		},
	);
	bench.respond = () => jsonResponse(200, '{"id":"resp_1","object":"response","status":"completed","output":[]}');
	return bench;
}

const bodies: Readonly<Record<string, object>> = {
	'/v1/chat/completions': { messages: hi },
	'/v1/messages': { max_tokens: 9, messages: hi },
	'/v1/messages/count_tokens': { messages: hi },
	'/v1/responses': { input: 'hi' },
	'/v1/responses/compact': { input: 'hi' },
	'/v1/embeddings': { input: 'hi' },
	'/v1/completions': { prompt: 'hi' },
};

const ask = (
	bench: GatewayBench,
	model: string,
	path = '/v1/chat/completions',
	members: object = {},
	headers = {},
): Promise<HttpResponse> => bench.ask(path, JSON.stringify({ model, ...bodies[path], ...members }), headers);

const deny = (...patterns: string[]): AllowLists => ({ models: { deny: patterns } });
const gpt = { provider: 'provider_b', model: 'gpt-5', weight: 1 };
const claude = { provider: 'provider_a', model: 'claude-sonnet-4-5', weight: 1 };
const rejected = '403 model_not_allowed';

describe('a model that the lists do not allow', () => {
	it.each(Object.keys(bodies))('is rejected on %s, and nothing is sent', async (path) => {
		const bench = benchWith({
			lists: deny('gpt-5'),
			settings: {
				routing: {
					...testSettings.routing,
					defaults: { ...testSettings.routing.defaults, embeddings: 'provider_b', completions: 'provider_b' },
				},
			},
		});
		const response = await ask(bench, 'gpt-5', path);
		expect([summaryOf(response), bench.sent.length]).toEqual([rejected, 0]);
		expect(response.record).toMatchObject({
			code: 'model_not_allowed',
			allowList: 'teams.red.models.deny',
			modelRequested: 'gpt-5',
			team: 'red',
		});
	});

	it('is rejected in the client’s error format, with the model, the list and what to do', async () => {
		const bench = benchWith({ ofTier: { models: { allow: ['claude-*'] } } });
		const message =
			'Team `red` may not use model "gpt-5": a list does not allow it (`tiers.standard.models.allow`). Use a model that `GET /v1/models` lists, or ask an administrator to change the list';
		for (const path of ['/v1/chat/completions', '/v1/messages', '/v1/responses']) {
			const body = errorOf(await ask(bench, 'gpt-5', path));
			expect(body).toMatchObject({
				type: 'error',
				error: { type: 'permission_error', code: 'model_not_allowed', param: 'model', message },
			});
		}
	});

	it('is skipped if another target remains, and the first remaining one is tried first', async () => {
		const bench = benchWith({ lists: deny('gpt-5'), targets: [gpt, claude] });
		await ask(bench, 'any');
		expect(bench.sent.map(({ origin }) => origin)).toEqual(['https://a.test']);
	});

	it('is not reached by failover', async () => {
		const bench = benchWith({ lists: { providers: { allow: ['provider_b'] } }, targets: [gpt, claude] });
		bench.respond = () => jsonResponse(503, '{"error":{"message":"no"}}');
		await ask(bench, 'any');
		expect(bench.sent.map(({ origin }) => origin)).toEqual(['https://b.test']);
	});

	it.each<[string, string, AllowLists, object]>([
		['an alias', 'fast', deny('gpt-5-mini'), {}],
		['a prefix', 'provider_b/gpt-5', deny('gpt-5'), {}],
		['a vendor’s prefix', 'openai/gpt-5', deny('gpt-5'), {}],
		['the header', 'gpt-5', { providers: { allow: ['provider_b'] } }, { 'x-gateway-provider': 'provider_d' }],
		['another case', 'provider_d/GPT-5', deny('gpt-5'), {}],
		['Google’s collection', 'provider_c/models/gemini-2.5-pro', deny('gemini-2.5-pro'), {}],
	])('is not reached by %s', async (_name, model, lists, headers) => {
		const bench = benchWith({ lists });
		expect([summaryOf(await ask(bench, model, '/v1/chat/completions', {}, headers)), bench.sent.length]).toEqual([rejected, 0]);
	});
});

describe('stored responses of a target that is no longer allowed', () => {
	const storing = async (lists: AllowLists): Promise<GatewayBench> => {
		const bench = benchWith({ lists });
		await bench.owners.note(['resp_1'], { team: 'red', provider: 'provider_b', model: 'gpt-5', expiresAtMs: bench.clock.nowMs() + 1000 });
		return bench;
	};

	it.each(['GET', 'DELETE'] as const)('%s is rejected', async (method) => {
		const bench = await storing(deny('gpt-5'));
		const response = await bench.ask('/v1/responses/resp_1', '', {}, { method });
		expect([summaryOf(response), bench.sent.length]).toEqual([rejected, 0]);
		expect((await (await storing({})).ask('/v1/responses/resp_1', '', {}, { method })).status).toBe(200);
	});

	it.each(['gpt-4o', 'gpt-5'])('and a request for %s that continues one are rejected', async (model) => {
		const bench = await storing({ providers: { allow: ['provider_a'] } });
		const response = await ask(bench, model, '/v1/responses', { previous_response_id: 'resp_1', store: true });
		expect([summaryOf(response), bench.sent.length]).toEqual([rejected, 0]);
	});

	it('and a continuation whose name leads to an allowed provider is rejected', async () => {
		const local = {
			...testSettings.providers[1],
			name: 'local',
			kind: 'openai-compatible' as const,
			servesResponses: true,
			models: ['llama'],
		};
		const bench = benchWith({
			lists: { providers: { allow: ['local'] } },
			settings: { providers: [...testSettings.providers, local as GatewayProvider] },
		});
		expect((await ask(bench, 'llama', '/v1/responses')).status).toBe(200);
		await bench.owners.note(['resp_1'], { team: 'red', provider: 'provider_b', model: 'gpt-5', expiresAtMs: bench.clock.nowMs() + 1000 });
		const response = await ask(bench, 'llama', '/v1/responses', { previous_response_id: 'resp_1', store: true });
		expect([summaryOf(response), bench.sent.length]).toEqual([rejected, 1]);
	});

	it('and background requests are rejected', async () => {
		const bench = await storing(deny('gpt-5'));
		const response = await ask(bench, 'gpt-5', '/v1/responses', { background: true, store: true });
		expect([summaryOf(response), bench.sent.length]).toEqual([rejected, 0]);
	});
});

describe('monitored lists', () => {
	const counted: Labels[] = [];
	const noSeries = { add: () => undefined };
	const metrics = {
		counter: (name: string) =>
			name === 'tollgate_allow_list_decisions_total' ? { add: (_by: number, labels: Labels) => counted.push(labels) } : noSeries,
		gauge: () => noSeries,
		histogram: () => ({ observe: () => undefined }),
	} as unknown as Metrics;

	it('record and count what they would reject, and reject nothing', async () => {
		const bench = benchWith({ lists: { models: { deny: ['gpt-5'], mode: 'monitor' } }, metrics });
		const { status, record } = await ask(bench, 'gpt-5');
		expect([status, bench.sent.length, record?.monitored, record?.allowList]).toEqual([
			200,
			1,
			['model_not_allowed'],
			'teams.red.models.deny',
		]);
		expect(counted.splice(0)).toEqual([{ list: 'models.deny', mode: 'monitor', result: 'rejected' }]);
	});

	it('count a target that they would only skip', async () => {
		const bench = benchWith({ lists: { models: { deny: ['gpt-5'], mode: 'monitor' } }, targets: [gpt, claude], metrics });
		const { record } = await ask(bench, 'any');
		expect([bench.sent[0]?.origin, record?.monitored]).toEqual(['https://b.test', undefined]);
		expect(counted.splice(0)).toEqual([{ list: 'models.deny', mode: 'monitor', result: 'skipped' }]);
	});

	it('leave enforced lists in force, which are counted too', async () => {
		const bench = benchWith({ lists: { models: { deny: ['gpt-5'], mode: 'monitor' }, providers: { allow: ['provider_a'] } }, metrics });
		expect(summaryOf(await ask(bench, 'gpt-5'))).toBe(rejected);
		expect(counted.splice(0)).toEqual([{ list: 'providers', mode: 'enforce', result: 'rejected' }]);
	});

	it('hide no model', async () => {
		const bench = benchWith({ lists: { models: { deny: ['*'], mode: 'monitor' } } });
		expect((await bench.ask('/v1/models/gpt-5', '', {}, { method: 'GET' })).status).toBe(200);
	});
});

describe('the list of models', () => {
	const idsOf = async (bench: GatewayBench): Promise<string[]> => {
		const response = await bench.ask('/v1/models', '', {}, { method: 'GET' });
		return (JSON.parse(textOf(response)) as { data: { id: string }[] }).data.map(({ id }) => id);
	};
	const one = async (bench: GatewayBench, id: string): Promise<number> =>
		(await bench.ask(`/v1/models/${id}`, '', {}, { method: 'GET' })).status;

	it('has the models that the client may use, and no other', async () => {
		const bench = benchWith({ lists: { models: { allow: ['gpt-5*', 'fast', 'our-gpt'], deny: ['gpt-5*nano'] } } });
		const ids = await idsOf(bench);
		expect(ids).toEqual(expect.arrayContaining(['gpt-5', 'gpt-5-mini', 'fast', 'our-gpt']));
		expect(ids.filter((id) => /claude|gemini|nano|gpt-4/.test(id))).toEqual([]);
		expect(await Promise.all(['gpt-5', 'provider_b/gpt-5', 'fast', 'gpt-5-nano', 'claude-sonnet-4-5'].map((id) => one(bench, id)))).toEqual(
			[200, 200, 200, 404, 404],
		);
	});

	it('lists a model whose first target is not allowed by the target that remains', async () => {
		const bench = benchWith({ lists: { providers: { allow: ['provider_a'] } }, targets: [gpt, claude] });
		const response = await bench.ask('/v1/models/any', '', {}, { method: 'GET' });
		expect(JSON.parse(textOf(response))).toMatchObject({ id: 'any', owned_by: 'provider_a' });
		expect(await idsOf(bench)).toContain('gpt-5');
	});

	it('agrees with what requests get', async () => {
		const bench = benchWith({
			lists: { models: { allow: ['gpt-*', '*/claude-*'], deny: ['*mini'] }, providers: { allow: ['openai', 'azure'] } },
		});
		const listed = new Set(await idsOf(bench));
		expect(listed.size).toBeGreaterThan(3);
		for (const id of await idsOf(benchWith({}))) {
			expect([id, (await ask(bench, id)).status === 403]).toEqual([id, !listed.has(id)]);
		}
	});
});
