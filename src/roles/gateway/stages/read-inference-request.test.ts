import { describe, expect, it } from 'vitest';
import {
	chatBody,
	chatPath,
	errorOf,
	GatewayBench,
	HandStream,
	messagesBody,
	messagesPath,
	settle,
	summaryOf,
	textOf,
} from '../../../../test/support/gateway-bench.ts';
import type { ByteStream } from '../../../core/handler.ts';
import { Rejection } from '../../../core/rejection.ts';
import { GatewayWork } from '../gateway-work.ts';

describe('an unknown path', () => {
	it.each([
		['/v1/completion', '. Did you mean /v1/completions?'],
		['/chat/completions', '. Did you mean /v1/chat/completions?'],
		['/openai/v1/chat/completions', '. Did you mean /v1/chat/completions?'],
		['/v1/message', '. Did you mean /v1/messages?'],
		['/v1/model', '. Did you mean /v1/models?'],
		['/v1/rerank', ''],
		['/v1', ''],
	])('%s has the hint %j', async (path, hint) => {
		const response = await new GatewayBench().ask(path, chatBody);
		expect(errorOf(response).error.message).toBe(`Unknown path ${path}${hint}`);
	});
});

describe('requests that are rejected before a provider receives them', () => {
	it.each([
		['an unknown path', '/v1/nothing', chatBody, {}, '404 path_unknown'],
		['an unknown path under /v1/messages', '/v1/messages/other', messagesBody, {}, '404 path_unknown'],
		['no media type', chatPath, chatBody, { 'content-type': undefined }, '415 media_type_unsupported'],
		['another media type', chatPath, chatBody, { 'content-type': 'text/plain' }, '415 media_type_unsupported'],
		['a form', chatPath, chatBody, { 'content-type': 'application/x-www-form-urlencoded' }, '415 media_type_unsupported'],
		['a longer media type', chatPath, chatBody, { 'content-type': 'application/json5' }, '415 media_type_unsupported'],
		['another charset', chatPath, chatBody, { 'content-type': 'application/json; charset=utf-16' }, '415 media_type_unsupported'],
		['a compressed body', chatPath, chatBody, { 'content-encoding': 'gzip' }, '415 content_encoding_unsupported'],
		['no body', chatPath, '', {}, '400 body_not_json'],
		['half a body', chatPath, '{"model":', {}, '400 body_not_json'],
		['a byte-order mark', chatPath, `\ufeff${chatBody}`, {}, '400 body_not_utf8'],
		['invalid UTF-8', messagesPath, Buffer.from([0x7b, 0xff, 0x7d]), {}, '400 body_not_utf8'],
		['100,000 arrays', messagesPath, '['.repeat(100_000), {}, '400 body_too_deep'],
		['two models', chatPath, '{"model":"a","model":"b","messages":[{"role":"user","content":"x"}]}', {}, '400 field_invalid'],
		['no model', chatPath, '{"messages":[{"role":"user","content":"x"}]}', {}, '400 field_missing'],
		['no max_tokens in a message', messagesPath, chatBody, {}, '400 field_missing'],
		['two answers of a model whose format has one', chatPath, messagesBody.replace('{', '{"n":2,'), {}, '400 field_invalid'],
		['a model that is no deployment name', chatPath, chatBody.replace('gpt-5', 'provider_d/../x'), {}, '400 field_invalid'],
	])('%s', async (_name, path, body, headers, expected) => {
		const bench = new GatewayBench();
		const response = await bench.ask(path, body, headers);
		expect(summaryOf(response)).toBe(expected);
		expect(response.headers).toMatchObject({ 'content-type': 'application/json' });
		expect(response.record?.code).toBe(expected.slice(4));
		expect(errorOf(response)).toMatchObject({ type: 'error', request_id: 'req-1' });
		expect(bench.sent).toHaveLength(0);
		expect(bench.gateway.inFlightRequests()).toBe(0);
	});

	it.each([
		[{ 'content-type': 'application/json; charset=utf-8' }],
		[{ 'content-type': 'Application/JSON;charset="UTF-8"; v=1' }],
		[{ 'content-encoding': 'identity' }],
	])('but not %j', async (headers) => {
		expect((await new GatewayBench().ask(chatPath, chatBody, headers)).status).toBe(200);
	});

	it('a method that the path does not allow, naming those it allows', async () => {
		const bench = new GatewayBench();
		for (const [path, method, allow] of [
			[chatPath, 'GET', 'POST'],
			[messagesPath, 'DELETE', 'POST'],
			['/v1/models', 'POST', 'GET'],
			['/', 'POST', 'GET, HEAD'],
		] as const) {
			const response = await bench.ask(path, '', {}, { method });
			expect([response.status, response.headers.allow]).toEqual([405, allow]);
		}
	});

	it('an unknown path or method shows an authenticated client the limits of its team', async () => {
		const tier = { requestsPerMinute: 10, dailyTokens: null, monthlyBudgetUsd: null };
		const bench = new GatewayBench({ tiers: { sandbox: tier, standard: tier } });
		for (const [path, status] of [
			['/v1/nothing', 404],
			[chatPath, 405],
		] as const) {
			const response = await bench.ask(path, '', {}, { method: 'GET' });
			expect([response.status, response.headers['x-ratelimit-remaining-requests'], response.record?.team]).toEqual([
				status,
				'10',
				'team-1',
			]);
		}
	});

	it('a body whose announced length is too long immediately, unread; an unannounced one as soon as it is', async () => {
		const bench = new GatewayBench({ maxBodyBytes: 10 });
		const body = new HandStream();
		const announced = await bench.ask(chatPath, body, {}, { announcedLength: 11 });
		expect([summaryOf(announced), announced.closesConnection, body.sink]).toEqual(['413 body_too_large', true, undefined]);
		const pending = bench.ask(chatPath, body, {}, { announcedLength: undefined });
		await settle();
		body.write('x'.repeat(11));
		expect(summaryOf(await pending)).toBe('413 body_too_large');
		expect(body.isCancelled).toBe(true);
	});

	it('a body whose client stalls', async () => {
		const body = new HandStream();
		const pending = new GatewayBench().ask(chatPath, body);
		await settle();
		body.sink?.fail(new Rejection('body_timeout'));
		expect(summaryOf(await pending)).toBe('408 body_timeout');
	});
});

describe('a body that has already arrived', () => {
	const there = (text: string): ByteStream => ({
		takeAll: () => Buffer.from(text),
		start() {
			throw new Error('it need not be waited for');
		},
	});

	it('is read synchronously, and so is a response', async () => {
		const bench = new GatewayBench();
		bench.respond = () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: there('{"id":"x"}') });
		const response = await bench.ask(chatPath, there(chatBody), {}, { announcedLength: chatBody.length });
		expect([response.status, textOf(response)]).toEqual([200, '{"id":"x"}']);
		expect(bench.sent[0]?.body).toEqual(Buffer.from(chatBody));
	});

	it('is rejected like any other, and its memory is released', async () => {
		const work = new GatewayWork();
		const bench = new GatewayBench({}, { work });
		const half = '{"model":';
		expect(summaryOf(await bench.ask(chatPath, there(half), {}, { announcedLength: half.length }))).toBe('400 body_not_json');
		expect(work.bodyMemory.reservedBytes).toBe(0);
	});
});
