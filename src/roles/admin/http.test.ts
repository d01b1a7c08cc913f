import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AdminSubject, startAdmin } from '../../../test/support/admin.ts';
import { readAdminDocument } from '../../../test/support/admin-document.ts';
import { createMemoryRecords } from '../../../test/support/memory-records.ts';
import { UpstreamError } from '../../core/upstream-error.ts';

let subject: AdminSubject;
const send: AdminSubject['send'] = (...request) => subject.send(...request);
const failing: { cause?: Error } = {};

beforeAll(async () => {
	const records = createMemoryRecords();
	const { get } = records.teams;
	records.teams.get = (id) => (failing.cause === undefined ? get(id) : Promise.reject(failing.cause));
	subject = await startAdmin({}, { records });
	await send('POST', '/teams', { id: 'red' });
});
afterAll(() => subject.stop());

describe('paths and methods', () => {
	test.each([
		['PATCH', '/teams', 'GET, HEAD, POST'],
		['DELETE', '/teams', 'GET, HEAD, POST'],
		['POST', '/teams/red', 'GET, HEAD, PUT, DELETE'],
		['POST', '/pricing/a/b/c', 'GET, HEAD, PUT, DELETE'],
		['PUT', '/usage/red', 'GET, HEAD'],
		['OPTIONS', '/budgets', 'GET, HEAD, POST'],
		['GET', '/clients/x/rotate', 'POST'],
		['PROPFIND', '/teams', 'GET, HEAD, POST'],
		['POST', '/openapi.json', 'GET, HEAD'],
	])('%s %s is 405 and names the allowed methods', async (method, path, allow) => {
		const response = await send(method, path);
		expect([response.status, response.body['code'], response.headers.get('allow')]).toEqual([405, 'method_not_allowed', allow]);
	});

	test.each(['/absent', '/teams/', '/Teams', '/teams/red/more', '//teams', '/pricing/provider_a', '/usages', '/constructor'])(
		'%s is 404',
		async (path) => {
			expect((await send('GET', path)).body).toMatchObject({
				status: 404,
				code: 'path_unknown',
				type: 'urn:tollgate:problem:path_unknown',
			});
		},
	);

	test.each(['/teams/%ff', '/teams/%zz', '/%'])('%s is no path', async (path) => {
		const response = await send('GET', path);
		expect([response.status, response.headers.get('content-type')]).toEqual([400, 'application/problem+json; charset=utf-8']);
	});

	test('HEAD is GET without a body', async () => {
		const response = await send('HEAD', '/teams/red');
		expect([response.status, response.text, response.headers.get('etag')]).toEqual([
			200,
			'',
			(await send('GET', '/teams/red')).headers.get('etag'),
		]);
	});
});

