/** Models that a client may name, as clients list them, and the details of a model without a price. */
import { expect, it } from 'vitest';
import { freePort } from '../support/product.ts';
import { describeOwn, send, useSubject } from './subject.ts';

const port = await freePort();

interface ModelList {
	readonly data: readonly { readonly id: string; readonly display_name: string; readonly owned_by?: string }[];
	readonly has_more: boolean;
	readonly first_id: string;
	readonly last_id: string;
}

describeOwn('models', 'a configuration of its own', () => {
	const subject = useSubject((simulatorUrl) => ({
		enable_admin_api: true,
		roles: ['edge', 'gateway', 'identity', 'simulator', 'admin'],
		admin: { listen: `127.0.0.1:${port}` },
		routing: { aliases: { fast: 'provider_b/gpt-5-mini', 'acme/best': 'provider_a/claude-sonnet-4-5' } },
		teams: { registered: [{ id: 'red', tier: 'enterprise', client_ids: ['agent'] }] },
		providers: {
			local: { kind: 'openai-compatible', base_url: `${simulatorUrl}/openai/v1`, allow_private_network: true, models: ['meta/llama-3'] },
			keyless: { kind: 'openai', base_url: `${simulatorUrl}/openai/v1`, allow_private_network: true },
		},
	}));

	const get = async (path: string, headers: Record<string, string | null> = {}): Promise<{ status: number; body: object }> => {
		const response = await send(subject.current, path, { method: 'GET', headers });
		return { status: response.status, body: (await response.json()) as object };
	};
	const list = async (query = '', headers: Record<string, string | null> = {}): Promise<ModelList> => {
		const { status, body } = await get(`/v1/models${query}`, headers);
		expect(status).toBe(200);
		return body as ModelList;
	};

	/** Sent by Claude Code with `CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY=1`, with an API key or a token. */
	it.each(['x-api-key', 'authorization'])('are found by Claude Code, whose credential stands in %s', async (field) => {
		const accessToken = await subject.current.accessToken();
		const credential = field === 'authorization' ? {} : { authorization: null, [field]: accessToken };
		const models = await list('?limit=1000', { 'anthropic-version': '2023-06-01', ...credential });
		const claude = models.data.filter(({ id }) => /^(?:claude|anthropic)/i.test(id));
		expect(models.has_more).toBe(false);
		expect(claude.map(({ id }) => id)).toEqual(expect.arrayContaining(['claude-opus-4-8', 'claude-sonnet-4-5', 'claude-haiku-4-5']));
		expect(claude.every(({ display_name: name }) => name !== '')).toBe(true);
	});

	it('are a list that Codex can read, which describes none of them', async () => {
		const { body } = await get('/v1/models?client_version=0.171.0');
		expect(body).toMatchObject({ object: 'list', models: [] });
		expect(await list()).not.toHaveProperty('models');
	});

	it('are listed once each, of providers that have a key, and each can be retrieved in both vendors’ shapes', async () => {
		const { data } = await list();
		const ids = data.map(({ id }) => id);
		expect(new Set(ids).size).toBe(ids.length);
		expect(ids).toEqual(expect.arrayContaining(['fast', 'acme/best', 'meta/llama-3', 'team-deployment', 'gpt-4o', 'gemini-2.5-pro']));
		expect(data.filter(({ owned_by: owner }) => owner === 'keyless')).toEqual([]);
		for (const id of ids.filter((_id, index) => index % 6 === 0)) {
			expect((await get(`/v1/models/${id}`)).body).toMatchObject({ id, object: 'model' });
		}
	});

	it.each(['provider_b/gpt-4o', 'local/meta/llama-3', 'meta/llama-3', 'acme/best', 'fast', 'team-deployment', 'gpt-4o-2024-08-06'])(
		'`%s` is retrieved by the id asked for, encoded or not, in both vendors’ shapes',
		async (id) => {
			for (const path of [id, encodeURIComponent(id)]) {
				expect(await get(`/v1/models/${path}`)).toMatchObject({ status: 200, body: { id, object: 'model' } });
				const anthropic = await get(`/v1/models/${path}`, { 'anthropic-version': '2023-06-01' });
				expect(anthropic).toMatchObject({ status: 200, body: { id, type: 'model' } });
				expect(anthropic.body).not.toHaveProperty('object');
			}
		},
	);

	it.each(['nonsense', 'keyless/gpt-4o', 'provider_b/', '%E0%A4%A'])('`%s` cannot be called, and is 404', async (id) => {
		expect(await get(`/v1/models/${id}`)).toMatchObject({ status: 404, body: { error: { code: 'model_unlisted' } } });
	});

	it('come in pages, forwards and backwards, in both vendors’ lists', async () => {
		for (const headers of [{}, { 'anthropic-version': '2023-06-01' }] as const) {
			const whole = (await list('', headers)).data.map(({ id }) => id);
			const first = await list('?limit=4', headers);
			expect([first.data.map(({ id }) => id), first.has_more, first.last_id]).toEqual([whole.slice(0, 4), true, whole[3]]);
			const second = await list(`?limit=4&after_id=${encodeURIComponent(first.last_id)}`, headers);
			expect(second.data.map(({ id }) => id)).toEqual(whole.slice(4, 8));
			const back = await list(`?limit=3&before_id=${encodeURIComponent(second.first_id)}`, headers);
			expect([back.data.map(({ id }) => id), back.has_more]).toEqual([whole.slice(1, 4), true]);
		}
	});

	it('without a price are marked in the response, in the entry and in its CSV', async () => {
		const responses = [];
		for (const [path, body] of [
			['/v1/chat/completions', { model: 'gpt-sim-ok' }],
			['/v1/chat/completions', { model: 'gpt-sim-ok', stream: true }],
			['/v1/messages', { model: 'gpt-sim-ok', max_tokens: 9 }],
			['/v1/chat/completions', { model: 'gpt-4o' }],
		] as const) {
			const response = await send(subject.current, path, { body: { ...body, messages: [{ role: 'user', content: 'hi' }] } });
			await response.text();
			responses.push([response.status, response.headers.get('x-gateway-warnings')]);
		}
		const warned = [200, 'model: has no price, its cost is recorded at $0'];
		expect(responses).toEqual([warned, warned, warned, [200, null]]);

		const { product, adminClient, scopeBase } = subject.current;
		const authorization = `Bearer ${await product?.accessToken(adminClient, `${scopeBase}/admin`)}`;
		const admin = (accept: string) => fetch(`http://127.0.0.1:${port}/requests?limit=4`, { headers: { authorization, accept } });
		const { data } = (await (await admin('application/json')).json()) as { data: { model: string; priced: boolean; cost_usd: string }[] };
		expect(data.map(({ model, priced, cost_usd: cost }) => [model, priced, cost === '0.00'])).toEqual([
			['gpt-4o', true, false],
			...Array.from({ length: 3 }, () => ['gpt-sim-ok', false, true]),
		]);
		const [head = '', ...lines] = (await (await admin('text/csv')).text()).trim().split('\r\n');
		const priced = head.split(',').indexOf('priced');
		expect(lines.map((line) => line.split(',')[priced])).toEqual(['true', 'false', 'false', 'false']);
	});
});
