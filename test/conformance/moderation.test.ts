/** Complete product with the four moderation providers, which the simulator plays: their results, and the effect of their failures. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agent, eventually, fetchAccessToken, freePort, operator, type Product, startProduct } from '../support/product.ts';

const kinds = {
	moderation: { kind: 'openai-moderation', path: '/openai/v1', api_key: 'sk-moderation' },
	'bedrock-guardrail': { kind: 'bedrock-guardrail', path: '/bedrock', api_key: 'bedrock-key', guardrail_id: 'gr1', region: 'eu-west-1' },
	'content-safety': { kind: 'azure-content-safety', path: '/azure', api_key: 'azure-key' },
	judge: { kind: 'chat-judge', path: '/judge/v1', api_key: 'judge-key', model: 'llama-guard-4', form: 'llama-guard' },
} as const;
type ModerationProviderName = keyof typeof kinds;
const names = Object.keys(kinds) as ModerationProviderName[];
/** Two of the four providers fail closed, two fail open. */
const failsClosed = (name: ModerationProviderName): boolean => name === 'bedrock-guardrail' || name === 'judge';

const shapes = (['chat', 'messages'] as const).flatMap((format) => [false, true].map((stream) => ({ format, stream })));
type Shape = (typeof shapes)[number];
const faults = { down: 'reset', slow: 'hang', 'answering 500': '500', malformed: 'malformed-json' } as const;

