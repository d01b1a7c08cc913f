/** Failover: the order of targets, their cost, and the response to the client. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
	ask,
	azure,
	benchWith,
	chatResponse,
	claude,
	costAtClaude,
	gpt,
	hostOf,
	messageResponse,
	neverSent,
	readingOf,
	rowsOf,
	sentThenLost,
	texts,
} from '../../../test/support/failover-rig.ts';
import {
	chatBody,
	chatPath,
	HandStream,
	jsonResponse,
	messagesPath,
	readStream,
	settle,
	sseResponse,
	summaryOf,
	testSettings,
	textOf,
} from '../../../test/support/gateway-bench.ts';
import { UpstreamError } from '../../core/upstream-error.ts';

const googleError = (reason: string): ReturnType<typeof jsonResponse> =>
	jsonResponse(400, JSON.stringify([{ error: { code: 400, message: 'no', status: 'INVALID_ARGUMENT', details: [{ reason }] } }]));

describe('a rule with several targets', () => {
	it.each([
		['500', () => jsonResponse(500, '{"error":{"message":"no"}}')],
		['429', () => jsonResponse(429, '{"error":{"message":"slow down"}}', { 'retry-after': '7' })],
		['401', () => jsonResponse(401, '{"error":{"message":"key"}}')],
		['404', () => jsonResponse(404, '{"error":{"message":"model"}}')],
		['a refused connection', neverSent],
	])('fails over to the next after %s: one request, one entry, charged at the target that responded', async (_name, fail) => {
		const bench = benchWith({ monthlyBudgetUsd: '1.00' });
		bench.respond = (request) => (hostOf(request) === 'b' ? fail() : jsonResponse(200, messageResponse));
		const response = await ask(bench);
		expect([response.status, response.headers['x-gateway-provider'], response.headers['x-gateway-model']]).toEqual([
			200,
			'provider_a',
			'claude-sonnet-4-5',
		]);
		expect(JSON.parse(textOf(response))).toMatchObject({ object: 'chat.completion' });
		expect(response.headers['x-ratelimit-remaining-requests']).toBe('99');
		expect((await rowsOf(bench)).map(texts)).toEqual([`req provider_a claude-sonnet-4-5 complete ${costAtClaude}`]);
		expect(await readingOf(bench, 'all')).toEqual([`${costAtClaude} 0`]);
		expect(bench.log.lines.filter(({ event }) => event === 'failover to the next target')).toHaveLength(1);
	});

	it.each([
		['says that our key is wrong, as Google does, with status 400', googleError('API_KEY_INVALID'), 200],
		['says with status 400 what the caller did wrong', googleError('FIELD_INVALID'), 400],
		['echoes a caller who wrote of wrong keys', jsonResponse(400, JSON.stringify({ error: { message: '"API_KEY_INVALID"' } })), 400],
	])('fails over only for errors that another provider may not have: the first %s', async (_name, reported, status) => {
		const bench = benchWith({ targets: [{ provider: 'provider_c', model: 'gemini-3-pro', weight: 1 }, gpt] });
		bench.respond = (request) => (hostOf(request) === 'c' ? reported : jsonResponse(200, chatResponse));
		expect((await ask(bench)).status).toBe(status);
	});

	it.each(['provider_unreachable', 'provider_first_byte_timeout'] as const)(
		'records the possible charge of a target that was sent the request and did not respond (%s) as a separate entry',
		async (code) => {
			const bench = benchWith({ monthlyBudgetUsd: '1.00', caps: { 'gpt-5': 10n ** 9n } });
			bench.respond = (request) => (hostOf(request) === 'b' ? sentThenLost(request, code) : jsonResponse(200, messageResponse));
			expect((await ask(bench)).status).toBe(200);
			const rows = await rowsOf(bench);
			const lost = rows.find(({ id }) => id.endsWith('.1'));
			expect(rows.map(texts)).toContain(`req provider_a claude-sonnet-4-5 complete ${costAtClaude}`);
			expect(lost).toMatchObject({ provider: 'provider_b', model: 'gpt-5', closed: { outcome: 'broken', isEstimated: true } });
			const charged = lost?.closed?.costNanoUsd ?? 0n;
			expect(charged).toBeGreaterThan(0n);
			expect(await readingOf(bench, 'all', 'model:gpt-5')).toEqual([`${costAtClaude + charged} 0`, `${charged} 0`]);
			const reading = await bench.admission.read('team-1', []);
			expect(reading.requestsThisMinute).toBe(1);
		},
	);

	it('does not fail over from a client error', async () => {
		const bench = benchWith();
		bench.respond = () => jsonResponse(400, '{"error":{"message":"bad"}}');
		await ask(bench);
		expect(bench.sent.map(hostOf)).toEqual(['b']);
	});

	it.each([
		['a page', false, () => ({ ...jsonResponse(200, '<html>'), headers: { 'content-type': 'text/html' } })],
		['a page in place of a stream', true, () => ({ ...jsonResponse(200, '<html>'), headers: { 'content-type': 'text/html' } })],
		['a page that claims to be JSON', false, () => jsonResponse(200, '<html>')],
		['JSON in place of a stream', true, () => jsonResponse(200, chatResponse)],
		['an answer without a content type', false, () => ({ ...jsonResponse(200, chatResponse), headers: {} })],
	])('fails over from %s with status 200, which counts against the provider', async (_what, isStreaming, page) => {
		const bench = benchWith({ traffic: { ejectAfterFailures: 1 }, monthlyBudgetUsd: '1.00' });
		const stream = new HandStream();
		bench.respond = (request) => {
			request.onSent?.();
			if (hostOf(request) === 'b') return page();
			return isStreaming ? sseResponse(stream) : jsonResponse(200, messageResponse);
		};
		const response = await ask(bench, {}, isStreaming ? JSON.stringify({ ...JSON.parse(chatBody), stream: true }) : chatBody);
		expect([response.status, response.headers['x-gateway-provider']]).toEqual([200, 'provider_a']);
		expect(bench.sent.map(hostOf)).toEqual(['b', 'a']);
		const { health, concurrency } = bench.traffic.of('provider_b');
		expect([health.isEjected, concurrency.inFlight]).toEqual([true, 0]);
		if (isStreaming) return;
		// The result of this attempt is unknown: its reservation is charged, in a separate entry.
		const lost = (await rowsOf(bench)).find(({ id }) => id.endsWith('.1'));
		expect(lost).toMatchObject({ provider: 'provider_b', closed: { outcome: 'broken', isEstimated: true } });
	});

	it('the page of the only target is the client’s 502', async () => {
		const bench = benchWith({ targets: [gpt] });
		bench.respond = () => ({ ...jsonResponse(200, '<html>'), headers: { 'content-type': 'text/html' } });
		expect(summaryOf(await ask(bench))).toBe('502 provider_response_invalid');
	});

	it('does not fail over from a non-streaming response that breaks off', async () => {
		const bench = benchWith();
		const body = new HandStream();
		bench.respond = () => ({ ...jsonResponse(200, ''), body });
		const response = ask(bench);
		while (body.sink === undefined) await settle();
		body.sink.fail(new UpstreamError('provider_disconnected'));
		expect([(await response).status, bench.sent.map(hostOf)]).toEqual([502, ['b']]);
	});

	it('never fails over from a stream that has begun', async () => {
		const bench = benchWith();
		const body = new HandStream();
		bench.respond = () => sseResponse(body);
		const response = await ask(bench, {}, JSON.stringify({ ...JSON.parse(chatBody), stream: true }));
		const { reader } = readStream(response);
		body.sink?.fail(new UpstreamError('provider_disconnected'));
		await settle();
		expect([bench.sent.length, reader.ending]).toEqual([1, 'ended']);
		expect(reader.text).toContain('provider_disconnected');
	});

	it('whose entry the ledger cannot transfer: nothing is sent, and nothing is charged or left open', async () => {
		const bench = benchWith({ monthlyBudgetUsd: '1.00' });
		bench.respond = (request) => (hostOf(request) === 'b' ? jsonResponse(500, '{}') : jsonResponse(200, messageResponse));
		const { open } = bench.ledger;
		const rejecting = vi.spyOn(bench.ledger, 'open').mockImplementation((entry) => {
			return entry.provider === 'provider_a' ? Promise.reject(new UpstreamError('records_unavailable')) : open.call(bench.ledger, entry);
		});
		onTestFinished(() => rejecting.mockRestore());
		const response = await ask(bench);
		expect(response.status).toBe(503);
		expect(bench.sent.map(hostOf)).toEqual(['b']);
		expect((await rowsOf(bench)).map(texts)).toEqual(['req provider_b gpt-5 not_sent 0']);
		expect(await readingOf(bench, 'all')).toEqual(['0 0']);
	});

	it('if all fail, returns the error of the last one that was sent the request, and records it there', async () => {
		const bench = benchWith({ targets: [gpt, claude, azure], monthlyBudgetUsd: '1.00' });
		bench.respond = (request) => {
			if (hostOf(request) === 'b') return jsonResponse(500, '{"error":{"message":"first"}}');
			return hostOf(request) === 'a' ? neverSent() : jsonResponse(429, '{"error":{"message":"third"}}', { 'retry-after': '9' });
		};
		const response = await ask(bench);
		expect([response.status, response.headers['retry-after'], response.headers['x-gateway-provider']]).toEqual([429, '9', 'provider_d']);
		expect(textOf(response)).toContain('third');
		expect((await rowsOf(bench)).map(texts)).toEqual(['req provider_d our-gpt upstream_error 0']);
		expect(await readingOf(bench, 'all')).toEqual(['0 0']);
	});

	it('skips a target without a key, at any position', async () => {
		const withoutKey = (name: string) =>
			testSettings.providers.map((provider) => (provider.name === name ? { ...provider, apiKey: 'REPLACE_ME' } : provider));
		const first = benchWith({ settings: { providers: withoutKey('provider_b') } });
		first.respond = () => jsonResponse(200, messageResponse);
		expect((await ask(first)).headers['x-gateway-provider']).toBe('provider_a');
		const later = benchWith({ targets: [gpt, claude, azure], settings: { providers: withoutKey('provider_a') } });
		later.respond = (request) => (hostOf(request) === 'b' ? neverSent() : jsonResponse(200, chatResponse));
		expect((await ask(later)).headers['x-gateway-provider']).toBe('provider_d');
		expect(later.sent.map(hostOf)).toEqual(['b', 'd']);
	});

	it('weighted, falls back on the others, and a session keeps its target and its fallback', async () => {
		const bench = benchWith({
			targets: [gpt, azure, { ...claude, weight: 0 }],
			strategy: 'weighted',
			traffic: { ejectAfterFailures: null },
		});
		let isUnavailable = false;
		bench.respond = (request) => (hostOf(request) === 'b' && isUnavailable ? neverSent() : jsonResponse(200, chatResponse));
		const providersOf = async () => {
			const found: unknown[] = [];
			for (let session = 0; session < 24; session++) {
				const response = await ask(bench, { 'x-gateway-session': `s${session}` });
				found.push(response.headers['x-gateway-provider']);
			}
			return found;
		};
		const before = await providersOf();
		expect(new Set(before)).toEqual(new Set(['provider_b', 'provider_d']));
		isUnavailable = true;
		expect(new Set(await providersOf())).toEqual(new Set(['provider_d']));
		isUnavailable = false;
		expect(await providersOf()).toEqual(before);
	});

	it('weighted, keeps the target of a session that Claude Code names, unless another header field names one', async () => {
		const bench = benchWith({ targets: [gpt, azure], strategy: 'weighted' });
		bench.respond = () => jsonResponse(200, chatResponse);
		const providersOf = async (headersOf: (session: string) => Record<string, string>) => {
			const found: unknown[] = [];
			for (let session = 0; session < 24; session++) {
				found.push((await ask(bench, headersOf(`s${session}`))).headers['x-gateway-provider']);
			}
			return found;
		};
		const named = await providersOf((session) => ({ 'x-gateway-session': session }));
		expect(new Set(named).size).toBe(2);
		expect(await providersOf((session) => ({ 'x-claude-code-session-id': session }))).toEqual(named);
		const both = await providersOf((session) => ({ 'x-gateway-session': session, 'x-claude-code-session-id': 'other' }));
		expect(both).toEqual(named);
	});

	it('weighted, keeps the target of a session that the body names, unless a header field names one', async () => {
		const bench = benchWith({ targets: [gpt, azure], strategy: 'weighted' });
		bench.respond = () => jsonResponse(200, chatResponse);
		const providersOf = async (path: string, fieldsOf: (session: string) => object, headers: Record<string, string> = {}) => {
			const found: unknown[] = [];
			for (let session = 0; session < 24; session++) {
				const content = { messages: [{ role: 'user', content: 'hi' }], input: 'hi', max_tokens: 9 };
				const body = JSON.stringify({ model: 'gpt-5', ...content, ...fieldsOf(`s${session}`) });
				const response = await bench.ask(path, body, headers, { id: `body-${path}-${session}` });
				found.push(response.headers['x-gateway-provider']);
			}
			return found;
		};
		const named = await providersOf(chatPath, (session) => ({ prompt_cache_key: session }));
		expect(new Set(named).size).toBe(2);
		expect(await providersOf('/v1/responses', (session) => ({ prompt_cache_key: session }))).toEqual(named);
		expect(await providersOf(messagesPath, (session) => ({ metadata: { user_id: session } }))).toEqual(named);
		const byHeader = await providersOf(chatPath, (session) => ({ prompt_cache_key: session }), { 'x-gateway-session': 'one' });
		expect(new Set(byHeader).size).toBe(1);
		const nameless = await providersOf(chatPath, () => ({}));
		const others = [{ prompt_cache_key: '' }, { prompt_cache_key: 7 }, { prompt_cache_key: null }, { metadata: { user_id: 's0' } }];
		for (const other of others) expect(await providersOf(chatPath, () => other)).toEqual(nameless);
		expect(await providersOf(chatPath, () => ({}), { 'x-gateway-session': '' })).toEqual(nameless);
		// Long names are hashed up to a limit, and still distinguish sessions.
		const long = await providersOf(chatPath, (session) => ({ prompt_cache_key: `${session}${'x'.repeat(100_000)}` }));
		expect(new Set(long).size).toBe(2);
		expect(new Set(await providersOf(chatPath, () => ({ prompt_cache_key: 'y'.repeat(100_000) }))).size).toBe(1);
	});
});

describe('admission of the next target uses', () => {
	it('its own cap: a target whose budget is exhausted is skipped, and the failure before it stands', async () => {
		const bench = benchWith({ monthlyBudgetUsd: '1.00', caps: { 'claude-sonnet-4-5': 0n } });
		bench.respond = () => jsonResponse(503, '{"error":{"message":"first"}}');
		const response = await ask(bench);
		expect([response.status, response.headers['x-gateway-provider']]).toEqual([502, 'provider_b']);
		expect(bench.sent.map(hostOf)).toEqual(['b']);
		expect((await rowsOf(bench)).map(texts)).toEqual(['req provider_b gpt-5 upstream_error 0']);
		expect(await readingOf(bench, 'all', 'model:claude-sonnet-4-5')).toEqual(['0 0', '0 0']);
	});

	it('its own price, under worst-case reservations: the possible cost of two targets together never exceeds the limit', async () => {
		const bench = benchWith({ monthlyBudgetUsd: '0.05', budgets: { reservation: 'worst_case' } });
		bench.respond = (request) =>
			hostOf(request) === 'b' ? sentThenLost(request, 'provider_first_byte_timeout') : jsonResponse(200, messageResponse);
		const body = JSON.stringify({ ...JSON.parse(chatBody), max_tokens: 2000 });
		const response = await ask(bench, {}, body);
		// 2000 output tokens cost 0.02 USD at the first target and 0.03 at the second, plus the input.
		expect(response.status).toBe(504);
		expect(bench.sent.map(hostOf)).toEqual(['b']);
		const [entry] = await rowsOf(bench);
		expect(await readingOf(bench, 'all')).toEqual([`${entry?.closed?.costNanoUsd} 0`]);
	});

	it('an unknown price, if such requests are rejected', async () => {
		const bench = benchWith({ targets: [gpt, { ...claude, model: 'made-up' }, azure], budgets: { unknownPrice: 'reject' } });
		bench.respond = (request) => (hostOf(request) === 'b' ? neverSent() : jsonResponse(200, chatResponse));
		const response = await ask(bench);
		expect([bench.sent.map(hostOf), response.status]).toEqual([['b'], 502]);
	});

	it('its format: a target that cannot express the request is skipped', async () => {
		const bench = benchWith({ targets: [gpt, claude, azure] });
		bench.respond = (request) => (hostOf(request) === 'b' ? neverSent() : jsonResponse(200, chatResponse));
		const response = await ask(bench, {}, JSON.stringify({ ...JSON.parse(chatBody), n: 3 }));
		expect([response.status, response.headers['x-gateway-provider'], response.headers['x-gateway-warnings']]).toEqual([
			200,
			'provider_d',
			'model: has no price, its cost is recorded at $0',
		]);
	});

	it('nothing if the first rejects: that is the client’s response', async () => {
		const bench = benchWith({ monthlyBudgetUsd: '1.00', caps: { 'gpt-5': 0n } });
		expect(summaryOf(await ask(bench))).toBe('429 model_budget_exceeded');
		expect(bench.sent).toEqual([]);
	});
});

describe('counting tokens under a rule with several targets', () => {
	const count = async (bench: ReturnType<typeof benchWith>): Promise<string> => {
		const body = JSON.stringify({ model: 'gpt-5', messages: [{ role: 'user', content: 'hi' }] });
		const response = await bench.ask('/v1/messages/count_tokens', body, {}, { id: 'count' });
		expect([bench.gateway.inFlightRequests(), bench.traffic.of('provider_a').concurrency.inFlight]).toEqual([0, 0]);
		return `${response.status} ${String(response.headers['x-gateway-provider'])} ${textOf(response)}`;
	};
	const other = { ...claude, model: 'claude-opus-4-5' };

	it.each([
		['500', () => jsonResponse(500, '{"error":{"message":"no"}}')],
		['429', () => jsonResponse(429, '{"error":{"message":"slow down"}}')],
		['a refused connection', neverSent],
		['a page', () => jsonResponse(200, '<html>', { 'content-type': 'text/html' })],
	])('fails over to the next after %s, and is estimated for one that cannot count', async (_name, fail) => {
		const bench = benchWith({ targets: [claude, other] });
		bench.respond = () => (bench.sent.length === 1 ? fail() : jsonResponse(200, '{"input_tokens":9}'));
		expect(await count(bench)).toBe('200 provider_a {"input_tokens":9}');
		const estimated = benchWith({ targets: [claude, gpt] });
		estimated.respond = fail;
		expect(await count(estimated)).toMatch(/^200 provider_b \{"input_tokens":\d+\}$/);
		expect([bench.sent.length, estimated.sent.length]).toEqual([2, 1]);
	});

	it('skips a target without a key, and uses none of the requests of the minute', async () => {
		const providers = testSettings.providers.map((one) => (one.name === 'provider_a' ? { ...one, apiKey: 'REPLACE_ME' } : one));
		const bench = benchWith({ targets: [claude, gpt], settings: { providers } });
		expect(await count(bench)).toMatch(/^200 provider_b /);
		expect((await bench.admission.read('team-1', [])).requestsThisMinute).toBe(0);
		expect(bench.sent).toEqual([]);
	});

	it('has the time of one request, however many targets fail', async () => {
		const bench = benchWith({ targets: [claude, other, { ...claude, model: 'claude-haiku-4-5' }] });
		bench.respond = () => {
			bench.clock.advance(2000);
			throw new UpstreamError('provider_first_byte_timeout');
		};
		expect(await count(bench)).toMatch(/^504 .*provider_total_timeout/);
		expect(bench.sent.map(({ timeouts }) => timeouts.totalMs)).toEqual([4000, 2000]);
	});

	it('ends at a client error, and with the last target’s response', async () => {
		const bench = benchWith({ targets: [claude, other] });
		bench.respond = () => jsonResponse(400, '{"error":{"message":"no"}}');
		expect(await count(bench)).toBe('400 provider_a {"error":{"message":"no"}}');
		bench.respond = () => jsonResponse(503, '{"error":{"message":"away"}}');
		expect(await count(bench)).toBe('502 provider_a {"error":{"message":"away"}}');
		expect(bench.sent).toHaveLength(3);
	});
});
