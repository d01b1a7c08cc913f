/** Hostile and invalid bodies: the status of the contract, a message that names the field, and no request to the provider. */
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RawClient } from '../support/raw-client.ts';
import { chatBody, isOwnProduct, itOwn, messagesBody, requestsServed, send, useSubject } from './subject.ts';

const subject = useSubject({ gateway: { max_body_bytes: 200_000 } });

interface Case {
	title: string;
	body: unknown;
	headers?: Record<string, string | null>;
	status: number;
	param?: string;
	code: string;
}

const valid = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }], max_tokens: 5 };
const cases: Case[] = [
	{ title: 'malformed JSON', body: '{"model": "gpt-4o-mini", ', status: 400, code: 'body_not_json' },
	{ title: 'an empty body', body: '', status: 400, code: 'body_not_json' },
	{ title: 'two JSON values', body: '{} {}', status: 400, code: 'body_not_json' },
	{ title: 'an array', body: '[]', status: 400, code: 'body_not_json' },
	{ title: 'a string', body: '"hi"', status: 400, code: 'body_not_json' },
	{ title: 'null', body: 'null', status: 400, code: 'body_not_json' },
	{ title: 'a byte-order mark', body: `\uFEFF${JSON.stringify(valid)}`, status: 400, code: 'body_not_utf8' },
	{
		title: 'invalid UTF-8',
		body: Buffer.concat([Buffer.from('{"model":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]),
		status: 400,
		code: 'body_not_utf8',
	},
	{
		title: 'an overlong UTF-8 form',
		body: Buffer.concat([Buffer.from('{"model":"'), Buffer.from([0xc0, 0xaf]), Buffer.from('"}')]),
		status: 400,
		code: 'body_not_utf8',
	},
	{
		title: 'nesting of 65 levels',
		body: `{"model":"m","messages":${'['.repeat(65)}${']'.repeat(65)}}`,
		status: 400,
		code: 'body_too_deep',
		param: 'messages',
	},
	{ title: 'nesting of 60,000 levels', body: '['.repeat(60_000) + ']'.repeat(60_000), status: 400, code: 'body_too_deep' },
	{
		title: 'an object of 7,000 levels',
		body: `${'{"a":'.repeat(7000)}1${'}'.repeat(7000)}`,
		status: 400,
		code: 'body_too_deep',
		param: 'a',
	},
	{ title: 'no model', body: { ...valid, model: undefined }, status: 400, code: 'field_missing', param: 'model' },
	{ title: 'an empty model', body: { ...valid, model: '' }, status: 400, code: 'field_invalid', param: 'model' },
	{ title: 'a numeric model', body: { ...valid, model: 4 }, status: 400, code: 'field_invalid', param: 'model' },
	{ title: 'no messages', body: { ...valid, messages: undefined }, status: 400, code: 'field_missing', param: 'messages' },
	{ title: 'messages that are no array', body: { ...valid, messages: 'hi' }, status: 400, code: 'field_invalid', param: 'messages' },
	{ title: 'empty messages', body: { ...valid, messages: [] }, status: 400, code: 'field_invalid', param: 'messages' },
	{ title: 'a message that is no object', body: { ...valid, messages: ['hi'] }, status: 400, code: 'field_invalid', param: 'messages[0]' },
	{
		title: 'a message without a role',
		body: { ...valid, messages: [{ content: 'hi' }] },
		status: 400,
		code: 'field_missing',
		param: 'messages[0].role',
	},
	{
		title: 'a message with a numeric content',
		body: { ...valid, messages: [{ role: 'user', content: 1 }] },
		status: 400,
		code: 'field_invalid',
		param: 'messages[0].content',
	},
	{
		title: 'a part that is no object',
		body: { ...valid, messages: [{ role: 'user', content: ['hi'] }] },
		status: 400,
		code: 'field_invalid',
		param: 'messages[0].content[0]',
	},
	{ title: 'max_tokens as text', body: { ...valid, max_tokens: '5' }, status: 400, code: 'field_invalid', param: 'max_tokens' },
	{ title: 'a negative max_tokens', body: { ...valid, max_tokens: -1 }, status: 400, code: 'field_invalid', param: 'max_tokens' },
	{ title: 'stream as text', body: { ...valid, stream: 'yes' }, status: 400, code: 'field_invalid', param: 'stream' },
	{ title: 'tools that are no array', body: { ...valid, tools: {} }, status: 400, code: 'field_invalid', param: 'tools' },
	{
		title: 'two models',
		body: '{"model":"gpt-4o-mini","messages":[{"role":"user","content":"hi"}],"max_tokens":5,"model":"gpt-4o"}',
		status: 400,
		code: 'field_invalid',
		param: 'model',
	},
	{
		title: 'a body in Brotli',
		body: brotliCompressSync(JSON.stringify(valid)),
		headers: { 'content-encoding': 'br' },
		status: 415,
		code: 'content_encoding_unsupported',
	},
	{
		title: 'a body compressed twice',
		body: gzipSync(gzipSync(JSON.stringify(valid))),
		headers: { 'content-encoding': 'gzip, gzip' },
		status: 415,
		code: 'content_encoding_unsupported',
	},
	{ title: 'JSON that says gzip', body: valid, headers: { 'content-encoding': 'gzip' }, status: 400, code: 'body_not_gzip' },
	{
		title: 'malformed JSON in gzip',
		body: gzipSync('{"model": "gpt-4o-mini", '),
		headers: { 'content-encoding': 'gzip' },
		status: 400,
		code: 'body_not_json',
	},
	{
		title: 'a body that is not JSON by its type',
		body: JSON.stringify(valid),
		headers: { 'content-type': 'text/plain' },
		status: 415,
		code: 'media_type_unsupported',
	},
	{
		title: 'a body without a type',
		body: Buffer.from(JSON.stringify(valid)),
		headers: { 'content-type': null },
		status: 415,
		code: 'media_type_unsupported',
	},
];

let servedBefore = 0;
beforeEach(async () => {
	servedBefore = await requestsServed(subject.current);
});
afterEach(async () => {
	// Skipped for other deployments: their providers cannot be inspected, and a valid request costs money there.
	if (!isOwnProduct) return;
	expect(await requestsServed(subject.current), 'the provider was called').toBe(servedBefore);
	const control = await send(subject.current, '/v1/chat/completions', { body: chatBody(subject.current) });
	expect(control.status, 'a good request after the bad one').toBe(200);
});

describe.each(['/v1/chat/completions', '/v1/messages'])('%s rejects', (path) => {
	const expectRejection = async ({ body, headers, status, param, code }: Omit<Case, 'title'>): Promise<void> => {
		const response = await send(subject.current, path, { body, ...(headers !== undefined && { headers }) });
		expect(response.status).toBe(status);
		const httpResponse = (await response.json()) as {
			error: { message: string; param: string | null; code: string; type: string };
			request_id: string;
		};
		expect(httpResponse.error.code).toBe(code);
		expect(httpResponse.error.param).toBe(param ?? null);
		if (param !== undefined) expect(httpResponse.error.message).toContain(param);
		expect(httpResponse.error.message.length).toBeGreaterThan(15);
		expect(response.headers.get('x-request-id')).toBe(httpResponse.request_id);
	};

	it.each(cases)('$title', async (wrong) => expectRejection(wrong));

	itOwn('a body over the cap', 'a configuration of its own', async () =>
		expectRejection({
			body: { ...valid, messages: [{ role: 'user', content: 'x'.repeat(200_000) }] },
			status: 413,
			code: 'body_too_large',
		}),
	);

	itOwn('a body that inflates to more than the cap', 'a configuration of its own', async () => {
		const body = gzipSync(JSON.stringify({ ...valid, messages: [{ role: 'user', content: 'x'.repeat(200_000) }] }));
		expect(body.length).toBeLessThan(1000);
		await expectRejection({ body, headers: { 'content-encoding': 'gzip' }, status: 413, code: 'body_too_large' });
	});
});

describe('addresses, methods and heads', () => {
	it('an unknown path is 404', async () => {
		for (const path of ['/v1/rerank', '/v1/chat/completions/x', '/v2/messages', '/v1', '/admin']) {
			const response = await send(subject.current, path, { body: chatBody(subject.current) });
			expect([path, response.status]).toEqual([path, 404]);
			const { error } = (await response.json()) as { error: { code: string; message: string } };
			expect([path, error.code]).toEqual([path, 'path_unknown']);
			expect(error.message).toContain(path);
		}
	});

	it.each(['GET', 'PUT', 'DELETE', 'PATCH'])('%s on an inference address is 405 and names what is allowed', async (method) => {
		const response = await send(subject.current, '/v1/messages', {
			method,
			...(method !== 'GET' && { body: messagesBody(subject.current) }),
		});
		expect(response.status).toBe(405);
		expect(response.headers.get('allow')).toBe('POST');
		const { error } = (await response.json()) as { error: { code: string; message: string } };
		expect(error.code).toBe('method_not_allowed');
		expect(error.message).toContain(method);
		expect(error.message).toContain('POST');
	});

	itOwn('oversized header fields are 431', 'a configuration of its own', async () => {
		const raw = new RawClient(Number(new URL(subject.current.baseUrl).port));
		raw.send(`POST /v1/messages HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`);
		await raw.untilClosed();
		expect(raw.statuses).toEqual([431]);
		expect(raw.text).toContain('Send fewer or shorter header fields');
		expect(raw.text).not.toContain('xxxx');
	});
});
