import { describe, expect, it } from 'vitest';
import { chatBody, messagesBody, send, useSubject } from './subject.ts';

const subject = useSubject();

describe('Spec: Resources, chat-completions format', () => {
	it('the response has the fields of the specification', async () => {
		const response = await send(subject.current, '/v1/chat/completions', { body: chatBody(subject.current) });
		expect(response.status).toBe(200);
		expect(response.headers.get('content-type')).toMatch(/^application\/json/);
		const httpResponse = (await response.json()) as Record<string, never>;
		expect(httpResponse).toMatchObject({
			id: expect.any(String) as string,
			object: 'chat.completion',
			created: expect.any(Number) as number,
			model: expect.any(String) as string,
			choices: [{ index: 0, message: { role: 'assistant', content: expect.any(String) as string }, finish_reason: 'stop' }],
			usage: {
				prompt_tokens: expect.any(Number) as number,
				completion_tokens: expect.any(Number) as number,
				total_tokens: expect.any(Number) as number,
			},
		});
	});

	it.each(['system', 'user', 'assistant'])('a message may have the role %s', async (role) => {
		const messages = [
			{ role, content: 'Be brief.' },
			{ role: 'user', content: 'Say hello.' },
		];
		const response = await send(subject.current, '/v1/chat/completions', { body: chatBody(subject.current, { messages }) });
		expect(response.status).toBe(200);
	});
});

describe('Spec: Resources, messages format', () => {
	it('the response has the fields of the specification', async () => {
		const response = await send(subject.current, '/v1/messages', { body: messagesBody(subject.current) });
		expect(response.status).toBe(200);
		expect(await response.json()).toMatchObject({
			id: expect.any(String) as string,
			type: 'message',
			role: 'assistant',
			content: [{ type: 'text', text: expect.any(String) as string }],
			model: expect.any(String) as string,
			stop_reason: 'end_turn',
			usage: { input_tokens: expect.any(Number) as number, output_tokens: expect.any(Number) as number },
		});
	});

	it('max_tokens is required', async () => {
		const { max_tokens: _, ...body } = messagesBody(subject.current);
		const response = await send(subject.current, '/v1/messages', { body });
		expect(response.status).toBe(400);
		expect(await response.json()).toMatchObject({ error: { param: 'max_tokens' } });
	});

	it('takes a version header: provider-a-version', async () => {
		const response = await send(subject.current, '/v1/messages', {
			headers: { 'provider-a-version': '2023-06-01' },
			body: messagesBody(subject.current),
		});
		expect(response.status).toBe(200);
	});
});

describe('Spec: Endpoints, provider routing (current release)', () => {
	it('needs no provider header and does not fail without one', async () => {
		const response = await send(subject.current, '/v1/chat/completions', { body: chatBody(subject.current) });
		expect(response.status).toBe(200);
	});

	it('ignores the provider header of clients that have not removed it', async () => {
		for (const name of ['provider_a', 'provider_b', 'no-such-provider']) {
			const response = await send(subject.current, '/v1/chat/completions', {
				headers: { 'x-gateway-provider': name },
				body: chatBody(subject.current),
			});
			expect(response.status).toBe(200);
			expect(response.headers.get('x-gateway-provider')).toBe('provider_b');
		}
	});
});

describe('Spec: Health check', () => {
	it('GET / returns 200 without a token', async () => {
		expect((await fetch(`${subject.current.baseUrl}/`)).status).toBe(200);
	});

	it('GET /healthz and GET /readyz return 200', async () => {
		expect((await fetch(`${subject.current.baseUrl}/healthz`)).status).toBe(200);
		const ready = await fetch(`${subject.current.baseUrl}/readyz`);
		expect(ready.status).toBe(200);
		expect(ready.headers.get('content-type')).toMatch(/^application\/json/);
	});
});

describe('every response', () => {
	it('carries one id under both names, the provider and the model', async () => {
		const response = await send(subject.current, '/v1/messages', { body: messagesBody(subject.current) });
		const id = response.headers.get('x-request-id');
		expect(id).toMatch(/^req_/);
		expect(response.headers.get('request-id')).toBe(id);
		expect(response.headers.get('x-gateway-provider')).toBe('provider_a');
		expect(response.headers.get('x-gateway-model')).toBe(subject.current.messagesModel);
		expect(response.headers.get('server-timing')).toMatch(/dur=/);
	});

	it('shows nothing of the provider account', async () => {
		for (const [path, body] of [
			['/v1/chat/completions', chatBody(subject.current)],
			['/v1/messages', messagesBody(subject.current)],
		] as const) {
			const response = await send(subject.current, path, { body });
			const names = [...response.headers.keys()];
			expect(names.filter((name) => /organization|openai-project|set-cookie|^cf-|input-tokens|output-tokens/.test(name))).toEqual([]);
		}
	});
});
