import { describe, expect, it } from 'vitest';
import {
	chatBody,
	chatPath,
	errorOf,
	GatewayBench,
	isPage,
	messagesBody,
	messagesPath,
	summaryOf,
	testSettings,
} from '../../../../test/support/gateway-bench.ts';
import { readRetryAfterMs } from '../read-retry-after.ts';

describe('the upstream request', () => {
	it('is the client’s body, byte for byte', async () => {
		const bench = new GatewayBench();
		const body = Buffer.from(
			'{ "model" : "gpt-5", "seed":12345678901234567890, "temperature":1.0,\n"messages":[{"content":"\\ud83d\\ude00 \\u00e9","role":"user"}], "__proto__":{"x":1} }',
		);
		await bench.ask(`${chatPath}?a=1&b=2`, body);
		expect(bench.sent[0]).toMatchObject({
			origin: 'https://b.test',
			method: 'POST',
			target: '/v1/chat/completions?a=1&b=2',
			canReachPrivateNetwork: false,
		});
		expect(bench.sent[0]?.body).toEqual(body);
		expect(bench.sent[0]?.headers.authorization).toBe('Bearer sk-proj-secret-key-abcd');
	});

	it.each([
		['fast', 'gpt-5-mini'],
		['provider_b/some/model', 'some/model'],
		['provider_b/quo\\"te', 'quo\\"te'],
	])('has only the model’s name changed if %s is an alias', async (requested, expected) => {
		const bench = new GatewayBench();
		const body = (model: string) => `{"n":1.0,  "model": "${model}" ,"messages":[{"role":"user","content":"fast \\u0041"}]}`;
		const response = await bench.ask(chatPath, body(requested));
		expect(bench.sent[0]?.body).toEqual(Buffer.from(body(expected)));
		expect(response.headers).toMatchObject({ 'x-gateway-provider': 'provider_b' });
	});

	it('has the version and features of the messages format, and its query', async () => {
		const bench = new GatewayBench();
		await bench.ask(`${messagesPath}?beta=true`, messagesBody, { 'provider-a-version': '2026-10-21', 'anthropic-beta': 'x' });
		expect(bench.sent[0]).toMatchObject({
			target: '/v1/messages?beta=true',
			headers: { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'x', 'x-api-key': 'sk-ant-secret-key-0001' },
		});
	});

	it('goes to a deployment by its name', async () => {
		const bench = new GatewayBench();
		await bench.ask(chatPath, chatBody.replace('gpt-5', 'our-gpt'));
		expect(bench.sent[0]).toMatchObject({
			origin: 'https://d.test',
			target: '/openai/deployments/our-gpt/chat/completions?api-version=2024-10-21',
		});
	});

	it('is not sent if its key is unset, and retries are discouraged', async () => {
		const [provider] = testSettings.providers;
		for (const apiKey of ['', 'REPLACE_ME']) {
			const bench = new GatewayBench({
				providers: provider === undefined ? [] : [{ ...provider, apiKey }],
				routing: { ...testSettings.routing, aliases: {} },
			});
			for (const accept of [undefined, '*/*', 'application/json', 'text/event-stream']) {
				const json = await bench.ask(messagesPath, messagesBody, { accept });
				expect([summaryOf(json), json.headers['x-should-retry']]).toEqual(['502 provider_key_unset', 'false']);
				expect(errorOf(json).error.message).toContain(`Provider \`${provider?.name}\` has no`);
			}
			const page = await bench.ask(messagesPath, messagesBody, { accept: 'Text/HTML,*/*;q=0.8' });
			expect([page.status, isPage(page), page.headers['x-should-retry']]).toEqual([502, true, 'false']);
			expect(bench.sent).toHaveLength(0);
		}
	});
});

it('a wait is read in seconds, in milliseconds and as a date', () => {
	const nowMs = Date.UTC(2026, 10, 21);
	expect(readRetryAfterMs({ 'retry-after': '2' }, nowMs)).toBe(2000);
	expect(readRetryAfterMs({ 'retry-after': '2', 'retry-after-ms': '150' }, nowMs)).toBe(150);
	expect(readRetryAfterMs({ 'retry-after': 'Sat, 21 Nov 2026 00:00:07 GMT' }, nowMs)).toBe(7000);
	expect([readRetryAfterMs({ 'retry-after': 'soon' }, nowMs), readRetryAfterMs({}, nowMs)]).toEqual([undefined, undefined]);
});
