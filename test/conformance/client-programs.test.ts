/** Programs of users that reach the gateway through `tollgate proxy`, or with the settings of `tollgate connect`. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { expect, it } from 'vitest';
import { launcher, type Running, runTollgate, startProcess, temporaryDirectory } from '../support/processes.ts';
import { eventually } from '../support/product.ts';
import { describeOwn, type Subject, useSubject } from './subject.ts';

const variablesOf = ({ client, tokenEndpoint, baseUrl }: Subject): Record<string, string> => ({
	GATEWAY_CLIENT_ID: client.id,
	GATEWAY_CLIENT_SECRET: client.secret,
	GATEWAY_TOKEN_ENDPOINT: tokenEndpoint,
	GATEWAY_URL: baseUrl,
});

describeOwn('tollgate proxy and tollgate connect', 'our simulator', () => {
	const subject = useSubject();

	const startProxy = async (): Promise<Running & { readonly url: string }> => {
		const args = [launcher, 'proxy', '--listen', '127.0.0.1:0'];
		const running = startProcess(process.execPath, args, { env: variablesOf(subject.current) });
		const url = await eventually(`the address in ${running.stderr}`, () => /http:\S+/.exec(running.stdout)?.[0]);
		return Object.assign(Object.create(running) as Running, { url });
	};

	it('serves SDKs that have only a fixed key, streaming and non-streaming', async () => {
		const { url } = await startProxy();
		const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'fixed', maxRetries: 0 });
		const anthropic = new Anthropic({ baseURL: url, apiKey: 'fixed', maxRetries: 0 });
		const messages = [{ role: 'user' as const, content: 'Say hello.' }];
		const completion = await openai.chat.completions.create({ model: 'claude-haiku-4-5', messages });
		expect(completion.choices[0]?.message.content).toContain('Say hello.');
		const stream = await openai.chat.completions.create({ model: 'gpt-4o-mini', messages, stream: true });
		let text = '';
		for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
		expect(text).toContain('Say hello.');
		const message = await anthropic.messages.stream({ model: 'gpt-4o-mini', max_tokens: 50, messages }).finalMessage();
		expect(message.content[0]).toMatchObject({ type: 'text', text: expect.stringContaining('Say hello.') as unknown });
	});

	it('passes errors of the gateway through', async () => {
		const { url } = await startProxy();
		const send = (base: string, headers: Record<string, string>): Promise<Response> =>
			fetch(`${base}/v1/chat/completions`, {
				method: 'POST',
				headers: { 'content-type': 'application/json', ...headers },
				body: '{"model":5}',
			});
		const proxied = await send(url, { 'x-api-key': 'fixed' });
		const direct = await send(subject.current.baseUrl, { authorization: `Bearer ${await subject.current.accessToken()}` });
		const withoutId = async (response: Response): Promise<unknown> => ({ ...((await response.json()) as object), request_id: '' });
		expect([proxied.status, await withoutId(proxied)]).toEqual([400, await withoutId(direct)]);
		expect(proxied.headers.get('x-request-id')).toMatch(/^req_/);
	});

	it.each(['SIGINT', 'SIGTERM'] as const)('ends with exit code 0 at %s', async (signal) => {
		const running = await startProxy();
		running.child.kill(signal);
		expect(await running.ended).toEqual({ code: 0, signal: null });
		expect(running.stderr).toBe('');
	});

	it('rejects a request under a foreign name before it reaches the gateway', async () => {
		const { url } = await startProxy();
		const served = await subject.current.simulator.requestsServed();
		const outgoing = request(url, { path: '/v1/models', headers: { host: 'attacker.example' }, agent: false }).end();
		const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
		expect(await json(response)).toMatchObject({ error: { code: 'foreign_request' } });
		expect(await subject.current.simulator.requestsServed()).toBe(served);
	});

	it('writes settings for Claude Code whose helper prints a token that the gateway accepts', async () => {
		const file = join(temporaryDirectory(), 'settings.json');
		const env = variablesOf(subject.current);
		const { code } = await runTollgate(['connect', 'claude-code', '--write', '--file', file], { env });
		expect(code).toBe(0);
		const { apiKeyHelper, env: settings } = JSON.parse(readFileSync(file, 'utf8')) as { apiKeyHelper: string; env: Record<string, string> };
		const { stdout } = await promisify(execFile)('sh', ['-c', apiKeyHelper], { env: { ...process.env, ...env } });
		const headers = { authorization: `Bearer ${stdout.trim()}` };
		expect((await fetch(`${settings['ANTHROPIC_BASE_URL']}/v1/models`, { headers })).status).toBe(200);
	});
});
