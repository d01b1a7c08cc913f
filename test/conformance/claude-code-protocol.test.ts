/** Claude Code's gateway protocol, with models of Anthropic. `docs/reference/claude-code.md` names the test of each point. */
import { createHash } from 'node:crypto';
import { beforeAll, expect, it } from 'vitest';
import { claudeCodeBody, claudeCodeHeaders, claudeCodePath } from '../support/claude-code.ts';
import type { Product } from '../support/product.ts';
import type { GatewayErrorBody } from './formats.ts';
import { describeOwn, type Subject, send, useSubject } from './subject.ts';

const model = 'claude-sonnet-5';
const heartbeatMs = 150;

/** Sends a request as Claude Code does. */
function ask(subject: Subject, body: unknown, headers: Record<string, string | null> = {}, path = claudeCodePath): Promise<Response> {
	return send(subject, path, { headers: { ...claudeCodeHeaders, ...headers }, body });
}

async function errorOf(response: Response): Promise<GatewayErrorBody> {
	return (await response.json()) as GatewayErrorBody;
}

describeOwn('Claude Code’s requests reach Anthropic', 'our simulator', () => {
	const subject = useSubject();
	beforeAll(() => subject.current.simulator.change({ record_bodies: true }));

	it('forwards anthropic-beta and anthropic-version unchanged, and every other anthropic field', async () => {
		expect((await ask(subject.current, claudeCodeBody(model))).status).toBe(200);
		const { headers } = await subject.current.simulator.newestRequest();
		const sent = Object.entries(claudeCodeHeaders).filter(([name]) => name.startsWith('anthropic-'));
		expect(sent).toHaveLength(4);
		expect(headers).toMatchObject(Object.fromEntries(sent));
	});

	it('forwards no credential, no session and no account of the client', async () => {
		const accessToken = await subject.current.accessToken();
		const account = { 'anthropic-workspace-id': 'wrkspc_private', 'anthropic-organization-id': 'org-private' };
		const custom = { 'x-team': 'private' };
		await ask(subject.current, claudeCodeBody(model), { 'x-api-key': accessToken, ...account, ...custom });
		const { headers } = await subject.current.simulator.newestRequest();
		expect(Object.keys(headers).filter((name) => /^(?:x-(?!api-key)|authorization|cookie)|workspace|organization/.test(name))).toEqual([]);
		expect(JSON.stringify(headers)).not.toMatch(new RegExp(`private|claude-cli|${accessToken.slice(-12)}`));
	});

	it.each([
		['compact', (body: object) => JSON.stringify(body)],
		['with blanks', (body: object) => JSON.stringify(body, undefined, '\t')],
		['with numbers in other spellings', (body: object) => JSON.stringify(body).replace('32000', '3.2e4')],
		['with escaped keys', (body: object) => JSON.stringify(body).replace('"thinking"', String.raw`"th\u0069nking"`)],
	])('forwards the body %s byte for byte, unknown fields included', async (_title, spell) => {
		const later = { field_of_a_later_release: { n: 1.0, list: [null, 'é', 9007199254740993n.toString()] }, speed: 'fast' };
		const sent = spell(claudeCodeBody(model, later));
		await subject.current.simulator.replay({ dialect: 'anthropic', sse: 'event: ping\ndata: {"type":"ping"}\n\n' });
		expect((await ask(subject.current, sent)).status).toBe(200);
		const seen = await subject.current.simulator.newestRequest();
		expect([seen.path, seen.query, seen.body]).toEqual(['/anthropic/v1/messages', 'beta=true', sent]);
	});

	it('forwards a body of 20 MB', async () => {
		const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(20_000_000) } };
		const sent = JSON.stringify(
			claudeCodeBody(model, { messages: [{ role: 'user', content: [image, { type: 'text', text: 'What is it?' }] }] }),
		);
		expect((await ask(subject.current, sent)).status).toBe(200);
		expect((await subject.current.simulator.newestRequest()).body_sha256).toBe(createHash('sha256').update(sent).digest('hex'));
	});

	it('counts tokens at the provider, with the same header fields', async () => {
		const { max_tokens: _cap, stream: _stream, ...body } = claudeCodeBody(model);
		const response = await ask(subject.current, body, {}, '/v1/messages/count_tokens?beta=true');
		expect([response.status, await response.json()]).toEqual([200, { input_tokens: expect.any(Number) as number }]);
		const seen = await subject.current.simulator.newestRequest();
		expect([seen.path, seen.query, seen.body]).toEqual(['/anthropic/v1/messages/count_tokens', 'beta=true', JSON.stringify(body)]);
		expect(seen.headers['anthropic-beta']).toBe(claudeCodeHeaders['anthropic-beta']);
	});

	it('counts tokens for models of others by estimate', async () => {
		const { max_tokens: _cap, stream: _stream, ...body } = claudeCodeBody('gpt-5');
		const response = await ask(subject.current, body, {}, '/v1/messages/count_tokens?beta=true');
		expect([response.status, await response.json()]).toEqual([200, { input_tokens: expect.any(Number) as number }]);
	});

	/** Claude Code recognizes these texts, and turns a capability off or compacts the conversation. */
	it.each([
		"thinking.type: Input tag 'adaptive' found using 'type' does not match any of the expected tags: 'disabled', 'enabled'",
		'messages.1.content.0: Invalid `signature` in `thinking` block',
		"messages.1: role 'system' is not supported on this model",
		'prompt is too long: 208310 tokens > 200000 maximum',
		'context_management: Extra inputs are not permitted',
	])('returns the provider’s error unmodified: %s', async (message) => {
		const body = `{ "type":"error","error":{"type":"invalid_request_error","message":${JSON.stringify(message)}},"request_id":"req_up"}\n`;
		const headers = { 'content-type': 'application/json', 'x-should-retry': 'false', 'request-id': 'req_up' };
		await subject.current.simulator.replay({ dialect: 'anthropic', status: 400, headers, body });
		const response = await ask(subject.current, claudeCodeBody(model));
		expect([response.status, await response.text()]).toEqual([400, body]);
		expect(Object.fromEntries(response.headers)).toMatchObject({
			'x-should-retry': 'false',
			'x-gateway-upstream-request-id': expect.stringMatching(/^req_/) as string,
			'request-id': response.headers.get('x-request-id'),
		});
	});

	it('returns an overload unmodified, as 502 that a retry may cure', async () => {
		const body = '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_up"}';
		await subject.current.simulator.replay({ dialect: 'anthropic', status: 529, headers: { 'content-type': 'application/json' }, body });
		const response = await ask(subject.current, claudeCodeBody(model));
		expect([response.status, await response.text()]).toEqual([502, body]);
		expect([response.headers.get('x-gateway-upstream-status'), response.headers.get('x-should-retry')]).toEqual(['529', null]);
	});

	it('returns the events of a stream unmodified and in order, pings included', async () => {
		const sse = [
			'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":3,"output_tokens":1}}}\n\n',
			'event: ping\ndata: {"type": "ping"}\n\n',
			'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}\n\n',
			'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}\n\n',
			'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
			'event: event_of_a_later_release\ndata: {"type":"event_of_a_later_release","n":1.0}\n\n',
			'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
		].join('');
		await subject.current.simulator.replay({ dialect: 'anthropic', sse });
		const response = await ask(subject.current, claudeCodeBody(model));
		expect(await response.text()).toBe(sse);
		expect(Object.fromEntries(response.headers)).toMatchObject({
			'content-type': 'text/event-stream; charset=utf-8',
			'x-accel-buffering': 'no',
		});
	});
});

