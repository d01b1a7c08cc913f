/** `responses.state: owner`, and the endpoints of stored responses. */
import { describe, expect, test } from 'vitest';
import {
	callerOf,
	errorOf,
	GatewayBench,
	HandStream,
	jsonResponse,
	readStream,
	sentText,
	settle,
	sseResponse,
	summaryOf,
	testSettings,
	textOf,
} from '../../../test/support/gateway-bench.ts';
import { guardrailsWith, piiRules } from '../../../test/support/guarded-gateway.ts';
import type { HttpRequest } from '../../core/handler.ts';
import type { RoutingRule } from '../../core/routing-rule.ts';
import { UpstreamError } from '../../core/upstream-error.ts';
import type { ResponseOwner, ResponseOwners } from '../../stores/contracts/response-owners.ts';
import type { GatewayPorts, GatewaySettings } from './gateway-settings.ts';

const path = '/v1/responses';
const dayMs = 86_400_000;

const directory: GatewayPorts['teams'] = {
	teamOf: (clientId) => ({ id: `team-${clientId}`, name: clientId, tier: 'standard', clientIds: [clientId] }),
	team: (id) => ({ id, name: id, tier: 'standard', clientIds: [] }),
	budgetsFor: () => [],
	budgetsOf: () => [],
	priceOverride: () => undefined,
	canSetAttributes: () => false,
	overriddenModels: () => [],
	routingRules: () => [],
	routingRulesWithMonitored: () => [],
};

/** A gateway whose access tokens are the ids of clients, each with a team of its own. */
function createBench(settings: Partial<GatewaySettings> = {}, ports: Partial<GatewayPorts> = {}): GatewayBench {
	const bench = new GatewayBench(
		{ responses: { state: 'owner', retentionMs: 30 * dayMs }, ...settings },
		{ teams: directory, verifier: { verify: (accessToken) => callerOf(accessToken) }, ...ports },
	);
	bench.respond = () => jsonResponse(200, JSON.stringify(storedResponse));
	return bench;
}

const storedResponse = {
	id: 'resp_1',
	object: 'response',
	status: 'completed',
	model: 'gpt-5-mini',
	conversation: { id: 'conv_1' },
	output: [
		{ type: 'reasoning', id: 'rs_1', summary: [] },
		{ type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'Hello', annotations: [] }] },
	],
	usage: { input_tokens: 5, output_tokens: 7, total_tokens: 12 },
};
const storedIds = ['resp_1', 'conv_1', 'rs_1', 'msg_1'];

const of = (client: string) => ({ authorization: `Bearer ${client}` });
const create = (bench: GatewayBench, client: string, members: object) =>
	bench.ask(path, JSON.stringify({ model: 'gpt-5-mini', input: 'Hi', ...members }), of(client));
const request = (bench: GatewayBench, client: string, method: HttpRequest['method'], below: string) =>
	bench.ask(`${path}/${below}`, '', of(client), { method });

async function ownersIn(owners: ResponseOwners, ids: readonly string[] = storedIds): Promise<Record<string, string>> {
	return Object.fromEntries([...(await owners.find(ids))].map(([id, { team }]) => [id, team]));
}

