/** Requests go only to configured addresses. The test covers every served route, future ones included. */
import { describe, expect, it } from 'vitest';
import { GatewayBench, jsonResponse, testSettings } from '../../../test/support/gateway-bench.ts';

const trap = 'http://203.0.113.66:8080';

const fields = {
	api_base: trap,
	base_url: trap,
	baseURL: trap,
	api_base_url: trap,
	azure_endpoint: trap,
	custom_host: trap,
	endpoint: trap,
	host: '203.0.113.66',
	proxy: trap,
	provider: { base_url: trap },
	litellm_params: { api_base: trap },
	extra_body: { base_url: trap },
	metadata: { api_base: trap },
};

const headers = {
	host: '203.0.113.66:8080',
	'x-forwarded-host': '203.0.113.66',
	'x-original-url': `${trap}/x`,
	'x-rewrite-url': `${trap}/x`,
	'x-portkey-custom-host': trap,
	'x-portkey-config': JSON.stringify({ custom_host: trap }),
	'x-custom-host': trap,
	'x-litellm-api-base': trap,
	'x-api-base': trap,
	'x-base-url': trap,
	'openai-base-url': trap,
	forwarded: 'host=203.0.113.66',
};

const models = [
	'gpt-5',
	'claude-sonnet-4-5',
	'gemini-2.5-flash',
	`${trap}/v1`,
	`provider_b/${trap}`,
	'provider_b/../../x',
	'provider_c/../../../x?key=',
	'provider_c/@203.0.113.66',
	'provider_b/gpt-5#@203.0.113.66',
	'provider_d/x/../..//203.0.113.66',
	'__proto__/x',
];

const configured = new Set(testSettings.providers.map(({ baseUrl }) => new URL(baseUrl ?? '').origin));

describe('destinations', () => {
	const { routes } = new GatewayBench().gateway;

	it('the routes are those that are documented', () => {
		expect(routes.filter(({ method }) => method === 'POST').map(({ path }) => path)).toEqual([
			'/v1/chat/completions',
			'/v1/messages',
			'/v1/responses',
			'/v1/embeddings',
			'/v1/completions',
			'/v1/messages/count_tokens',
			'/v1/responses/compact',
			'/v1/responses/{id}/cancel',
		]);
	});

	it.each(routes)('$method $path', async ({ method, path }) => {
		const bench = new GatewayBench({
			routing: { ...testSettings.routing, providerHeader: 'optional' },
			responses: { state: 'owner', retentionMs: 1 },
		});
		const stored = { team: 'team-1', provider: 'provider_b', model: 'gpt-5', expiresAtMs: bench.clock.nowMs() + 1 };
		await bench.owners.note(['resp_1'], stored);
		bench.respond = () => jsonResponse(302, '{}', { location: `${trap}/v1` });
		for (const model of models) {
			for (const provider of [undefined, 'provider_a', trap, `provider_b@${trap}`]) {
				const body = JSON.stringify({
					...fields,
					model,
					max_tokens: 9,
					messages: [{ role: 'user', content: 'hi' }],
					input: 'hi',
					prompt: 'hi',
				});
				const query = `?api_base=${trap}&base_url=${encodeURIComponent(trap)}&host=203.0.113.66`;
				const more = provider === undefined ? {} : { 'x-gateway-provider': provider };
				const response = await bench.ask(
					`${path.replace('{id}', 'resp_1')}${query}`,
					method === 'POST' ? body : '',
					{ ...headers, ...more },
					{ method },
				);
				expect(response.headers['location'], 'a redirect of the provider’s is not the caller’s').toBeUndefined();
			}
		}
		if (method === 'POST') expect(bench.sent.length).toBeGreaterThan(0);
		for (const { origin, target, headers: sent } of bench.sent) {
			expect(configured).toContain(origin);
			expect(new URL(target, origin).origin).toBe(origin);
			expect(target.startsWith('/')).toBe(true);
			expect(target.startsWith('//')).toBe(false);
			expect(Object.entries(sent).filter(([, value]) => value.includes('203.0.113'))).toEqual([]);
		}
	});
});