describeOwn('Claude Code’s credential and startup', 'our simulator', () => {
	const subject = useSubject();

	it.each([
		['ANTHROPIC_AUTH_TOKEN', ['authorization']],
		['ANTHROPIC_API_KEY', ['x-api-key']],
		['apiKeyHelper', ['authorization', 'x-api-key']],
	])('takes the access token of %s, sent in %j', async (_source, names) => {
		const accessToken = await subject.current.accessToken();
		const credential: Record<string, string | null> = { authorization: null };
		for (const name of names) credential[name] = name === 'authorization' ? `Bearer ${accessToken}` : accessToken;
		expect((await ask(subject.current, claudeCodeBody(model), credential)).status).toBe(200);
		const path = '/v1/models?limit=1000';
		const discovery = await send(subject.current, path, { method: 'GET', headers: { ...credential, 'anthropic-version': '2023-06-01' } });
		const { data } = (await discovery.json()) as { data: { id: string; display_name: string }[] };
		expect([discovery.status, discovery.redirected]).toEqual([200, false]);
		expect(data.filter(({ id, display_name: name }) => id.startsWith('claude') && name !== '').length).toBeGreaterThan(5);
	});

	it('responds to the probe HEAD / without a credential, and to other probes without a redirect', async () => {
		const probe = (path: string): Promise<Response> => send(subject.current, path, { method: 'HEAD', headers: { authorization: null } });
		expect((await probe('/')).status).toBe(200);
		expect((await probe('/api/hello')).status).toBe(401);
	});

	it('rejects a credential at once, for good, and with a page that programs can print', async () => {
		const response = await ask(subject.current, claudeCodeBody(model), { authorization: 'Bearer expired' });
		expect(response.status).toBe(401);
		expect(Object.fromEntries(response.headers)).toMatchObject({
			'x-should-retry': 'false',
			'request-id': expect.stringMatching(/^req_/) as string,
			'www-authenticate': expect.stringContaining('invalid_token') as string,
		});
		expect((await response.text()).length).toBeLessThan(500);
	});
});