describe('a response', () => {
	test('is stored as the client asks, and its ids belong to the team for the retention', async () => {
		const bench = createBench();
		const body = '{"model":"fast", "input":"Hi","store":true}';
		expect((await bench.ask(path, body, of('red'))).status).toBe(200);
		const [sent] = bench.sent;
		expect(sent && sentText(sent)).toBe('{"model":"gpt-5-mini", "input":"Hi","store":true}');
		const expected: ResponseOwner = {
			team: 'team-red',
			provider: 'provider_b',
			model: 'gpt-5-mini',
			expiresAtMs: bench.clock.nowMs() + 30 * dayMs,
		};
		expect([...(await bench.owners.find(storedIds)).values()]).toEqual(storedIds.map(() => expected));
	});

	test('has no owner if the client does not store it', async () => {
		const bench = createBench();
		await create(bench, 'red', { store: false });
		expect(await ownersIn(bench.owners)).toEqual({});
	});

	test('has no owner if it is an error', async () => {
		const bench = createBench();
		bench.respond = () => jsonResponse(400, '{"error":{"message":"no"},"id":"resp_1"}');
		await create(bench, 'red', {});
		expect(await ownersIn(bench.owners)).toEqual({});
	});

	test('of a stream has an owner from its first event on, also if it is cut', async () => {
		const bench = createBench();
		const stream = new HandStream();
		bench.respond = () => sseResponse(stream);
		const { reader } = readStream(await create(bench, 'red', { stream: true }));
		const write = (event: { readonly type: string; readonly [member: string]: unknown }) =>
			stream.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
		write({ type: 'response.created', response: { ...storedResponse, output: [] } });
		await settle();
		expect(await ownersIn(bench.owners)).toEqual({ resp_1: 'team-red', conv_1: 'team-red' });
		write({ type: 'response.output_item.added', item: { type: 'reasoning', id: 'rs_1' } });
		write({ type: 'response.output_text.delta', delta: '"response.output_item.done","item":{"id":"msg_forged"}' });
		write({ type: 'response.output_item.done', item: { type: 'message', id: 'msg_1' } });
		stream.sink?.fail(new UpstreamError('provider_disconnected'));
		await settle();
		expect(reader.text).toContain('provider_disconnected');
		expect(await ownersIn(bench.owners, [...storedIds, 'msg_forged'])).toEqual(Object.fromEntries(storedIds.map((id) => [id, 'team-red'])));
	});

	test('reaches the client although its owner cannot be stored, and its id is then unknown', async () => {
		const owners: ResponseOwners = {
			note: () => Promise.reject(new UpstreamError('records_unavailable')),
			find: async () => new Map(),
			forget: async () => undefined,
			sweep: async () => undefined,
		};
		const bench = createBench({}, { responseOwners: owners });
		expect((await create(bench, 'red', {})).status).toBe(200);
		expect(bench.log.lines.filter(({ level }) => level === 'error')).toMatchObject([
			{ event: 'the owner of a response could not be stored: its ids return 404', fields: { requestId: 'req-1', team: 'team-red' } },
		]);
		expect(summaryOf(await request(bench, 'red', 'GET', 'resp_1'))).toBe('404 response_not_found');
	});
});

describe.each([
	['previous_response_id', { previous_response_id: 'resp_1' }, 'previous_response_id'],
	['conversation', { conversation: 'conv_1' }, 'conversation'],
	['conversation object', { conversation: { id: 'conv_1' } }, 'conversation'],
	['item_reference', { input: ['Hi', 'x'].map(() => ({ type: 'item_reference', id: 'msg_1' })) }, 'input[0]'],
	['item without type', { input: [{ role: 'user', content: 'Hi' }, { id: 'msg_1' }] }, 'input[1]'],
	['reasoning item without content', { input: [{ type: 'reasoning', id: 'rs_1', summary: [] }] }, 'input[0]'],
	['image without result', { input: [{ type: 'image_generation_call', id: 'msg_1', result: null }] }, 'input[0]'],
	['comparison', { prompt_cache_options: { comparison_response_id: 'resp_1' } }, 'prompt_cache_options.comparison_response_id'],
])('%s', (_name, members, param) => {
	test('reaches the provider for the team that owns the id', async () => {
		const bench = createBench();
		await create(bench, 'red', {});
		expect((await create(bench, 'red', members)).status).toBe(200);
		expect(bench.sent).toHaveLength(2);
	});

	test('is unknown to another team, before anything is sent', async () => {
		const bench = createBench();
		await create(bench, 'red', {});
		const response = await create(bench, 'blue', members);
		expect([summaryOf(response), errorOf(response).error.param]).toEqual(['404 response_not_found', param]);
		expect(bench.sent).toHaveLength(1);
		const unknown = await create(createBench(), 'red', members);
		expect(errorOf(unknown).error).toEqual(errorOf(response).error);
	});

	test('is unknown after the retention', async () => {
		const bench = createBench();
		await create(bench, 'red', {});
		bench.clock.advance(30 * dayMs);
		expect(summaryOf(await create(bench, 'red', members))).toBe('404 response_not_found');
	});

	test('returns 503 while the owners cannot be read', async () => {
		const bench = createBench();
		bench.owners.find = () => Promise.reject(new UpstreamError('records_unavailable'));
		expect(summaryOf(await create(bench, 'red', members))).toBe('503 records_unavailable');
		expect(bench.sent).toEqual([]);
	});
});

