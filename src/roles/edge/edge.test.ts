import { afterEach, describe, expect, test, vi } from 'vitest';
import { type EdgeBench, type EdgeBenchOptions, startEdgeBench } from '../../../test/support/edge-bench.ts';
import type { HttpRequest, HttpResponse } from '../../core/handler.ts';
import { markRepeated } from '../../core/header-memo.ts';

let bench: EdgeBench;

async function start(options: EdgeBenchOptions = {}): Promise<EdgeBench> {
	bench = await startEdgeBench(options);
	await bench.keySet.start();
	return bench;
}

afterEach(() => bench.stop());

const withToken = (accessToken: string): Partial<HttpRequest> => ({ headers: { authorization: `Bearer ${accessToken}` } });
const get = (path: string, rest: Partial<HttpRequest> = {}): Partial<HttpRequest> => ({ method: 'GET', path, ...rest });
const jsonOf = ({ body }: HttpResponse): unknown => JSON.parse(body as string);

describe('an admitted request', () => {
	test('continues unchanged except for the verified caller', async () => {
		const { admitted, issuer, send } = await start();
		const request = withToken(issuer.accessToken({ client_id: 'agent-7' }));
		const response = await send(request);
		expect(response).toEqual({ status: 200, headers: {}, body: 'through' });
		expect(admitted[0]).toMatchObject({ ...request, path: '/v1/chat/completions', caller: { clientId: 'agent-7', issuer: issuer.issuer } });
	});

	test('has the codes of monitored matches, as has the log line of a rejected one', async () => {
		const { admitted, issuer, send } = await start({ firewallRules: { NoUserAgent_HEADER: 'monitor' } });
		await send(withToken(issuer.accessToken()));
		expect(admitted[0]?.monitored).toEqual(['firewall_rule_matched']);
		expect((await send()).record).toMatchObject({ monitored: ['firewall_rule_matched'] });
	});

	test('has its token hashed once for repeated header fields, and verified each time', async () => {
		const { admitted, issuer, send, verifier, clock } = await start();
		const digest = vi.spyOn(verifier, 'digest');
		const repeated = { authorization: `Bearer ${issuer.accessToken()}` };
		markRepeated(repeated);
		for (let index = 0; index < 3; index++) await send({ headers: repeated });
		expect([admitted.length, digest.mock.calls.length]).toEqual([3, 1]);
		clock.advance(3 * 3_600_000);
		expect((await send({ headers: repeated })).status).toBe(401);
		await send({ headers: { ...repeated } });
		expect(digest).toHaveBeenCalledTimes(2);
	});

	test('a caller that the request itself contains is ignored', async () => {
		const { admitted, issuer, send } = await start();
		const forged = { clientId: 'admin' } as unknown as NonNullable<HttpRequest['caller']>;
		expect((await send({ caller: forged })).status).toBe(401);
		await send({ ...withToken(issuer.accessToken()), caller: forged });
		expect(admitted.map(({ caller }) => caller?.clientId)).toEqual(['agent']);
	});

	test('errors of the inner handler are not rendered by the edge', async () => {
		const { issuer, send, admitted } = await start();
		admitted.push = () => {
			throw new TypeError('inside');
		};
		await expect(send(withToken(issuer.accessToken()))).rejects.toThrow('inside');
	});
});

describe('paths and methods as clients send them', () => {
	test.each([
		['/v1/messages/', '/v1/messages'],
		['/v1/v1/messages', '/v1/messages'],
		['//v1/v1//chat/completions/', '/v1/chat/completions'],
	])('%s is forwarded as %s', async (path, canonical) => {
		const { admitted, issuer, send } = await start();
		await send({ ...withToken(issuer.accessToken()), path });
		expect(admitted.map((request) => request.path)).toEqual([canonical]);
	});

	test('OPTIONS needs no token, returns the same for every path, and is not forwarded', async () => {
		const { admitted, send } = await start();
		for (const path of ['/', '/v1/messages', '/nothing/here']) {
			expect(await send({ method: 'OPTIONS', path })).toEqual({ status: 204, headers: { allow: 'GET, HEAD, POST, OPTIONS' }, body: null });
		}
		expect(admitted).toEqual([]);
	});

	test('OPTIONS is evaluated by the firewall like other methods', async () => {
		const { send } = await start({ perIp: { requests: 1 } });
		expect((await send({ method: 'OPTIONS' })).status).toBe(204);
		expect((await send({ method: 'OPTIONS' })).status).toBe(403);
	});
});

