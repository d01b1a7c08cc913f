import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { jsonSchema } from './json-schema.ts';
import { parseConfig } from './load.ts';
import { configurationReference } from './reference.ts';
import { configSchema } from './schema.ts';

const root = new URL('../../', import.meta.url);
const sample = readFileSync(new URL('tollgate.example.yaml', root), 'utf8');

describe('what is published', () => {
	// Run `npx vitest run src/config --update` to write both files again.
	it('config.schema.json is current', async () => {
		await expect(`${JSON.stringify(jsonSchema(), null, '\t')}\n`).toMatchFileSnapshot(new URL('config.schema.json', root).pathname);
	});

	it('docs/reference/configuration.md is current', async () => {
		await expect(`${configurationReference()}\n`).toMatchFileSnapshot(new URL('docs/reference/configuration.md', root).pathname);
	});

	it('the sample is valid, names its schema and mentions every top-level key', () => {
		expect(sample.split('\n')[0]).toBe('# yaml-language-server: $schema=./config.schema.json');
		const { config } = parseConfig(sample, { file: 'tollgate.example.yaml', env: {} });
		expect(Object.keys(parse(sample) as object).toSorted()).toEqual(Object.keys(configSchema.shape).toSorted());
		expect(config).toEqual(parseConfig('', { file: null, env: {} }).config);
	});
});

describe('the JSON Schema', () => {
	const schema = z.fromJSONSchema(jsonSchema() as Parameters<typeof z.fromJSONSchema>[0]);

	it.each([
		sample,
		'',
		'gateway:\nproviders:\n  provider_a: { api_key: x }',
		'gateway: { max_body_bytes: "${MAX:-1}", listen: "${L}" }\nenable_budgets: ${B}\ngate: 1'.replace('\ngate: 1', ''),
		'tiers: { standard: { rpm: 5 }, x: { rpm: null, daily_tokens: "${T}", monthly_budget_usd: 5 } }',
		'teams: { unregistered_clients: reject }',
		'providers: { d: { kind: azure-openai, base_url: "https://x.example", deployments: { a: } } }',
	])('accepts %j', (text) => {
		expect(schema.safeParse(parse(text)).error).toBeUndefined();
	});

	it.each([
		'gatway: {}',
		'gateway: { listen: nowhere }',
		'gateway: { max_body_bytes: lots }',
		'gateway: { max_body_bytes: -1 }',
		'budgets: { reservation: maybe }',
		'providers: { provider_a: { kind: antropic } }',
		'teams: { unregistered_clients: refuse }',
		'edge: { firewall: { per_ip: { request: 1 } } }',
	])('rejects %j', (text) => {
		expect(schema.safeParse(parse(text)).success).toBe(false);
	});

	it('gives no secret a default', () => {
		const text = JSON.stringify(jsonSchema());
		expect(text).not.toContain('REPLACE_ME"');
		expect(text).toContain('"$schema":"https://json-schema.org/draft/2020-12/schema"');
	});
});