describe('a reference', () => {
	const rule: RoutingRule = {
		id: 'r1',
		name: 'r1',
		priority: 1,
		isEnabled: true,
		mode: 'enforce',
		match: { model: 'gpt-5-mini', team: null, format: null },
		strategy: 'priority',
		targets: [
			{ provider: 'provider_e', model: 'other', weight: 1 },
			{ provider: 'provider_b', model: 'gpt-5', weight: 1 },
		],
		createdAtMs: 0,
		updatedAtMs: 0,
	};
	const [, openai] = testSettings.providers;
	const providers = [
		...testSettings.providers,
		...(openai === undefined ? [] : [{ ...openai, name: 'provider_e', baseUrl: 'https://e.test/v1' }]),
	];
	const sentTo = ({ sent }: GatewayBench) =>
		sent.map((outgoing) => [outgoing.origin, (JSON.parse(sentText(outgoing)) as { model: string }).model]);

	test('goes to the provider that stores it, whatever routing prefers, and to no other after a failure', async () => {
		const bench = createBench({ providers }, { teams: { ...directory, routingRules: () => [rule] } });
		await bench.owners.note(['resp_1'], {
			team: 'team-red',
			provider: 'provider_b',
			model: 'gpt-5.6',
			expiresAtMs: bench.clock.nowMs() + dayMs,
		});
		bench.respond = () => jsonResponse(503, '{"error":{"message":"busy"}}');
		expect((await create(bench, 'red', { previous_response_id: 'resp_1' })).status).toBe(502);
		expect(sentTo(bench)).toEqual([['https://b.test', 'gpt-5']]);
	});

	test('goes to the stored model if the client names a model of another provider', async () => {
		const bench = createBench({ providers });
		await bench.owners.note(['resp_1'], {
			team: 'team-red',
			provider: 'provider_e',
			model: 'gpt-5.6',
			expiresAtMs: bench.clock.nowMs() + dayMs,
		});
		expect((await create(bench, 'red', { previous_response_id: 'resp_1' })).status).toBe(200);
		expect((await create(bench, 'red', { previous_response_id: 'resp_1', model: 'provider_e/gpt-5' })).status).toBe(200);
		expect(sentTo(bench)).toEqual([
			['https://e.test', 'gpt-5.6'],
			['https://e.test', 'gpt-5'],
		]);
	});

	test('to ids at two providers is rejected', async () => {
		const bench = createBench({ providers });
		const owner = { team: 'team-red', model: 'gpt-5', expiresAtMs: bench.clock.nowMs() + dayMs };
		await bench.owners.note(['resp_1'], { ...owner, provider: 'provider_b' });
		await bench.owners.note(['msg_1'], { ...owner, provider: 'provider_e' });
		const response = await create(bench, 'red', { previous_response_id: 'resp_1', input: [{ type: 'item_reference', id: 'msg_1' }] });
		expect([summaryOf(response), errorOf(response).error.param]).toEqual(['400 field_invalid', 'input[0]']);
	});

	test('to a provider that is not configured any more is unknown', async () => {
		const bench = createBench();
		await bench.owners.note(['resp_1'], { team: 'team-red', provider: 'gone', model: 'gpt-5', expiresAtMs: bench.clock.nowMs() + dayMs });
		expect(summaryOf(await create(bench, 'red', { previous_response_id: 'resp_1' }))).toBe('404 response_not_found');
		expect(summaryOf(await request(bench, 'red', 'GET', 'resp_1'))).toBe('404 response_not_found');
	});

	test('is rejected for a model whose requests are translated', async () => {
		const translating = providers.map((one) => ({ ...one, modelCapabilities: { 'gpt-5-mini': { dialect: 'chat' as const } } }));
		const bench = createBench({ providers: translating });
		const expiresAtMs = bench.clock.nowMs() + dayMs;
		await bench.owners.note(['resp_1'], { team: 'team-red', provider: 'provider_b', model: 'gpt-5-mini', expiresAtMs });
		const response = await create(bench, 'red', { previous_response_id: 'resp_1' });
		expect([summaryOf(response), errorOf(response).error.param]).toEqual(['400 field_invalid', 'previous_response_id']);
		expect(bench.sent).toEqual([]);
	});

	test('is rejected if the client names a model of another format', async () => {
		const bench = createBench();
		const expiresAtMs = bench.clock.nowMs() + dayMs;
		await bench.owners.note(['resp_1'], { team: 'team-red', provider: 'provider_b', model: 'gpt-5-mini', expiresAtMs });
		for (const model of ['claude-opus-5', 'gemini-2.5-flash']) {
			const response = await create(bench, 'red', { previous_response_id: 'resp_1', model });
			expect([summaryOf(response), errorOf(response).error.param]).toEqual(['400 field_invalid', 'previous_response_id']);
		}
		expect(bench.sent).toEqual([]);
	});

	test('to an item of a translated response is rejected with the cure', async () => {
		const bench = createBench();
		const input = [{ type: 'item_reference', id: 'msg_1' }];
		const response = await create(bench, 'red', { input, model: 'claude-opus-5' });
		expect([summaryOf(response), errorOf(response).error.param]).toEqual(['400 field_invalid', 'input[0]']);
		expect(errorOf(response).error.message).toContain('set `providerOptions.openai.store` to `false`');
	});

	test('needs no input, and no output for a stored call', async () => {
		const bench = createBench();
		await create(bench, 'red', {});
		expect((await create(bench, 'red', { previous_response_id: 'resp_1', input: undefined })).status).toBe(200);
		const input = [{ type: 'function_call_output', call_id: 'call_1', output: 'x' }];
		expect((await create(bench, 'red', { previous_response_id: 'resp_1', input })).status).toBe(200);
		expect(summaryOf(await create(bench, 'red', { input: undefined }))).toBe('400 field_missing');
	});

	test.each(['', 'a\u0000b', '\ud800', 'résp', 'a'.repeat(257)])('to %j, which no store could contain, is unknown', async (id) => {
		const bench = createBench();
		const asked: string[] = [];
		bench.owners.find = async (ids) => {
			asked.push(...ids);
			return new Map();
		};
		expect(summaryOf(await create(bench, 'red', { previous_response_id: id }))).toBe('404 response_not_found');
		expect(asked).toEqual([]);
	});

	test('that is repeated in one object is rejected, because the provider may read the other one', async () => {
		const bench = createBench();
		await create(bench, 'red', {});
		await create(bench, 'blue', {});
		const body = '{"model":"gpt-5-mini","input":[{"type":"item_reference","id":"msg_other","id":"msg_1"}]}';
		expect(summaryOf(await bench.ask(path, body, of('red')))).toBe('400 field_invalid');
		expect(bench.sent).toHaveLength(2);
	});

	test.each([
		{ previous_response_id: 5 },
		{ conversation: { id: 5 } },
		{ conversation: ['conv_1'] },
		{ input: [{ type: 'item_reference', id: 5 }] },
		{ input: [{ type: 'item_reference' }] },
		{ input: [{ type: 'reasoning', id: ['rs_1'], summary: [] }] },
		{ prompt_cache_options: { comparison_response_id: {} } },
	])('of another type is rejected: %j', async (members) => {
		const response = await create(createBench(), 'red', members);
		expect([response.status, errorOf(response).error.param]).toEqual([
			400,
			expect.stringMatching(/^(previous|conversation|input\[0\]|prompt)/),
		]);
	});
});