describe('header fields with the token', () => {
	const statusOf = async ({ send }: EdgeBench, headers: HttpRequest['headers']): Promise<string> => {
		const { status, record } = await send({ headers });
		return status === 200 ? '200' : `${status} ${record?.code}`;
	};

	test.each(['x-api-key', 'api-key'])('%s carries the bare token', async (name) => {
		const running = await start();
		const accessToken = running.issuer.accessToken({ client_id: 'agent-7' });
		expect(await statusOf(running, { [name]: accessToken })).toBe('200');
		expect(running.admitted[0]?.caller?.clientId).toBe('agent-7');
		expect(await statusOf(running, { [name]: `Bearer ${accessToken}` })).toBe('401 token_invalid');
		expect(await statusOf(running, { [name]: [accessToken, accessToken] })).toBe('401 token_invalid');
		expect(await statusOf(running, { [name]: '' })).toBe('401 token_missing');
	});

	test('authorization takes precedence, and the others are not read', async () => {
		const running = await start();
		const [mine, theirs] = ['mine', 'theirs'].map((client_id) => running.issuer.accessToken({ client_id }));
		expect(await statusOf(running, { authorization: `Bearer ${mine}`, 'x-api-key': theirs, 'api-key': 'nonsense' })).toBe('200');
		expect(running.admitted[0]?.caller?.clientId).toBe('mine');
		for (const authorization of ['Bearer nonsense', 'Basic Zm9v', 'Bearer ', '']) {
			expect(await statusOf(running, { authorization, 'x-api-key': mine })).toMatch(/^401 /);
		}
	});

	test('without it, two equal fields are one token, and two different ones are none', async () => {
		const running = await start();
		const [mine, theirs] = ['mine', 'theirs'].map((client_id) => running.issuer.accessToken({ client_id }));
		expect(await statusOf(running, { 'x-api-key': mine, 'api-key': mine })).toBe('200');
		expect(await statusOf(running, { 'x-api-key': mine, 'api-key': theirs })).toBe('401 token_invalid');
		expect(running.log.lines.at(-1)?.fields?.['reason']).toBe('header fields carry different tokens');
	});

	test('x-goog-api-key applies if it is listed', async () => {
		const running = await start();
		const accessToken = running.issuer.accessToken();
		expect(await statusOf(running, { 'x-goog-api-key': accessToken })).toBe('401 token_missing');
		expect(await statusOf(running, { 'x-goog-api-key': 'an old key', 'x-api-key': accessToken })).toBe('200');
		await running.stop();
		const listing = await start({ tokenHeaders: ['authorization', 'x-goog-api-key'] });
		expect(await statusOf(listing, { 'x-goog-api-key': listing.issuer.accessToken() })).toBe('200');
		expect(await statusOf(listing, { 'x-api-key': listing.issuer.accessToken() })).toBe('401 token_missing');
	});

	test('no rule of the firewall reads them, so that none of them is matched, counted or logged', async () => {
		const running = await start({ tokenHeaders: ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key'] });
		for (const name of ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key']) {
			expect(await statusOf(running, { [name]: '<script>alert(1)</script>', 'user-agent': 'x' })).toMatch(/^401 /);
		}
		expect(JSON.stringify(running.log.lines)).not.toContain('script');
	});
});

describe('rejections', () => {
	test('without a token: 401, without an error parameter', async () => {
		const { send } = await start();
		const response = await send();
		expect(response).toMatchObject({ status: 401, record: { code: 'token_missing' } });
		expect(response.headers['www-authenticate']).toBe('Bearer realm="tollgate"');
	});

	test('an invalid token: 401 with error="invalid_token"; only the log has the reason', async () => {
		const { issuer, log, send } = await start();
		const response = await send(withToken(issuer.accessToken({ exp: 1 })));
		expect(response.headers['www-authenticate']).toBe('Bearer realm="tollgate", error="invalid_token"');
		expect(response.body).not.toContain('expired');
		expect(log.lines.at(-1)).toEqual({
			level: 'debug',
			event: 'request rejected at the edge',
			fields: { requestId: 'req_test', code: 'token_invalid', reason: 'expired' },
		});
	});

	test('a token without the scope: 403 that names the scope and the client, without the firewall’s header', async () => {
		const { issuer, send } = await start();
		const response = await send(withToken(issuer.accessToken({ scope: 'tollgate/admin', client_id: 'operator' })));
		expect(response).toMatchObject({ status: 403, record: { code: 'scope_missing', clientId: 'operator' } });
		expect(response.headers['www-authenticate']).toBe('Bearer realm="tollgate", error="insufficient_scope", scope="tollgate/invoke"');
		expect(response.headers).not.toHaveProperty('x-amzn-waf-action');
	});

	test('K7: while no key set was ever fetched: 503 with retry-after, and not ready', async () => {
		bench = await startEdgeBench();
		bench.issuer.fault = 'status_500';
		await bench.keySet.start();
		const response = await bench.send(withToken(bench.issuer.accessToken()));
		expect(response).toMatchObject({ status: 503, record: { code: 'key_set_unavailable' } });
		expect(response.headers['retry-after']).toBe('5');
		expect((await bench.send(get('/readyz'))).status).toBe(503);
		expect((await bench.send(get('/'))).status).toBe(200);
	});

	test('while draining: 503 with retry-after, and the connection ends', async () => {
		const { admitted, issuer, send } = await start({ ports: { isDraining: () => true } });
		const response = await send(withToken(issuer.accessToken()));
		expect(response).toMatchObject({ status: 503, closesConnection: true, record: { code: 'draining' } });
		expect(response.headers['retry-after']).toBeDefined();
		expect(admitted).toEqual([]);
	});

	test('an internal error in verification: 500 without details, logged as an error', async () => {
		const verify = (): never => {
			throw new RangeError('secret detail');
		};
		const { log, send } = await start({ ports: { verifier: { verify } } });
		const response = await send(withToken('a.b.c'));
		expect(response).toMatchObject({ status: 500, record: { code: 'internal_error' } });
		expect(response.body).not.toContain('secret detail');
		expect(log.lines.at(-1)?.level).toBe('error');
	});
});

describe('per-IP rate', () => {
	const perIp = { requests: 5 };
	const sendMany = async ({ send }: EdgeBench, count: number, request: Partial<HttpRequest>): Promise<number[]> => {
		const statuses: number[] = [];
		for (let index = 0; index < count; index++) statuses.push((await send(request)).status);
		return statuses;
	};

	test('one over the limit: the block page, before the token is verified; other sources pass; later it recovers', async () => {
		const running = await start({ perIp });
		const good = withToken(running.issuer.accessToken());
		expect(await sendMany(running, 6, good)).toEqual([200, 200, 200, 200, 200, 403]);
		const blocked = await running.send({});
		expect(blocked).toMatchObject({ status: 403, record: { code: 'ip_rate_exceeded' } });
		expect(blocked.headers['x-amzn-waf-action']).toBe('BLOCK');
		expect((await running.send({ ...good, peerAddress: '127.9.8.7' })).status).toBe(200);
		running.clock.advance(310_000);
		expect((await running.send(good)).status).toBe(200);
	});

	test('rejected tokens and GET / count, health checks do not and always pass', async () => {
		const running = await start({ perIp });
		expect(await sendMany(running, 3, {})).toEqual([401, 401, 401]);
		expect(await sendMany(running, 9, get('/readyz'))).not.toContain(403);
		expect(await sendMany(running, 3, get('/'))).toEqual([200, 200, 403]);
		expect(await sendMany(running, 2, get('/healthz'))).toEqual([200, 200]);
	});

	test('behind a trusted proxy its clients are the sources', async () => {
		const running = await start({ perIp, trustedProxies: ['10.0.0.0/8'] });
		const from = (client: string): Partial<HttpRequest> => ({ peerAddress: '10.0.0.1', headers: { 'x-forwarded-for': client } });
		expect(await sendMany(running, 6, from('203.0.113.1'))).toEqual([401, 401, 401, 401, 401, 403]);
		expect(await sendMany(running, 1, from('203.0.113.2'))).toEqual([401]);
		expect(await sendMany(running, 1, from('192.0.2.1, 203.0.113.1'))).toEqual([403]);
	});

	test('a header cannot make an untrusted peer another source', async () => {
		const running = await start({ perIp });
		const statuses: number[] = [];
		for (let index = 0; index < 6; index++) {
			const response = await running.send({ headers: { 'x-forwarded-for': `203.0.113.${index}` } });
			statuses.push(response.status);
		}
		expect(statuses.at(-1)).toBe(403);
	});
});

describe('health', () => {
	test.each(['GET', 'HEAD'])('%s / and /healthz are 200 without a token', async (method) => {
		const { admitted, send } = await start();
		for (const path of ['/', '/healthz']) {
			const response = await send(get(path, { method }));
			expect(response.status).toBe(200);
			expect(response.body).toBe('{"status":"ok"}');
		}
		expect(admitted).toEqual([]);
	});

	test('/readyz gives each dependency’s state', async () => {
		const { send } = await start();
		const response = await send(get('/readyz'));
		expect(response.status).toBe(200);
		expect(jsonOf(response)).toEqual({ status: 'ready', dependencies: { key_set: 'ok' } });
	});

	test('/readyz is 503 while draining, / is not', async () => {
		const { send } = await start({ ports: { isDraining: () => true } });
		expect(await send(get('/readyz'))).toMatchObject({ status: 503 });
		expect(await send(get('/'))).toMatchObject({ status: 200 });
	});

	test.each([
		['POST', '/'],
		['DELETE', '/healthz'],
		['GET', '//'],
		['GET', '/readyz/'],
		['GET', '/v1/models'],
	])('%s %s needs a token', async (method, path) => {
		const { send } = await start();
		expect((await send(get(path, { method }))).status).toBe(401);
	});
});
