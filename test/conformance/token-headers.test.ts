/** Header fields that carry the access token, to a product that reads the default ones and one that reads all. */
import { describe, expect, it } from 'vitest';
import { RawClient } from '../support/raw-client.ts';
import { until } from '../support/until.ts';
import { chatBody, describeOwn, messagesBody, type Subject, send, useSubject } from './subject.ts';

const paths = ['/v1/chat/completions', '/v1/messages'];

/** Sends a request whose header fields have `TOKEN` in place of the access token. */
async function ask(subject: Subject, path: string, headers: Readonly<Record<string, string>>): Promise<Response> {
	const accessToken = await subject.accessToken();
	const sent = Object.entries(headers).map(([name, value]) => [name, value.replace('TOKEN', accessToken)] as const);
	const body = path === '/v1/messages' ? messagesBody(subject) : chatBody(subject);
	return send(subject, path, { headers: { authorization: null, ...Object.fromEntries(sent) }, body });
}

describe('tokens', () => {
	const subject = useSubject();

	describe.each(paths)('%s', (path) => {
		it.each([
			['x-api-key', { 'x-api-key': 'TOKEN' }],
			['api-key', { 'api-key': 'TOKEN' }],
			['the same value in both', { 'x-api-key': 'TOKEN', 'api-key': 'TOKEN' }],
			['authorization alone, where others differ', { authorization: 'Bearer TOKEN', 'x-api-key': 'sk-ant-other', 'api-key': 'sk-other' }],
			['x-api-key, where a field that is not listed differs', { 'x-api-key': 'TOKEN', 'x-goog-api-key': 'other' }],
			['x-api-key, where the other is empty', { 'x-api-key': 'TOKEN', 'api-key': '' }],
		])('is read from %s', async (_title, headers) => {
			expect((await ask(subject.current, path, headers)).status).toBe(200);
		});

		it.each([
			['no field', {}],
			['a field that is not listed', { 'x-goog-api-key': 'TOKEN' }],
			['two different values', { 'x-api-key': 'TOKEN', 'api-key': 'other' }],
			['a malformed authorization, whatever x-api-key says', { authorization: 'Bearer other', 'x-api-key': 'TOKEN' }],
			['another scheme of authorization', { authorization: 'Basic other', 'x-api-key': 'TOKEN' }],
			['an empty authorization', { authorization: '', 'x-api-key': 'TOKEN' }],
			['a scheme in x-api-key', { 'x-api-key': 'Bearer TOKEN' }],
		])('%s is 401 for good, with a small page', async (_title, headers) => {
			const response = await ask(subject.current, path, headers);
			expect([response.status, response.headers.get('x-should-retry')]).toEqual([401, 'false']);
			expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
			const page = await response.text();
			expect(page).toMatch(/^<!doctype html>/);
			expect(page.length).toBeLessThan(500);
			expect(page).not.toContain('<style');
		});
	});

	it('two fields of one name are 401, even if they agree', async () => {
		const accessToken = await subject.current.accessToken();
		const client = new RawClient(Number(new URL(subject.current.baseUrl).port));
		const fields = `host: x\r\nx-api-key: ${accessToken}\r\nx-api-key: ${accessToken}\r\nconnection: close\r\n`;
		client.send(`GET /v1/models HTTP/1.1\r\n${fields}\r\n`);
		await until(() => client.isEnded);
		expect(client.text).toMatch(/^HTTP\/1\.1 4(?:00|01) /);
	});
});

describeOwn('tokens reach no provider', 'our simulator', () => {
	const subject = useSubject({ edge: { token_headers: ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key'] } });

	it.each(['x-api-key', 'api-key', 'x-goog-api-key', 'authorization'])('in %s', async (field) => {
		const accessToken = await subject.current.accessToken();
		const credential = field === 'authorization' ? `Bearer ${accessToken}` : accessToken;
		for (const model of ['claude-haiku-4-5', 'gpt-4o-mini', 'gemini-2.5-flash', 'team-deployment']) {
			const body = { model, max_tokens: 50, messages: [{ role: 'user', content: 'Say hello.' }] };
			const response = await send(subject.current, '/v1/chat/completions', { headers: { authorization: null, [field]: credential }, body });
			expect([model, response.status]).toEqual([model, 200]);
			const { headers } = await subject.current.simulator.newestRequest();
			expect(JSON.stringify(headers)).not.toContain(accessToken.slice(-12));
			const credentials = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key'].filter((name) => name in headers);
			expect(credentials).toHaveLength(1);
		}
	});

	it('the default order leaves authorization first', async () => {
		expect((await ask(subject.current, '/v1/messages', { authorization: 'Bearer other', 'x-goog-api-key': 'TOKEN' })).status).toBe(401);
	});
});