test.each([
	['previous_response_id', { previous_response_id: 'resp_1' }],
	['conversation', { conversation: 'conv_1' }],
	['input', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
	['input', { input: [{ type: 'reasoning', id: 'rs_1', summary: [] }] }],
])('the worst case of a reference in %s is the whole context, because stored input has any size', async (_param, members) => {
	const bench = createBench({ budgets: { ...testSettings.budgets, reservation: 'worst_case' } });
	await create(bench, 'red', { max_output_tokens: 16 });
	await bench.ask(path, JSON.stringify({ model: 'gpt-5-mini', input: 'Hi', max_output_tokens: 16, ...members }), of('red'), {
		id: 'req-2',
	});
	const rows = new Map((await bench.ledger.list({ limit: 9 })).rows.map(({ id, reservedNanoUsd }) => [id, reservedNanoUsd]));
	expect(rows.get('req-2')).toBeGreaterThan(100n * (rows.get('req-1') ?? 0n));
});

describe('an item with its own content', () => {
	const message = { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] };
	const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' };

	test('passes with an unknown id, and with one of its own team', async () => {
		const bench = createBench();
		expect((await create(bench, 'red', { input: [message, reasoning] })).status).toBe(200);
		expect((await create(bench, 'red', { input: [message, reasoning] })).status).toBe(200);
	});

	test.each([message, reasoning])('is rejected with the id of another team', async (item) => {
		const bench = createBench();
		await create(bench, 'red', {});
		expect(summaryOf(await create(bench, 'blue', { input: [item] }))).toBe('404 response_not_found');
	});
});