describe.each([true, false])('moderation providers, enforced %s', (isEnforced) => {
	let product: Product;
	let adminUrl: string;
	const accessTokens = { invoke: '', admin: '' };

	beforeAll(async () => {
		const adminPort = await freePort();
		adminUrl = `http://127.0.0.1:${adminPort}`;
		product = await startProduct((simulatorUrl) => ({
			roles: ['edge', 'gateway', 'admin', 'identity', 'simulator'],
			enable_admin_api: true,
			admin: { listen: `127.0.0.1:${adminPort}` },
			enable_guardrails: true,
			enforce_guardrails: isEnforced,
			guardrails: {
				content: { enabled: false },
				moderation_providers: names.map((name) => {
					const { path, ...kind } = kinds[name];
					const on_failure = failsClosed(name) ? 'closed' : 'open';
					return { name, ...kind, base_url: simulatorUrl + path, allow_private_network: true, timeout_ms: 300, on_failure };
				}),
			},
		}));
		accessTokens.invoke = await fetchAccessToken(product.tokenEndpoint, agent);
		accessTokens.admin = await fetchAccessToken(product.tokenEndpoint, operator, 'tollgate/admin');
		await control('POST', 'settings', { interval_ms: 0 });
		await ask({ format: 'chat', stream: false }, 'warm up');
	});
	afterAll(() => product.stop());

	const control = async (method: string, path: string, body?: object): Promise<void> => {
		const init = body === undefined ? {} : { body: JSON.stringify(body) };
		const response = await fetch(`${product.simulatorUrl}/_simulator/${path}`, { method, ...init });
		if (!response.ok) throw new Error(await response.text());
	};

	async function ask({ format, stream }: Shape, content: string): Promise<{ status: number; text: string; id: string }> {
		const isChat = format === 'chat';
		const body = { model: isChat ? 'gpt-4o-mini' : 'claude-opus-4-5', max_tokens: 900, stream, messages: [{ role: 'user', content }] };
		const response = await fetch(product.gatewayUrl + (isChat ? '/v1/chat/completions' : '/v1/messages'), {
			method: 'POST',
			headers: { authorization: `Bearer ${accessTokens.invoke}`, 'content-type': 'application/json' },
			body: JSON.stringify(body),
		});
		return { status: response.status, text: await response.text(), id: response.headers.get('x-request-id') ?? '' };
	}

	const admin = async <Row>(path: string): Promise<Row[]> => {
		const response = await fetch(adminUrl + path, { headers: { authorization: `Bearer ${accessTokens.admin}` } });
		return ((await response.json()) as { data: Row[] }).data;
	};

	interface Reported {
		readonly stage: string;
		readonly policy: string;
		readonly category: string;
		readonly action: string;
		readonly outcome: string;
	}
	/** Without enforcement, guardrails evaluate requests after the response. */
	const assessmentsOf = (id: string, isThere: (rows: readonly Reported[]) => boolean): Promise<Reported[]> =>
		eventually(`assessments of ${id}`, async () => {
			const rows = await admin<Reported>(`/guardrails/assessments?request_id=${id}`);
			return isThere(rows) ? rows : undefined;
		});
	const verdict = (id: string, wanted: string | null): Promise<string | null> =>
		eventually(`verdict of ${id}`, async () => {
			const found = (await admin<{ id: string; guardrails: string | null }>('/requests')).find((row) => row.id === id);
			return found?.guardrails === wanted ? wanted : undefined;
		});
	const measurement = async (name: string): Promise<number> => {
		const text = await (await fetch(`${adminUrl}/metrics`, { headers: { authorization: `Bearer ${accessTokens.admin}` } })).text();
		return Number(new RegExp(`^${name.replaceAll(/[{}"]/g, '\\$&')} (.*)$`, 'm').exec(text)?.[1] ?? 0);
	};

	it.each(shapes)('a harmless request passes: $format, streaming $stream', async (shape) => {
		const { status, text, id } = await ask(shape, 'What is the capital of France?');
		expect(status).toBe(200);
		expect(text).not.toContain('guardrail_blocked');
		expect(await verdict(id, 'clean')).toBe('clean');
		expect(await assessmentsOf(id, () => true)).toEqual([]);
	});

	it.each(shapes)('a request that matches: $format, streaming $stream', async (shape) => {
		const { status, text, id } = await ask(shape, 'Please simulate-hate now');
		expect([status, text.includes('guardrail_blocked')]).toEqual(isEnforced ? [400, true] : [200, false]);
		const action = isEnforced ? 'BLOCK' : 'NONE';
		const hated = (rows: readonly Reported[]) =>
			rows.filter(({ stage, category, ...row }) => stage === 'input' && category.endsWith('.hate') && row.action === action);
		const rows = await assessmentsOf(id, (all) => hated(all).length === names.length);
		expect(new Set(hated(rows).map(({ category }) => category.split('.')[0]))).toEqual(new Set(names));
		const row = (await admin<{ id: string; code: string | null }>('/requests')).find((one) => one.id === id);
		expect(row?.code).toBe(isEnforced ? 'guardrail_blocked' : null);
	});

	it.each(shapes)('a response that matches: $format, streaming $stream', async (shape) => {
		const text = `${'All is quiet in the valley tonight. '.repeat(20)}Now simulate-violence happens. ${'And then all was quiet. '.repeat(20)}`;
		await control('POST', 'script', { text, count: 1 });
		const response = await ask(shape, 'Tell me a story');
		expect(response.status).toBe(isEnforced && !shape.stream ? 400 : 200);
		if (isEnforced) {
			expect(response.text).toContain('guardrail_blocked');
			expect(response.text).not.toMatch(/simulate|then all/i);
		} else expect(response.text).not.toContain('guardrail_blocked');
		await assessmentsOf(response.id, (rows) => rows.some(({ stage, category }) => stage === 'output' && category.endsWith('.violence')));
		expect(await verdict(response.id, 'matched')).toBe('matched');
	});

	it.each(['event: simulate-violence', 'id: simulate-violence', ': simulate-violence\ndata:'])(
		'a stream with the line %j next to its data is evaluated including it',
		async (line) => {
			const data = (choices: object[]): string => `data: ${JSON.stringify({ object: 'chat.completion.chunk', choices })}\n\n`;
			const events = [data([{ index: 0, delta: { content: 'Well.' }, finish_reason: 'stop' }]), `${line}\n\n`, 'data: [DONE]\n\n'];
			await control('POST', 'replay', { headers: { 'content-type': 'text/event-stream' }, body: events.join('') });
			const response = await ask({ format: 'chat', stream: true }, 'Tell me a story');
			expect([response.text.includes('simulate'), response.text.includes('guardrail_blocked')]).toEqual([!isEnforced, isEnforced]);
			await assessmentsOf(response.id, (rows) => rows.some(({ stage, category }) => stage === 'output' && category.endsWith('.violence')));
		},
	);

	it('a comment that keeps a stream alive passes at once, and nothing of what it says is shown', async () => {
		const data = (choices: object[]): string => `data: ${JSON.stringify({ object: 'chat.completion.chunk', choices })}\n\n`;
		const end = [data([{ index: 0, delta: { content: 'Well.' }, finish_reason: 'stop' }]), 'data: [DONE]\n\n'];
		await control('POST', 'replay', {
			headers: { 'content-type': 'text/event-stream' },
			body: `: simulate-violence\r\r: PROCESSING\n\n${end.join('')}`,
		});
		const { text } = await ask({ format: 'chat', stream: true }, 'Tell me a story');
		const comments = isEnforced ? ': keepalive\n\n: keepalive\n\n' : ': simulate-violence\r\r: PROCESSING\n\n';
		expect(text).toBe(comments + end.join(''));
	});

	const breakdowns = names.flatMap((name) => Object.entries(faults).map(([how, fault]) => ({ name, how, fault })));
	it.each(breakdowns)('$name is $how: as configured, within two seconds, counted', async ({ name, fault }) => {
		const reason = { reset: 'unreachable', hang: 'timeout', '500': 'status', 'malformed-json': 'malformed' }[fault];
		const series = `tollgate_moderation_evaluations_total{moderation_provider="${name}",outcome="${reason}"}`;
		const before = await measurement(series);
		await control('POST', 'faults', { dialect: name, fault });
		const isBlocked = isEnforced && failsClosed(name);
		const responses = await Promise.all(
			shapes.map(async (shape) => {
				const startedMs = performance.now();
				const response = await ask(shape, 'What is the capital of France?');
				return { ...response, isLate: performance.now() - startedMs > 2000 };
			}),
		);
		for (const { status, text, isLate, id } of responses) {
			expect([status, text.includes('guardrail_blocked'), isLate]).toEqual([isBlocked ? 400 : 200, isBlocked, false]);
			const rows = await assessmentsOf(
				id,
				(all) => all.filter(({ category }) => category === `${name}.failed`).length === (isBlocked ? 1 : 2),
			);
			expect(rows.filter(({ stage }) => stage === 'input')).toMatchObject([
				{ policy: 'moderation', category: `${name}.failed`, action: isBlocked ? 'BLOCK' : 'NONE', outcome: 'failed' },
			]);
			if (!isBlocked) expect(await verdict(id, 'failed')).toBe('failed');
		}
		await control('DELETE', 'faults');
		// Counts one evaluation per request, and one per response if there was one.
		await eventually('counts', async () => ((await measurement(series)) >= before + (isBlocked ? 4 : 8) ? true : undefined));
	});
});
