import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseConfig } from './load.ts';
import { redactedYaml } from './redacted-config.ts';
import type { Config } from './schema.ts';
import { alternatives, isSecret, type SchemaNode, schemaTree } from './schema-tree.ts';
import { changesBetween } from './watch.ts';

const parse = (text: string): Config => parseConfig(text, { file: 'tollgate.yaml', env: {} }).config;

const withSecrets = (secret: string): string =>
	JSON.stringify({
		providers: { provider_a: { api_key: secret, headers: { 'x-key': secret } }, mine: { kind: 'openai', api_key: secret } },
		identity: { clients: [{ id: 'a', secret }] },
		guardrails: { moderation_providers: [{ name: 'e', kind: 'openai-moderation', api_key: secret }] },
	});

describe('redactedYaml', () => {
	it('shows no secret, wherever it stands', () => {
		fc.assert(
			fc.property(fc.stringMatching(/^[A-Za-z0-9$#'"&*]{9,30}$/), (secret) => {
				const shown = redactedYaml(parse(withSecrets(`sk-${secret}`.replaceAll('$', '-'))));
				expect(shown).not.toContain('sk-');
				expect(shown.match(/\*\*\*/g)).toHaveLength(5);
			}),
			{ numRuns: 20 },
		);
	});

	it('tells whether a key is set at all', () => {
		expect(redactedYaml(parse(''))).toContain('api_key: REPLACE_ME');
		expect(redactedYaml(parse(''))).toContain('records: sqlite');
	});

	it('gives a configuration that amounts to the same', () => {
		const config = parse(
			'tiers: { trial: { rpm: 1, daily_tokens: null, monthly_budget_usd: 2 } }\nrouting: { aliases: { a$: "provider_a/$${b}" } }',
		);
		expect(parse(redactedYaml(config))).toEqual(config);
	});
});

/** Every setting with its path, including those of lists and named entries. */
function everySetting(node: SchemaNode = schemaTree, path = ''): [path: string, node: SchemaNode][] {
	return [
		...Object.entries(node.properties ?? {}).flatMap(([key, child]): [string, SchemaNode][] => [
			[`${path}.${key}`, child],
			...alternatives(child).flatMap((inner) => everySetting(inner, `${path}.${key}`)),
		]),
		...(typeof node.additionalProperties === 'object' ? everySetting(node.additionalProperties, `${path}.*`) : []),
		...(node.items === undefined ? [] : everySetting(node.items, `${path}[]`)),
	];
}

describe('the schema', () => {
	it('marks everything that is called a key or a secret as secret', () => {
		const named = everySetting().filter(([path]) => /(key|secret|secret_hash|password)$/.test(path));
		expect(named.length).toBeGreaterThanOrEqual(4);
		expect(named.filter(([, node]) => !isSecret(alternatives(node)))).toEqual([]);
	});

	it('describes every setting in one sentence', () => {
		const undescribed = everySetting().filter(([, node]) => !/^\S.*\.$/.test(node.description ?? ''));
		expect(undescribed.map(([path]) => path)).toEqual([]);
	});
});

describe('changesBetween', () => {
	it('finds nothing between equals', () => {
		expect(changesBetween(parse(withSecrets('s')), parse(withSecrets('s')))).toEqual([]);
	});

	it('names what was added, taken away and changed, secrets redacted', () => {
		const before = parse('providers: { mine: { kind: openai, api_key: sk-1 } }\nidentity: { clients: [{ id: a, secret: sk-2 }] }');
		const after = parse('identity: { clients: [{ id: b, secret: sk-3 }] }\nroles: [gateway]\nguardrails: { words: [x] }');
		const changes = changesBetween(before, after);
		expect(changes.map(({ path, before: old, after: current, needsRestart }) => [path, old, current, needsRestart])).toEqual([
			['roles', ['edge', 'gateway', 'admin', 'identity'], ['gateway'], true],
			['identity.clients[0].id', 'a', 'b', false],
			['identity.clients[0].secret', '***', '***', false],
			['providers.mine', expect.objectContaining({ kind: 'openai', api_key: '***' }), undefined, false],
			['guardrails.words', [], ['x'], false],
		]);
	});
});