describe('a container of a hosted tool', () => {
	const code = { type: 'code_interpreter_call', id: 'ci_1', container_id: 'cntr_1', code: 'x', outputs: [] };
	const shell = {
		type: 'shell_call',
		id: 'sh_1',
		call_id: 'c',
		action: {},
		environment: { type: 'container_reference', container_id: 'cntr_1' },
	};
	const uses: readonly (readonly [string, object])[] = [
		['tools[0].container', { tools: [{ type: 'code_interpreter', container: 'cntr_1' }] }],
		['tools[0].environment.container_id', { tools: [{ type: 'shell', environment: shell.environment }] }],
		[
			'input[0].tools[0].container',
			{ input: [{ type: 'additional_tools', role: 'developer', tools: [{ type: 'code_interpreter', container: 'cntr_1' }] }] },
		],
		[
			'input[0].container_id',
			{
				input: [
					{ ...code, id: 'ci_2' },
					{ role: 'user', content: 'x' },
				],
			},
		],
		[
			'input[0].environment.container_id',
			{
				input: [
					{ ...shell, id: 'sh_2' },
					{ role: 'user', content: 'x' },
				],
			},
		],
	];

	describe.each([code, shell])('in an item %j', (item) => {
		test.each(uses.flatMap((use) => [true, false].map((store) => [...use, store] as const)))(
			'belongs to its team: %s %j, store %s',
			async (param, members, store) => {
				const bench = createBench();
				bench.respond = () => jsonResponse(200, JSON.stringify({ ...storedResponse, output: [item] }));
				expect((await create(bench, 'red', { store })).status).toBe(200);
				expect((await create(bench, 'red', members)).status).toBe(200);
				const response = await create(bench, 'blue', members);
				expect([summaryOf(response), errorOf(response).error.param]).toEqual(['404 response_not_found', param]);
			},
		);
	});

	test('belongs to its team in a stream that is not stored', async () => {
		const bench = createBench();
		const hand = new HandStream();
		bench.respond = () => sseResponse(hand);
		readStream(await create(bench, 'red', { stream: true, store: false }));
		hand.write(`data: ${JSON.stringify({ type: 'response.output_item.done', output_index: 0, item: code })}\n\n`);
		await settle();
		expect(await ownersIn(bench.owners, ['cntr_1', 'ci_1'])).toEqual({ cntr_1: 'team-red' });
	});

	test.each(uses.slice(0, 3))('is rejected without state: %s', async (param, members) => {
		const response = await create(createBench({ responses: { state: 'off', retentionMs: dayMs } }), 'red', members);
		expect([summaryOf(response), errorOf(response).error.param]).toEqual(['400 field_invalid', param]);
	});

	test('that the provider creates is accepted without state', async () => {
		const bench = createBench({ responses: { state: 'off', retentionMs: dayMs } });
		expect((await create(bench, 'red', { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] })).status).toBe(200);
	});
});

const stored = [
	['GET', 'resp_1', '/v1/responses/resp_1'],
	['GET', 'resp_1?include[]=reasoning.encrypted_content', '/v1/responses/resp_1?include[]=reasoning.encrypted_content'],
	['DELETE', 'resp_1', '/v1/responses/resp_1'],
	['POST', 'resp_1/cancel', '/v1/responses/resp_1/cancel'],
	['GET', 'resp_1/input_items?limit=5', '/v1/responses/resp_1/input_items?limit=5'],
] as const;

