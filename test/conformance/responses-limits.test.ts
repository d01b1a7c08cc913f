/** Limits, budgets, guardrails, warnings, explanations and metrics of the Responses API over HTTP, also where its streams are translated. */

import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseEvents } from '../support/event-stream.ts';
import { readExposition, type Series, valueOf } from '../support/exposition.ts';
import { eventually, freePort } from '../support/product.ts';
import { compatibleServer } from './compatible-providers.ts';
import { describeOwn, type Subject, send, useSubject } from './subject.ts';

const path = '/v1/responses';
/** One model for each way to a provider: passthrough, Claude, Gemini and chat completions. */
const models = ['gpt-5-mini', 'claude-sonnet-4-5', 'gemini-2.5-flash', 'server/gpt-4o'] as const;
const translated = models.slice(1);

interface Reported {
	readonly status: number;
	readonly headers: Headers;
	readonly text: string;
	/** Names of the events, without repetitions in a row. */
	readonly events: readonly string[];
	/** Data of the events. */
	readonly data: readonly Readonly<Record<string, unknown>>[];
}

async function ask(subject: Subject, body: object, accessToken?: string): Promise<Reported> {
	const response = await send(subject, path, { body, ...(accessToken !== undefined && { accessToken }) });
	const text = await response.text();
	const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
	const { events } = isStream ? parseEvents(text) : { events: [] };
	return {
		status: response.status,
		headers: response.headers,
		text,
		events: events.map(({ name = '' }) => name).filter((name, index, all) => name !== all[index - 1]),
		data: events.map(({ data }) => JSON.parse(data) as Readonly<Record<string, unknown>>),
	};
}

/** Number of requests that providers received, whether or not they have ended. */
async function requestsOf(subject: Subject): Promise<number> {
	return (await subject.simulator.requests('?limit=10000')).length;
}

function errorOf({ text }: Reported): unknown {
	return (JSON.parse(text) as { error?: unknown }).error;
}

const unlimited = { rpm: null, daily_tokens: null, monthly_budget_usd: null };
const counted = { id: 'counted', secret: 'secret-of-the-counted-0123456789' };
const hurried = { id: 'hurried', secret: 'secret-of-the-hurried-0123456789' };
const poor = { id: 'poor', secret: 'secret-of-the-poor-0123456789' };

describeOwn('Responses under limits', 'a configuration of its own', () => {
	const subject = useSubject((simulatorUrl) => ({
		providers: { server: compatibleServer(simulatorUrl) },
		identity: { clients: [counted, hurried, poor].map((client) => ({ ...client, scopes: ['invoke'] })) },
		tiers: {
			counted: { ...unlimited, daily_tokens: 1 },
			hurried: { ...unlimited, rpm: 1 },
			poor: { ...unlimited, monthly_budget_usd: '0.000001' },
		},
		teams: {
			registered: ['counted', 'hurried', 'poor'].map((id) => ({ id, tier: id, client_ids: [id] })),
		},
	}));

	it.each([
		[counted, 'insufficient_quota', 'daily_token_limit_exceeded', 'false'],
		[hurried, 'rate_limit_exceeded', 'rpm_limit_exceeded', null],
		[poor, 'insufficient_quota', 'budget_exceeded', 'false'],
	] as const)('$0.id: the code by which clients stop or wait is $1', async (client, code, gatewayCode, shouldRetry) => {
		const accessToken = (await subject.current.product?.accessToken(client)) ?? '';
		// A team’s first request passes, because nothing was charged before it.
		await ask(subject.current, { model: models[0], input: 'Say hello.' }, accessToken);
		const before = await requestsOf(subject.current);
		for (const model of models) {
			for (const stream of [false, true]) {
				const rejected = await ask(subject.current, { model, input: 'Say hello.', stream }, accessToken);
				expect([model, rejected.status, errorOf(rejected)]).toMatchObject([model, 429, { code, gateway_code: gatewayCode }]);
				expect(rejected.headers.get('x-should-retry')).toBe(shouldRetry);
				expect(Number(rejected.headers.get('retry-after') ?? '0')).toBeLessThanOrEqual(60);
			}
		}
		expect(await requestsOf(subject.current)).toBe(before);
	});
});

const stopPort = await freePort();

