/**
 * Moderation providers per team, over HTTP: outcomes of each team's requests, results of `/explain`, and immediate effect of changed rules.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { agent, eventually, freePort, operator, type Product, startProduct } from '../support/product.ts';

let product: Product;
let adminUrl: string;
const accessTokens: Record<string, string> = {};
let adminToken: string;

beforeAll(async () => {
	const adminPort = await freePort();
	adminUrl = `http://127.0.0.1:${adminPort}`;
	product = await startProduct((simulatorUrl) => {
		const engine = { kind: 'openai-moderation', base_url: `${simulatorUrl}/openai/v1`, api_key: 'sk-1', allow_private_network: true };
		return {
			roles: ['edge', 'gateway', 'admin', 'identity', 'simulator'],
			enable_admin_api: true,
			admin: { listen: `127.0.0.1:${adminPort}` },
			enable_guardrails: true,
			enforce_guardrails: true,
			guardrails: {
				content: { enabled: false },
				moderation_providers: [
					{ name: 'first', ...engine, usd_per_thousand_units: '2' },
					{ name: 'second', ...engine, action: 'none' },
				],
				teams: { operator: { moderation: 'log', 'moderation.second': 'none' } },
			},
		};
	});
	for (const client of [agent, operator]) accessTokens[client.id] = await product.accessToken(client, 'tollgate/invoke');
	adminToken = await product.accessToken(operator, 'tollgate/admin');
}, 30_000);
afterAll(() => product.stop());

const harmful = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Please simulate-hate now' }] };

async function ask(team: string): Promise<{ status: number; id: string }> {
	const response = await fetch(`${product.gatewayUrl}/v1/chat/completions`, {
		method: 'POST',
		headers: { authorization: `Bearer ${accessTokens[team]}`, 'content-type': 'application/json' },
		body: JSON.stringify(harmful),
	});
	await response.text();
	return { status: response.status, id: response.headers.get('x-request-id') ?? '' };
}

async function admin(path: string, body?: object): Promise<unknown> {
	const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
	const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
	return (await fetch(adminUrl + path, { ...init, headers })).json();
}

const assessmentsOf = (id: string): Promise<string[]> =>
	eventually(`assessments of ${id}`, async () => {
		const { data } = (await admin(`/guardrails/assessments?request_id=${id}&stage=input`)) as { data: Record<string, string>[] };
		return data.length === 0 ? undefined : data.map(({ category, action }) => `${category} ${action}`).toSorted();
	});

const moderationProvidersOf = async (client: string): Promise<unknown> => {
	const explained = (await admin('/explain', { client_id: client, format: 'chat', body: harmful })) as {
		guardrails: { moderation_providers: unknown } | null;
	};
	return explained.guardrails?.moderation_providers;
};

it('a team has the deployment’s moderation rules, or its own, and a changed one after a reload', async () => {
	const blocked = await ask(agent.id);
	expect(blocked.status).toBe(400);
	expect(await assessmentsOf(blocked.id)).toEqual(['first.hate BLOCK']);
	expect(await moderationProvidersOf(agent.id)).toEqual([{ name: 'first', rule: 'block', mode: 'enforce' }]);

	const noted = await ask(operator.id);
	expect(noted.status).toBe(200);
	expect(await assessmentsOf(noted.id)).toEqual(['first.hate NONE']);
	expect(await moderationProvidersOf(operator.id)).toEqual([{ name: 'first', rule: 'log', mode: 'enforce' }]);

	const config = JSON.parse(readFileSync(product.configPath, 'utf8')) as { guardrails: { teams: object } };
	config.guardrails.teams = { agent: { moderation: 'none' }, operator: { 'moderation.second': 'block' } };
	writeFileSync(product.configPath, JSON.stringify(config));
	product.process.kill('SIGHUP');
	await eventually('the new rules', async () => ((await ask(operator.id)).status === 400 ? true : undefined));
	expect(await assessmentsOf((await ask(operator.id)).id)).toEqual(['first.hate BLOCK', 'second.hate BLOCK']);
	expect(await moderationProvidersOf(operator.id)).toEqual([
		{ name: 'first', rule: 'block', mode: 'enforce' },
		{ name: 'second', rule: 'block', mode: 'enforce' },
	]);
	expect((await ask(agent.id)).status).toBe(200);
	expect(await moderationProvidersOf(agent.id)).toEqual([]);
});

it('the cost of moderation providers is reported, at the configured price', async () => {
	const text = await (await fetch(`${adminUrl}/metrics`, { headers: { authorization: `Bearer ${adminToken}` } })).text();
	const measurement = (series: string): number =>
		Number(new RegExp(`^${series.replaceAll(/[{}"]/g, '\\$&')} (.*)$`, 'm').exec(text)?.[1] ?? 0);
	const units = measurement('tollgate_moderation_usage_total{moderation_provider="first",unit="units"}');
	expect(units).toBeGreaterThan(0);
	expect(measurement('tollgate_moderation_cost_usd_total{moderation_provider="first"}')).toBeCloseTo(units * 0.002, 9);
	// OpenAI's moderation is free of charge, which is not an unknown price.
	expect(measurement('tollgate_moderation_usage_total{moderation_provider="second",unit="units"}')).toBeGreaterThan(0);
	expect(text).not.toMatch(/^tollgate_moderation_(?:cost_usd_total\{moderation_provider="second"|unpriced_total\{)/m);
});