describe.each(stored)('%s /v1/responses/%s', (method, below, target) => {
	test('reaches the provider that stores the response, without a body and without cost', async () => {
		const bench = createBench();
		await create(bench, 'red', {});
		bench.respond = () => jsonResponse(200, '{"id":"resp_1","output":[]}');
		const response = await request(bench, 'red', method, below);
		expect([response.status, textOf(response)]).toEqual([200, '{"id":"resp_1","output":[]}']);
		expect(bench.sent[1]).toMatchObject({ method, origin: 'https://b.test', target, body: null });
		expect(bench.sent[1]?.headers['authorization']).toBe('Bearer sk-proj-secret-key-abcd');
		expect(response.record).toMatchObject({ team: 'team-red', provider: 'provider_b', model: 'gpt-5-mini', upstreamStatus: 200 });
		await bench.gateway.settled();
		expect((await bench.ledger.list({ limit: 9 })).rows).toHaveLength(1);
	});

	test('is unknown to another team, and nothing is sent', async () => {
		const bench = createBench();
		await create(bench, 'red', {});
		const response = await request(bench, 'blue', method, below);
		expect([summaryOf(response), errorOf(response).error.param]).toEqual(['404 response_not_found', 'response_id']);
		expect(bench.sent).toHaveLength(1);
		expect(errorOf(await request(createBench(), 'blue', method, below)).error).toEqual(errorOf(response).error);
	});

	test('is unknown without state', async () => {
		const bench = createBench({ responses: { state: 'off', retentionMs: dayMs } });
		await bench.owners.note(['resp_1'], {
			team: 'team-red',
			provider: 'provider_b',
			model: 'gpt-5',
			expiresAtMs: bench.clock.nowMs() + dayMs,
		});
		expect(summaryOf(await request(bench, 'red', method, below))).toBe('404 response_not_found');
	});

	test('needs an access token', async () => {
		const bench = createBench({}, { verifier: { verify: () => Promise.reject(new UpstreamError('key_set_unavailable')) } });
		expect((await request(bench, 'red', method, below)).status).toBe(503);
		expect((await bench.ask(`${path}/${below}`, '', { authorization: '' }, { method })).status).toBe(401);
	});

	test('counts toward a limit of its own, ten times the requests per minute', async () => {
		const standard = { requestsPerMinute: 1, dailyTokens: null, monthlyBudgetUsd: null };
		const bench = createBench({ tiers: { sandbox: standard, standard } });
		const ask = (id: string) => bench.ask(`${path}/${below}`, '', of('red'), { method, id });
		for (let count = 0; count < 10; count++) expect((await ask(`req-${count}`)).status).toBe(404);
		const rejected = await ask('req-10');
		expect(rejected.status).toBe(429);
		expect(errorOf(rejected).error).toMatchObject({ code: 'rate_limit_exceeded', gateway_code: 'rpm_limit_exceeded' });
		expect((await create(bench, 'red', {})).status).toBe(200);
	});

	test('returns 503 while the owners cannot be read', async () => {
		const bench = createBench();
		bench.owners.find = () => Promise.reject(new UpstreamError('records_unavailable'));
		expect(summaryOf(await request(bench, 'red', method, below))).toBe('503 records_unavailable');
	});

	test('is unknown if the provider does not know it, in the gateway’s words', async () => {
		const bench = createBench();
		await create(bench, 'red', {});
		bench.respond = () => jsonResponse(404, '{"error":{"message":"No response in project proj_secret"}}');
		const response = await request(bench, 'red', method, below);
		expect([summaryOf(response), textOf(response).includes('proj_secret')]).toEqual(['404 response_not_found', false]);
	});

	test('passes an error of the provider', async () => {
		const bench = createBench();
		await create(bench, 'red', {});
		bench.respond = () => jsonResponse(400, '{"error":{"message":"cannot"}}');
		const response = await request(bench, 'red', method, below);
		expect([response.status, textOf(response)]).toEqual([400, '{"error":{"message":"cannot"}}']);
	});
});