describeOwn('Responses: a stream that its budget stops', 'a configuration of its own', () => {
	describe.each(['error', 'length'] as const)('with `stopped_stream: %s`', (ending) => {
		const subject = useSubject((simulatorUrl) => ({
			enable_admin_api: true,
			roles: ['edge', 'gateway', 'identity', 'simulator', 'admin'],
			admin: { listen: `127.0.0.1:${stopPort}` },
			budgets: { reservation: 'estimate', on_stream_over: 'stop', stopped_stream: ending },
			teams: { registered: [{ id: 'red', tier: 'enterprise', client_ids: ['agent'] }] },
			providers: { server: compatibleServer(simulatorUrl) },
		}));
		const admin = async (method: string, adminPath: string, body: object): Promise<void> => {
			const { product, adminClient, scopeBase } = subject.current;
			const accessToken = await product?.accessToken(adminClient, `${scopeBase}/admin`);
			const response = await fetch(`http://127.0.0.1:${stopPort}${adminPath}`, {
				method,
				headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
				body: JSON.stringify(body),
			});
			expect([response.ok, await response.text()]).toEqual([true, expect.anything()]);
		};
		beforeAll(async () => {
			await subject.current.simulator.change({ interval_ms: 2, first_byte_ms: 0 });
		});

		it.each([
			['provider_b', 'gpt-5-mini'],
			['provider_a', 'claude-sonnet-4-5'],
			['provider_c', 'gemini-2.5-flash'],
			['server', 'server/gpt-4o'],
		])('ends the response at %s', async (provider, base) => {
			const model = `${base}-sim-tokens-4000`;
			const price = { input_usd_per_million_tokens: '1', output_usd_per_million_tokens: '10000' };
			await admin('PUT', `/pricing/${provider}/${encodeURIComponent(model.replace(/^server\//, ''))}`, price);
			const id = `stop-${provider.replace('_', '-')}-${ending}`;
			await admin('POST', '/budgets', { id, team: 'red', model: model.replace(/^server\//, ''), limit_usd: '4' });
			const stopped = await ask(subject.current, { model, input: 'Say much.', stream: true, max_output_tokens: 8000 });
			expect(stopped.status).toBe(200);
			const last = stopped.data.at(-1);
			if (ending === 'length') {
				expect(stopped.events.at(-1)).toBe('response.incomplete');
				expect(last).toMatchObject({ response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } } });
			} else {
				expect(stopped.events.slice(-2)).toEqual(['error', 'response.failed']);
				expect(stopped.data.at(-2)).toMatchObject({ code: 'insufficient_quota', error: { code: 'insufficient_quota' } });
				expect(last).toMatchObject({ response: { status: 'failed', error: { code: 'insufficient_quota' } } });
			}
			expect(stopped.data.map(({ sequence_number: number }) => number)).toEqual(stopped.data.map((_event, index) => index));
		});
	});
});

/** Sets the model's next output, whatever the prompt. */
async function scriptModel(subject: Subject, script: object): Promise<void> {
	const response = await fetch(`${subject.product?.simulatorUrl}/_simulator/script`, { method: 'POST', body: JSON.stringify(script) });
	expect(response.ok).toBe(true);
}

const words = { enable_guardrails: true, guardrails: { words: ['darkfish'], content: { enabled: false } } };
const tools = [
	{ type: 'function', name: 'note', parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } },
	{ type: 'custom', name: 'free' },
];

/** Places of a blocked word in a model's output. */
const outputs: readonly (readonly [place: string, script: object])[] = [
	['text', { pieces: ['It is fine. ', 'A dark', 'fish, and so on.'] }],
	['arguments', { text: '', calls: [{ name: 'note', input: { text: 'A darkfish' } }] }],
	['input of a custom tool', { text: '', calls: [{ name: 'free', input: 'A darkfish' }] }],
	['reasoning', { text: 'Fine.', thinking: 'The user wants a darkfish, so be it.' }],
];

