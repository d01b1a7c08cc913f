/** Official SDKs, used as their own documentation shows, over real HTTP. */
import type Anthropic1 from '@anthropic-ai/sdk';
import Anthropic0 from '@anthropic-ai/sdk-0';
import { AzureOpenAI, type OpenAI as OpenAI7 } from 'openai';
import { describe, expect, it } from 'vitest';
import { anthropicLines, openAiLines } from '../support/sdk-lines.ts';
import { openAnthropic, openOpenAi } from './open-sdk.ts';
import { itOwn, useSubject } from './subject.ts';

const subject = useSubject();

describe.each(openAiLines)('Spec: Inference endpoints, through %s', (_name, OpenAI) => {
	const open = (accessToken?: string): Promise<OpenAI7> =>
		openOpenAi(OpenAI, subject.current, accessToken === undefined ? {} : { accessToken });
	const question = () => ({
		model: subject.current.chatModel,
		messages: [{ role: 'user' as const, content: 'Say hello.' }],
		max_tokens: 50,
	});

	it('completes a chat', async () => {
		const completion = await (await open()).chat.completions.create(question());
		expect(completion.object).toBe('chat.completion');
		expect(completion.choices[0]?.message.role).toBe('assistant');
		expect(completion.choices[0]?.message.content).toMatch(/\S/);
		expect(completion.choices[0]?.finish_reason).toBe('stop');
		expect(completion.usage?.total_tokens).toBe((completion.usage?.prompt_tokens ?? 0) + (completion.usage?.completion_tokens ?? 0));
		expect(completion._request_id).toMatch(/^req_/);
	});

	itOwn('sends parameters of older models to a reasoning model, and receives a warning of the repair', 'our simulator', async () => {
		const older = { ...question(), model: 'gpt-5', temperature: 0.2, top_p: 0.5 };
		const { data, response } = await (await open()).chat.completions.create(older).withResponse();
		expect(data.choices[0]?.message.content).toMatch(/\S/);
		expect(response.headers.get('x-gateway-warnings')).toMatch(/^max_tokens: .*; temperature: .*; top_p: /);
		const plain = await (await open()).chat.completions.create(question()).withResponse();
		expect(plain.response.headers.get('x-gateway-warnings')).toBeNull();
	});

	it('streams a chat', async () => {
		const stream = await (await open()).chat.completions.create({ ...question(), stream: true });
		let text = '';
		let finish: string | null = null;
		for await (const chunk of stream) {
			expect(chunk.object).toBe('chat.completion.chunk');
			text += chunk.choices[0]?.delta.content ?? '';
			finish = chunk.choices[0]?.finish_reason ?? finish;
		}
		expect(text).toMatch(/\S/);
		expect(finish).toBe('stop');
	});

	it('streams a chat with usage, through the streaming helper', async () => {
		const client = await open();
		const final = await client.chat.completions.stream({ ...question(), stream_options: { include_usage: true } }).finalChatCompletion();
		const whole = await client.chat.completions.create(question());
		expect(final.choices[0]?.message.content).toBe(whole.choices[0]?.message.content);
		expect(final.usage?.completion_tokens).toBe(whole.usage?.completion_tokens);
	});

	it('lists models', async () => {
		const models = await (await open()).models.list();
		expect(models.data.length).toBeGreaterThan(0);
		expect(models.data[0]).toMatchObject({ object: 'model', id: expect.any(String) as string });
		const first = models.data[0]?.id ?? '';
		expect(await (await open()).models.retrieve(first)).toMatchObject({ object: 'model', id: first });
		await expect((await open()).models.retrieve('no/such model')).rejects.toMatchObject({ status: 404 });
	});

	it('shows a missing field as a bad request with a readable message', async () => {
		const client = await open();
		const failed = client.chat.completions.create({ model: subject.current.chatModel } as never);
		await expect(failed).rejects.toMatchObject({
			name: 'Error',
			status: 400,
			param: 'messages',
			message: expect.stringContaining('messages') as string,
		});
		await expect(failed).rejects.toBeInstanceOf(OpenAI.BadRequestError);
	});

	it('shows a bad token as an authentication error', async () => {
		const failed = (await open('not-a-token')).chat.completions.create(question());
		await expect(failed).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
	});

	it('shows an unknown model as an error of the server with the provider’s words', async () => {
		const failed = (await open()).chat.completions.create({ ...question(), model: 'gpt-no-such-model' });
		await expect(failed).rejects.toBeInstanceOf(OpenAI.InternalServerError);
		await expect(failed).rejects.toMatchObject({ status: 502, message: expect.stringContaining('gpt-no-such-model') as string });
	});
});