describe('a stored response', () => {
	test('is unknown after its deletion, which a failed one does not change', async () => {
		const bench = createBench();
		await create(bench, 'red', {});
		bench.respond = () => jsonResponse(500, '{"error":{"message":"busy"}}');
		expect((await request(bench, 'red', 'DELETE', 'resp_1')).status).toBe(502);
		bench.respond = () => jsonResponse(200, '{"id":"resp_1","object":"response","deleted":true}');
		expect((await request(bench, 'red', 'DELETE', 'resp_1')).status).toBe(200);
		expect(summaryOf(await request(bench, 'red', 'GET', 'resp_1'))).toBe('404 response_not_found');
		expect(bench.sent).toHaveLength(3);
	});

	test.each(['..', '%2e%2e', 'resp_1%2fcancel', 'resp 1', 'résp', 'a'.repeat(257), 'resp_1;x'])('has no id like %s', async (id) => {
		const bench = createBench();
		await bench.owners.note([id], { team: 'team-red', provider: 'provider_b', model: 'gpt-5', expiresAtMs: bench.clock.nowMs() + dayMs });
		expect(summaryOf(await request(bench, 'red', 'GET', id))).toBe('404 response_not_found');
		expect(bench.sent).toEqual([]);
	});

	test.each([
		['PUT', 'resp_1', 'GET, DELETE'],
		['GET', 'resp_1/cancel', 'POST'],
		['GET', 'compact', 'POST'],
	])('%s %s is not allowed', async (method, below, allow) => {
		const response = await request(createBench(), 'red', method, below);
		expect([response.status, response.headers['allow']]).toEqual([405, allow]);
	});

	test('resumes as a stream, of which nothing is billed again', async () => {
		const bench = createBench();
		await create(bench, 'red', {});
		const stream = new HandStream();
		bench.respond = () => sseResponse(stream);
		const { reader } = readStream(await request(bench, 'red', 'GET', 'resp_1?stream=true&starting_after=4'));
		const event = `event: response.completed\ndata: ${JSON.stringify({ type: 'response.completed', sequence_number: 5, response: storedResponse })}\n\n`;
		stream.write(event);
		stream.sink?.end();
		await settle();
		expect([reader.ending, reader.text]).toEqual(['ended', event]);
		expect(bench.sent[1]?.target).toBe('/v1/responses/resp_1?stream=true&starting_after=4');
		await bench.gateway.settled();
		expect((await bench.ledger.list({ limit: 9 })).rows).toHaveLength(1);
	});

	test('gives its input items to the team, which may refer to them', async () => {
		const bench = createBench();
		await create(bench, 'red', {});
		bench.respond = () => jsonResponse(200, '{"object":"list","data":[{"id":"msg_in","type":"message","role":"user","content":[]}]}');
		await request(bench, 'red', 'GET', 'resp_1/input_items');
		expect(await ownersIn(bench.owners, ['msg_in'])).toEqual({ msg_in: 'team-red' });
	});
});

describe('guardrails', () => {
	const guardrails = guardrailsWith({ pii: piiRules('none', { email: 'block' }) });
	const leak = JSON.stringify({
		...storedResponse,
		output: [{ type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'Ask ada@example.com' }] }],
	});
	const page = JSON.stringify({
		object: 'list',
		data: [{ type: 'message', id: 'msg_1', role: 'user', content: [{ type: 'input_text', text: 'Ask ada@example.com' }] }],
	});

	test.each([
		['GET', 'resp_1', leak],
		['POST', 'resp_1/cancel', leak],
		['GET', 'resp_1/input_items', page],
	] as const)('block a stored response like a fresh one (%s %s)', async (method, below, body) => {
		const bench = createBench({ guardrails });
		bench.respond = () => jsonResponse(200, body);
		await bench.owners.note(['resp_1'], {
			team: 'team-red',
			provider: 'provider_b',
			model: 'gpt-5',
			expiresAtMs: bench.clock.nowMs() + dayMs,
		});
		const response = await request(bench, 'red', method, below);
		expect(summaryOf(response)).toBe('400 guardrail_blocked');
	});
});