describe('invalid bodies', () => {
	test.each<[string, string | Uint8Array, number, string]>([
		['nothing', '', 400, 'body_not_json'],
		['half an object', '{"id":', 400, 'body_not_json'],
		['a list', '[]', 400, 'body_not_json'],
		['null', 'null', 400, 'body_not_json'],
		['a member twice', '{"id":"green","id":"blue"}', 400, 'field_invalid'],
		['a member twice, once with an escape', '{"id":"green","\\u0069d":"blue"}', 400, 'field_invalid'],
		['a member twice further down', '{"id":"green","metadata":{"a":"1","a":"2"}}', 400, 'body_not_json'],
		['65 levels', `{"id":${'['.repeat(64)}${']'.repeat(64)}}`, 400, 'body_too_deep'],
		['100,000 levels', `{"id":${'['.repeat(100_000)}`, 400, 'body_too_deep'],
		['a byte-order mark', '\ufeff{"id":"green"}', 400, 'body_not_utf8'],
		['no UTF-8', Buffer.from('{"name":"\xff"}', 'latin1'), 400, 'body_not_utf8'],
		['__proto__', '{"id":"green","__proto__":{"tier":"x"}}', 422, 'fields_invalid'],
		['__proto__ further down', '{"id":"green","metadata":{"__proto__":"x"}}', 422, 'fields_invalid'],
		['constructor', '{"id":"green","constructor":{"prototype":{"a":1}}}', 422, 'fields_invalid'],
		['more than a mebibyte', `{"name":"${'x'.repeat(2 ** 20)}"}`, 413, 'body_too_large'],
	])('%s', async (_title, body, status, code) => {
		const before = await subject.state();
		const response = await send('POST', '/teams', body);
		expect([response.status, response.body['code']]).toEqual([status, code]);
		expect(await subject.state()).toBe(before);
		expect(({} as Record<string, unknown>)['tier']).toBeUndefined();
	});

	test('a body of unknown length is limited too', async () => {
		const endless = new ReadableStream({
			pull: (controller) => controller.enqueue(Buffer.alloc(65_536, 0x20)),
		});
		const request = {
			method: 'POST',
			body: endless,
			duplex: 'half',
			headers: { authorization: 'Bearer root', 'content-type': 'application/json' },
		};
		const outcome = await fetch(`${subject.baseUrl}/teams`, request as RequestInit).then(
			({ status }) => status,
			() => 'closed',
		);
		expect([413, 'closed']).toContain(outcome);
	});

	test.each<[string, Record<string, string>, string]>([
		['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 'media_type_unsupported'],
		['text', { 'content-type': 'text/plain' }, 'media_type_unsupported'],
		['a media type that begins alike', { 'content-type': 'application/jsonp' }, 'media_type_unsupported'],
		['gzip', { 'content-encoding': 'gzip' }, 'content_encoding_unsupported'],
	])('%s is 415', async (_title, headers, code) => {
		const response = await send('POST', '/teams', '{"id":"green"}', headers);
		expect([response.status, response.body['code']]).toEqual([415, code]);
	});

	test('a charset parameter of the media type is accepted', async () => {
		const response = await send('PUT', '/teams/red', {}, { 'content-type': 'application/json; charset=utf-8' });
		expect(response.status).toBe(200);
	});
});

describe('response headers and bodies', () => {
	test('no response can be framed, sniffed, stored or read by other origins', async () => {
		for (const [method, path] of [
			['GET', '/teams'],
			['GET', '/absent'],
			['OPTIONS', '/teams'],
			['GET', '/%zz'],
		] as const) {
			const { headers } = await send(method, path, undefined, { origin: 'https://evil.example', 'access-control-request-method': 'PUT' });
			expect(headers.get('x-content-type-options')).toBe('nosniff');
			expect(headers.get('x-frame-options')).toBe('DENY');
			expect(headers.get('cache-control')).toBe('no-store');
			expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
			expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
			expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
		}
	});

	test('a problem names the error and the request', async () => {
		const response = await send('POST', '/teams', { id: 'green', limits: { rpm: -1 } });
		expect(response.body).toEqual({
			type: 'urn:tollgate:problem:fields_invalid',
			title: 'One or more fields are invalid',
			status: 422,
			detail: '`limits.rpm` must be at least 0',
			code: 'fields_invalid',
			errors: [{ path: 'limits.rpm', message: 'must be at least 0' }],
			request_id: response.headers.get('x-request-id'),
		});
	});

	test('a field’s value is never repeated, and a name from the client is quoted and shortened', async () => {
		const response = await send('POST', '/teams', { id: 'sk-secret Value', name: 7, [`<script>${'x'.repeat(500)}`]: 1 });
		expect(response.text).not.toContain('secret');
		expect(response.text.length).toBeLessThan(1500);
	});

	test('of ten thousand wrong fields fifty are reported', async () => {
		const response = await send('POST', '/teams', { id: 'green', client_ids: Array.from({ length: 10_000 }, () => '\n') });
		expect([response.status, (response.body['errors'] as object[]).length]).toEqual([422, 50]);
	});

	test('each request is logged in one line, without its token or secrets', async () => {
		const { body, headers } = await send('POST', '/clients', { name: 'Logged' });
		const id = headers.get('x-request-id');
		expect(subject.log.lines.filter(({ fields }) => fields['requestId'] === id)).toEqual([
			{
				level: 'info',
				event: 'admin request',
				fields: {
					requestId: id,
					method: 'POST',
					path: '/clients',
					status: 201,
					clientId: 'root',
					durationMs: expect.any(Number) as number,
				},
			},
		]);
		expect(JSON.stringify(subject.log.lines)).not.toContain(body['client_secret']);
	});
});

describe('failures', () => {
	test('an internal error shows only its request id, and is logged in full', async () => {
		failing.cause = new Error('secret detail');
		const response = await send('GET', '/teams/red');
		delete failing.cause;
		expect([response.status, response.body['code']]).toEqual([500, 'internal_error']);
		expect(response.text).not.toMatch(/secret detail|at .*\.ts/);
		const line = subject.log.lines.find(({ level, fields }) => level === 'error' && fields['requestId'] === response.body['request_id']);
		expect(line?.fields['cause']).toMatchObject({ message: 'secret detail' });
	});

	test('an unavailable store is 503 with retry-after', async () => {
		failing.cause = new UpstreamError('records_unavailable');
		const response = await send('GET', '/teams/red');
		delete failing.cause;
		expect([response.status, response.body['code'], response.headers.get('retry-after')]).toEqual([503, 'records_unavailable', '1']);
	});

	test.each([
		['no HTTP', 'nonsense\r\n\r\n', 400],
		['two lengths', 'POST /teams HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n', 400],
		['headers without end', `GET / HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
	])('%s gets a response and the connection is closed', async (_title, bytes, status) => {
		const port = Number(new URL(subject.baseUrl).port);
		const text = await new Promise<string>((resolve, reject) => {
			let received = '';
			const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
			socket.setEncoding('utf8').on('data', (chunk: string) => (received += chunk));
			socket.on('close', () => resolve(received)).on('error', reject);
		});
		expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
		expect(text).toContain('application/problem+json');
	});

	test('a request that does not arrive completely in time is 408, and the connection closed', async () => {
		const impatient = await startAdmin({ requestTimeoutMs: 100 });
		const port = Number(new URL(impatient.baseUrl).port);
		const head = 'POST /teams HTTP/1.1\r\nhost: a\r\nauthorization: Bearer root\r\ncontent-type: application/json\r\n';
		for (const bytes of [`${head}content-length: 100\r\n\r\n{"id":`, head]) {
			const text = await new Promise<string>((resolve, reject) => {
				let received = '';
				const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
				socket.setEncoding('utf8').on('data', (chunk: string) => (received += chunk));
				socket.on('close', () => resolve(received)).on('error', reject);
			});
			expect(text).toMatch(/^HTTP\/1\.1 408 /);
			expect(text).toMatch(/application\/problem\+json[^]*"code":"body_timeout"/);
		}
		expect(await impatient.records.teams.list()).toEqual([]);
		await impatient.stop();
	});

	test('it is not ready while records cannot be read, but alive', async () => {
		const other = await startAdmin(
			{},
			{ records: { ...subject.records, teams: { ...subject.records.teams, get: () => Promise.reject(new Error('away')) } } },
		);
		expect([(await other.send('GET', '/readyz')).status, (await other.send('GET', '/healthz')).status]).toEqual([503, 200]);
		await other.stop();
	});
});

describe('the document', () => {
	test('is OpenAPI 3.1, and every operation lists its possible responses', async () => {
		const { body, headers } = await send('GET', '/openapi.json');
		expect(body).toMatchObject({ openapi: '3.1.0', info: { title: 'Tollgate admin API', version: '0.0.0' } });
		expect(headers.get('cache-control')).toBe('public, max-age=300');
		const { operations } = await readAdminDocument(subject.baseUrl);
		for (const { statuses } of operations.filter(({ isPublic }) => !isPublic)) {
			expect(statuses).toEqual(expect.arrayContaining(['401', '403', '429', '503']));
		}
		expect(JSON.stringify(body)).not.toContain('"$id"');
		for (const [, name] of JSON.stringify(body).matchAll(/#\/components\/schemas\/(\w+)/g)) {
			expect((body['components'] as { schemas: object }).schemas).toHaveProperty(name ?? '');
		}
	});

	test('has operation ids that differ', async () => {
		const ids = [...(await send('GET', '/openapi.json')).text.matchAll(/"operationId":"(\w+)"/g)].map(([, id]) => id);
		expect(new Set(ids).size).toBe(ids.length);
		expect(ids).toContain('putPricingProviderModel');
	});

	test('as a page loads nothing from anywhere and runs no script', async () => {
		const { text, headers } = await send('GET', '/docs', undefined, { authorization: '' });
		expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
		expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; frame-ancestors 'none'/);
		expect(text).not.toMatch(/<script|src=|https?:|@import|url\(/);
		for (const path of ['/teams/{id}', '/pricing/{provider}/{model}', '/usage/{team}/history']) expect(text).toContain(path);
		expect(text).toContain('<code>record_stale</code>');
	});
});

test('the response to a change waits until it applies to requests of this process; a read waits for nothing', async () => {
	const applied = Promise.withResolvers<void>();
	const waiting = Promise.withResolvers<void>();
	const here = await startAdmin(
		{},
		{
			changesApplied: () => {
				waiting.resolve();
				return applied.promise;
			},
		},
	);
	let hasResponse = false;
	const changing = here.send('POST', '/teams', { id: 'red' }).finally(() => {
		hasResponse = true;
	});
	await waiting.promise;
	expect((await here.send('GET', '/teams/red')).status).toBe(200);
	expect(hasResponse).toBe(false);
	applied.resolve();
	expect((await changing).status).toBe(201);
	await here.stop();
});