describe.each(anthropicLines)('Spec: Inference endpoints, through %s', (_name, Anthropic, credential) => {
	const open = (accessToken?: string): Promise<Anthropic1> =>
		openAnthropic(Anthropic, credential, subject.current, accessToken === undefined ? {} : { accessToken });
	const question = () => ({
		model: subject.current.messagesModel,
		max_tokens: 50,
		messages: [{ role: 'user' as const, content: 'Say hello.' }],
	});

	it('creates a message', async () => {
		const message = await (await open()).messages.create(question());
		expect(message).toMatchObject({ type: 'message', role: 'assistant', stop_reason: 'end_turn' });
		expect(message.content[0]).toMatchObject({ type: 'text', text: expect.stringMatching(/\S/) as string });
		expect(message.usage.input_tokens).toBeGreaterThan(0);
		expect(message.usage.output_tokens).toBeGreaterThan(0);
		expect(message._request_id).toMatch(/^req_/);
	});

	itOwn('sends parameters of older models to a newer model, and receives a warning of the repair', 'our simulator', async () => {
		const older = { ...question(), model: 'claude-opus-4-8', temperature: 0.2 };
		const { data, response } = await (await open()).messages.create(older as never).withResponse();
		expect(data).toMatchObject({ type: 'message', stop_reason: 'end_turn' });
		expect(response.headers.get('x-gateway-warnings')).toMatch(/^temperature: [^;]*$/);
	});

	it('streams a message', async () => {
		const stream = await (await open()).messages.create({ ...question(), stream: true });
		const types: string[] = [];
		for await (const event of stream) types.push(event.type);
		expect(types[0]).toBe('message_start');
		expect(types.at(-1)).toBe('message_stop');
	});

	it('streams a message through the streaming helper', async () => {
		const client = await open();
		const streamed = await client.messages.stream(question()).finalMessage();
		const whole = await client.messages.create(question());
		expect(streamed.content).toEqual(whole.content);
		expect(streamed.usage.output_tokens).toBe(whole.usage.output_tokens);
	});

	it('uses a beta of the provider', async () => {
		const message = await (await open()).beta.messages.create({ ...question(), betas: ['interleaved-thinking-2025-05-14'] });
		expect(message.type).toBe('message');
	});

	it('lists models', async () => {
		const models = await (await open()).models.list();
		expect(models.data.length).toBeGreaterThan(0);
		expect(models.data[0]).toMatchObject({ type: 'model', id: expect.any(String) as string });
		const first = models.data[0]?.id ?? '';
		expect(await (await open()).models.retrieve(first)).toMatchObject({ type: 'model', id: first });
		await expect((await open()).models.retrieve('no/such model')).rejects.toMatchObject({ status: 404 });
	});

	it('lists Claude models, page by page', async () => {
		const client = await open();
		const ids: string[] = [];
		for await (const model of client.models.list({ limit: 20 })) ids.push(model.id);
		expect(ids.filter((id) => id.startsWith('claude-')).length).toBeGreaterThan(5);
		expect(new Set(ids).size).toBe(ids.length);
	});

	it('shows a missing field as a bad request with a readable message', async () => {
		const failed = (await open()).messages.create({ model: subject.current.messagesModel, max_tokens: 5 } as never);
		await expect(failed).rejects.toBeInstanceOf(Anthropic.BadRequestError);
		await expect(failed).rejects.toMatchObject({ status: 400, message: expect.stringContaining('messages') as string });
	});

	it('shows a bad token as an authentication error', async () => {
		const failed = (await open('not-a-token')).messages.create(question());
		await expect(failed).rejects.toBeInstanceOf(Anthropic.AuthenticationError);
	});

	it('shows an unknown model as an error of the server with the provider’s words', async () => {
		const failed = (await open()).messages.create({ ...question(), model: 'claude-no-such-model' });
		await expect(failed).rejects.toBeInstanceOf(Anthropic.InternalServerError);
		await expect(failed).rejects.toMatchObject({ status: 502, message: expect.stringContaining('claude-no-such-model') as string });
	});
});

describe('an SDK that sends its key in a header field of its vendor, given the access token as key', () => {
	const open = async (apiKey: string): Promise<Anthropic0> =>
		new Anthropic0({ baseURL: subject.current.baseUrl, apiKey, authToken: null, maxRetries: 0, logLevel: 'off' });
	const question = () => ({
		model: subject.current.messagesModel,
		max_tokens: 50,
		messages: [{ role: 'user' as const, content: 'Say hello.' }],
	});

	it('@anthropic-ai/sdk 0, in x-api-key', async () => {
		const client = await open(await subject.current.accessToken());
		expect(await client.messages.create(question())).toMatchObject({ type: 'message', stop_reason: 'end_turn' });
		expect((await client.messages.countTokens({ ...question(), max_tokens: undefined } as never)).input_tokens).toBeGreaterThan(0);
		await expect((await open('sk-ant-api03-of-the-vendor')).messages.create(question())).rejects.toBeInstanceOf(
			Anthropic0.AuthenticationError,
		);
	});

	it('openai for Azure, in api-key', async () => {
		const { baseUrl } = subject.current;
		const options = { baseURL: `${baseUrl}/v1`, apiVersion: 'v1', maxRetries: 0, logLevel: 'off' as const };
		const client = new AzureOpenAI({ ...options, apiKey: await subject.current.accessToken() });
		expect((await client.models.list()).data.length).toBeGreaterThan(0);
		await expect(new AzureOpenAI({ ...options, apiKey: 'key-of-the-vendor' }).models.list()).rejects.toMatchObject({ status: 401 });
	});
});