describeOwn('the gateway’s rejections, as Claude Code reads them', 'a configuration of its own', () => {
	const subject = useSubject((simulatorUrl) => ({
		gateway: { max_body_bytes: 100_000, heartbeat_ms: heartbeatMs, timeouts: { first_byte_ms: 900, idle_ms: 900 } },
		enable_guardrails: true,
		enforce_guardrails: true,
		guardrails: { words: ['darkfish'] },
		tiers: { sandbox: { rpm: 1 } },
		teams: { registered: [{ id: 'one', tier: 'sandbox', client_ids: ['operator'] }] },
		providers: {
			down: { kind: 'anthropic', base_url: 'http://127.0.0.1:9', api_key: 'k', allow_private_network: true },
			unset: { kind: 'anthropic', base_url: `${simulatorUrl}/anthropic`, api_key: 'REPLACE_ME', allow_private_network: true },
		},
	}));
	const product = (): Product => {
		const started = subject.current.product;
		if (started === undefined) throw new Error('the tests start the product');
		return started;
	};
	const words = (text: string): Record<string, unknown> => ({ messages: [{ role: 'user', content: text }] });

	it.each([
		['a malformed body', '{"model":', {}, 400, 'invalid_request_error', null],
		['a body without messages', { ...claudeCodeBody(model), messages: 'none' }, {}, 400, 'invalid_request_error', null],
		['a guardrail', claudeCodeBody(model, words('the darkfish')), {}, 400, 'invalid_request_error', null],
		['a body over the limit', claudeCodeBody(model, words('x'.repeat(100_000))), {}, 413, 'request_too_large', null],
		['another media type', claudeCodeBody(model), { 'content-type': 'text/plain' }, 415, 'invalid_request_error', null],
		['an unreachable provider', claudeCodeBody('down/claude-x'), {}, 502, 'api_error', null],
		['a provider without a key', claudeCodeBody('unset/claude-x'), {}, 502, 'api_error', 'false'],
		['a silent provider', claudeCodeBody('claude-sim-hang'), {}, 504, 'timeout_error', null],
	])('%s is Anthropic’s error', async (_case, body, headers, status, type, shouldRetry) => {
		const response = await ask(subject.current, body, headers);
		const { error, ...rest } = await errorOf(response);
		expect([response.status, error.type, response.headers.get('x-should-retry')]).toEqual([status, type, shouldRetry]);
		expect(response.headers.get('content-type')).toBe('application/json');
		expect(rest).toMatchObject({ type: 'error', request_id: response.headers.get('request-id') });
		expect(error.message).toMatch(/\w{3,} \w+/);
	});

	it.each([
		['an unknown path', 'POST', '/v1/messages/nonsense', 404, 'not_found_error'],
		['another method', 'PUT', '/v1/messages', 405, 'invalid_request_error'],
		['an unknown model of the list', 'GET', '/v1/models/nonsense', 404, 'not_found_error'],
	])('%s is Anthropic’s error', async (_case, method, path, status, type) => {
		const response = await send(subject.current, path, { method, headers: claudeCodeHeaders });
		expect([response.status, (await errorOf(response)).error.type]).toEqual([status, type]);
	});

	it('the team’s rate limit names the time to wait', async () => {
		const { adminClient } = subject.current;
		const accessToken = await product().accessToken(adminClient, 'tollgate/invoke');
		const responses = [];
		// Three requests cannot be in two different minutes each.
		for (let sent = 0; sent < 3; sent++) {
			responses.push(await send(subject.current, claudeCodePath, { headers: claudeCodeHeaders, body: claudeCodeBody(model), accessToken }));
		}
		const rejected = responses.find(({ status }) => status === 429);
		const body = rejected === undefined ? undefined : await errorOf(rejected);
		expect(body).toMatchObject({ type: 'error', error: { type: 'rate_limit_error' }, request_id: rejected?.headers.get('request-id') });
		expect(Number(rejected?.headers.get('retry-after'))).toBeGreaterThan(0);
		expect(rejected?.headers.get('x-should-retry')).toBeNull();
	});

	it('a token without the scope is 403, without a redirect', async () => {
		const accessToken = await product().accessToken(subject.current.adminClient, 'tollgate/admin');
		const response = await send(subject.current, claudeCodePath, { headers: claudeCodeHeaders, body: claudeCodeBody(model), accessToken });
		expect([response.status, response.headers.get('x-amzn-waf-action')]).toEqual([403, null]);
		expect(response.headers.get('request-id')).toMatch(/^req_/);
	});

	it('keeps an idle stream alive with comments, which count as activity, and ends it with an error event', async () => {
		const response = await ask(subject.current, claudeCodeBody('claude-sim-stall-2'));
		const text = await response.text();
		expect(text).toMatch(/^event: message_start\n/);
		expect(text).toMatch(/\n\n(?:: keepalive\n\n)+event: error\ndata: \{"type":"error","error":\{"type":"timeout_error"/);
		expect(text).not.toContain('message_stop');
	});
});