test('guardrails block a resumed stream like a fresh one', async () => {
	const bench = createBench({ guardrails: guardrailsWith({ pii: piiRules('none', { email: 'block' }) }) });
	await bench.owners.note(['resp_1'], {
		team: 'team-red',
		provider: 'provider_b',
		model: 'gpt-5',
		expiresAtMs: bench.clock.nowMs() + dayMs,
	});
	const stream = new HandStream();
	bench.respond = () => sseResponse(stream);
	const { reader } = readStream(await request(bench, 'red', 'GET', 'resp_1?stream=true'));
	await settle();
	for (const type of ['response.output_text.delta', 'response.completed']) {
		const event = { type, sequence_number: 1, output_index: 0, content_index: 0, item_id: 'msg_1', delta: 'Ask ada@example.com now' };
		stream.write(`event: ${type}\ndata: ${JSON.stringify(event)}\n\n`);
	}
	stream.sink?.end();
	await settle();
	expect(reader.text).toContain('guardrail_blocked');
	expect(reader.text).not.toContain('ada@');
});

describe('POST /v1/responses/compact', () => {
	const compaction = {
		id: 'resp_c',
		object: 'response.compaction',
		output: [{ type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAA' }],
		usage: storedResponse.usage,
	};
	const compact = (bench: GatewayBench, client: string, members: object) =>
		bench.ask(`${path}/compact`, JSON.stringify({ model: 'gpt-5-mini', input: 'Hi', ...members }), of(client));

	test.each(['off', 'owner'] as const)('passes unchanged and is billed like an inference request (state %s)', async (state) => {
		const bench = createBench({ responses: { state, retentionMs: dayMs } });
		bench.respond = () => jsonResponse(200, JSON.stringify(compaction));
		const response = await compact(bench, 'red', {});
		expect([response.status, textOf(response)]).toEqual([200, JSON.stringify(compaction)]);
		const [sent] = bench.sent;
		expect([sent?.target, sent && sentText(sent)]).toEqual(['/v1/responses/compact', '{"model":"gpt-5-mini","input":"Hi"}']);
		await bench.gateway.settled();
		const [row] = (await bench.ledger.list({ limit: 9 })).rows;
		expect(row?.closed).toMatchObject({ outcome: 'complete', usage: { inputTokens: 5, outputTokens: 7 } });
	});

	test('is bound by owner', async () => {
		const bench = createBench();
		await create(bench, 'red', {});
		expect(summaryOf(await compact(bench, 'blue', { previous_response_id: 'resp_1' }))).toBe('404 response_not_found');
		expect((await compact(bench, 'red', { previous_response_id: 'resp_1', input: undefined })).status).toBe(200);
		const off = createBench({ responses: { state: 'off', retentionMs: dayMs } });
		expect(summaryOf(await compact(off, 'red', { previous_response_id: 'resp_1' }))).toBe('400 field_invalid');
	});

	test('gets no output cap, which it does not know', async () => {
		const bench = createBench({ budgets: { ...testSettings.budgets, reservation: 'worst_case' } });
		await compact(bench, 'red', {});
		const [sent] = bench.sent;
		expect(sent && sentText(sent)).toBe('{"model":"gpt-5-mini","input":"Hi"}');
	});

	test('reserves the output of the model, whatever cap the client sends', async () => {
		const reserved = async (members: object): Promise<bigint | undefined> => {
			const bench = createBench({ budgets: { ...testSettings.budgets, reservation: 'worst_case' } });
			await compact(bench, 'red', members);
			return (await bench.ledger.list({ limit: 9 })).rows[0]?.reservedNanoUsd;
		};
		expect(await reserved({ max_output_tokens: 1 })).toBeGreaterThanOrEqual((await reserved({})) ?? 0n);
	});

	test('is rejected for providers of other formats', async () => {
		const response = await compact(createBench(), 'red', { model: 'claude-opus-5' });
		expect([response.status, errorOf(response).error.param]).toEqual([400, 'model']);
	});
});

test('expired owners are removed once in ten minutes', async () => {
	const bench = createBench();
	let sweeps = 0;
	const { sweep } = bench.owners;
	bench.owners.sweep = (maxIds) => {
		sweeps++;
		return sweep(maxIds);
	};
	await create(bench, 'red', {});
	bench.respond = () => jsonResponse(200, '{"id":"resp_2"}');
	await create(bench, 'red', {});
	expect(sweeps).toBe(1);
	bench.clock.advance(600_000);
	bench.respond = () => jsonResponse(200, '{"id":"resp_3"}');
	await create(bench, 'red', {});
	expect(sweeps).toBe(2);
});