describeOwn('Responses under enforced guardrails', 'a configuration of its own', () => {
	const subject = useSubject((simulatorUrl) => ({
		...words,
		enforce_guardrails: true,
		providers: { server: compatibleServer(simulatorUrl) },
	}));

	describe.each(models)('on %s', (model) => {
		it.each(outputs)('a blocked word in the model’s %s is not delivered', async (place, script) => {
			// OpenAI and its compatible servers show no reasoning in chat completions.
			if (place === 'reasoning' && model === 'server/gpt-4o') return;
			for (const stream of [false, true]) {
				// A provider of another dialect has a function in place of the custom tool.
				const isFunction = place === 'input of a custom tool' && model !== models[0];
				await scriptModel(subject.current, isFunction ? { text: '', calls: [{ name: 'free', input: { input: 'A darkfish' } }] } : script);
				const blocked = await ask(subject.current, {
					model,
					input: 'Say it.',
					stream,
					tools,
					reasoning: model === 'server/gpt-4o' ? undefined : { effort: 'medium', summary: 'auto' },
				});
				expect([blocked.status, blocked.text.includes('guardrail_blocked')]).toEqual([stream ? 200 : 400, true]);
				expect(blocked.text).not.toMatch(/darkfish|"fish|response\.(?:completed|incomplete)/);
				// Without an event before it, there is no response that could fail.
				if (stream) expect(blocked.events.slice(-2)).toEqual(['error', 'response.failed'].slice(0, blocked.events.length));
			}
		});

		it.each<[string, object]>([
			['instructions', { instructions: 'A darkfish', input: 'Hi' }],
			['input', { input: 'A darkfish' }],
			[
				'message',
				{
					input: [
						{ role: 'developer', content: [{ type: 'input_text', text: 'A darkfish' }] },
						{ role: 'user', content: 'Hi' },
					],
				},
			],
			[
				'arguments',
				{
					input: [
						{ role: 'user', content: 'Hi' },
						{ type: 'function_call', call_id: 'c', name: 'note', arguments: '{"text":"A darkfish"}' },
						{ type: 'function_call_output', call_id: 'c', output: 'ok' },
					],
				},
			],
			[
				'output',
				{
					input: [
						{ role: 'user', content: 'Hi' },
						{ type: 'custom_tool_call', call_id: 'c', name: 'free', input: 'x' },
						{ type: 'custom_tool_call_output', call_id: 'c', output: [{ type: 'input_text', text: 'A darkfish' }] },
					],
				},
			],
			[
				'tools within the conversation',
				{
					input: [
						{
							type: 'additional_tools',
							role: 'developer',
							tools: [
								{ type: 'namespace', name: 'n', description: 'x', tools: [{ type: 'custom', name: 'f', description: 'A darkfish' }] },
							],
						},
						{ role: 'user', content: 'Hi' },
					],
				},
			],
		])('a blocked word in %s reaches no provider', async (_place, members) => {
			const before = await requestsOf(subject.current);
			const blocked = await ask(subject.current, { model, ...members });
			expect([blocked.status, errorOf(blocked)]).toMatchObject([400, { code: 'guardrail_blocked' }]);
			expect(await requestsOf(subject.current)).toBe(before);
		});
	});
});

describeOwn('Responses under monitored guardrails', 'a configuration of its own', () => {
	const subject = useSubject((simulatorUrl) => ({
		...words,
		enforce_guardrails: false,
		providers: { server: compatibleServer(simulatorUrl) },
	}));

	it.each(models)('a blocked word on %s is delivered and logged', async (model) => {
		for (const stream of [false, true]) {
			await scriptModel(subject.current, outputs[0]?.[1] ?? {});
			const delivered = await ask(subject.current, { model, input: 'Say it.', stream });
			expect(delivered.status).toBe(200);
			if (stream) expect(delivered.events.at(-1)).toBe('response.completed');
			expect(delivered.text).toContain('A darkfish, and so on.');
			const id = delivered.headers.get('x-request-id');
			await eventually(`the log of ${id}`, () =>
				subject.current.product?.log.find((line) => JSON.stringify(line).includes(`${id}`) && /words|guardrail/.test(JSON.stringify(line))),
			);
		}
	});
});

const [adminPort, metricsPort] = [await freePort(), await freePort()];

describeOwn('Responses: warnings, explanations, metrics and disconnects', 'a configuration of its own', () => {
	const subject = useSubject((simulatorUrl) => ({
		enable_admin_api: true,
		roles: ['edge', 'gateway', 'identity', 'simulator', 'admin'],
		admin: { listen: `127.0.0.1:${adminPort}` },
		metrics: { listen: `127.0.0.1:${metricsPort}`, team_label: true },
		providers: { server: compatibleServer(simulatorUrl) },
	}));
	const untilMoved = (what: string, isMoved: (series: readonly Series[]) => boolean) =>
		eventually(what, async () => {
			const series = readExposition(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text());
			return isMoved(series) ? series : undefined;
		});

	it.each(translated)('names fields that %s cannot have', async (model) => {
		for (const stream of [false, true]) {
			const { status, headers } = await ask(subject.current, {
				model,
				stream,
				input: 'Say hello.',
				truncation: 'auto',
				tools: [{ type: 'web_search' }],
				a_field_of_next_month: true,
			});
			expect(status).toBe(200);
			const warnings = headers.get('x-gateway-warnings') ?? '';
			for (const field of ['truncation', 'tools[0].type', 'a_field_of_next_month']) expect(warnings).toContain(`${field}: `);
		}
	});

	it('gives no warning for a request that is forwarded', async () => {
		const { headers } = await ask(subject.current, { model: models[0], input: 'Say hello.', truncation: 'auto' });
		expect(headers.get('x-gateway-warnings')).toBeNull();
	});

	it.each(models)('explains a request to %s', async (model) => {
		const { product, client, adminClient, scopeBase } = subject.current;
		const file = join(product?.dataDirectory ?? '', 'request.json');
		writeFileSync(file, JSON.stringify({ model, input: 'Say hello.', max_output_tokens: 100, tools: [{ type: 'web_search' }] }));
		const token = (await product?.accessToken(adminClient, `${scopeBase}/admin`)) ?? '';
		const tollgate = join(import.meta.dirname, '../../bin/tollgate');
		const args = [tollgate, 'explain', '--client', client.id, '--format', 'responses', '--body', file, '--json'];
		const env = { PATH: process.env['PATH'], TOLLGATE_ADMIN_URL: `http://127.0.0.1:${adminPort}`, TOLLGATE_ADMIN_TOKEN: token };
		const { stdout } = await promisify(execFile)(process.execPath, args, { env });
		expect(JSON.parse(stdout)).toMatchObject({
			outcome: { admitted: true },
			upstream: { translated: model !== models[0] },
		});
	});

	it('counts requests, tokens and cost by format, provider and model', async () => {
		for (const [model, provider] of [
			['gpt-5-mini', 'provider_b'],
			['claude-sonnet-4-5', 'provider_a'],
			['gemini-2.5-flash', 'provider_c'],
		] as const) {
			const labels = { role: 'gateway', outcome: 'complete', status: '200', format: 'responses', provider };
			const before = readExposition(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text());
			const count = (series: readonly Series[]): number => valueOf(series, 'tollgate_requests_total', labels) ?? 0;
			for (const stream of [false, true]) expect((await ask(subject.current, { model, input: 'Say hello.', stream })).status).toBe(200);
			const after = await untilMoved(`requests of ${model}`, (series) => count(series) - count(before) === 2);
			for (const kind of ['input', 'output']) {
				const tokens = (series: readonly Series[]): number => valueOf(series, 'tollgate_tokens_total', { provider, model, kind }) ?? 0;
				expect(tokens(after) - tokens(before)).toBeGreaterThan(0);
			}
			expect(valueOf(after, 'tollgate_cost_usd_total', { provider, model })).toBeGreaterThan(0);
		}
	});

	it.each(models)('a client that disconnects from a stream of %s ends the request to the provider', async (base) => {
		const model = `${base}-sim-tokens-2000-interval-20-left`;
		const leaving = new AbortController();
		const response = await fetch(`${subject.current.baseUrl}${path}`, {
			method: 'POST',
			headers: { authorization: `Bearer ${await subject.current.accessToken()}`, 'content-type': 'application/json' },
			body: JSON.stringify({ model, input: 'Say much.', stream: true }),
			signal: leaving.signal,
		});
		await response.body?.getReader().read();
		leaving.abort();
		const outcome = await eventually(`the end of ${model}`, async () => {
			const [row] = await subject.current.simulator.requests(`?model=${model.replace(/^server\//, '')}&limit=1`);
			return row?.outcome === 'pending' ? undefined : row?.outcome;
		});
		expect(outcome).toBe('aborted');
	});
});
