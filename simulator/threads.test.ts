/**
 * Tests message threads: the SDKs' threads and tool runners send only new messages, and the simulator stores the rest, as the vendor does.
 */
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type StartedSimulator, startSimulator } from '../test/support/start-simulator.ts';

let simulator: StartedSimulator;
let client: Anthropic;
beforeAll(async () => {
	simulator = await startSimulator();
	client = new Anthropic({ apiKey: 'sk-ant-1111', baseURL: `${simulator.origin}/anthropic`, maxRetries: 0 });
});
afterAll(() => simulator.close());

const model = 'claude-opus-4-8';
const betas = ['message-threads-2026-08-12' as const];
const hello = { model, max_tokens: 200, betas, messages: [{ role: 'user' as const, content: 'Hello harbor' }] };
const create = { ...hello, thread: { type: 'create' as const } };
const next = (id: string, content = 'And now?') => ({
	...hello,
	messages: [{ role: 'user' as const, content }],
	thread: { type: 'continue' as const, previous_message_id: id },
});

test('a thread’s turns contain the whole conversation, streaming or not', async () => {
	const thread = client.beta.messages.thread({ model, max_tokens: 200, system: 'Be brief.' });
	const first = await thread.send({ role: 'user', content: 'Hello harbor' });
	const second = await thread.stream({ role: 'user', content: 'How are you?' }).finalMessage();
	const third = await thread.send({ role: 'user', content: 'Bye' });
	const inputs = [first, second, third].map(({ usage }) => usage.input_tokens);
	expect(inputs).toEqual(inputs.toSorted((one, other) => one - other));
	expect(new Set(inputs).size, 'each is longer than the one before').toBe(3);
	const [row] = await simulator.requests('?limit=1');
	expect(row?.body_bytes, 'though little is sent').toBeLessThan(500);
	const flat = await client.beta.messages.countTokens({ model, system: 'Be brief.', messages: thread.messages.slice(0, -1) });
	expect(third.usage.input_tokens).toBe(flat.input_tokens);
});

test('the tool runner ends with a text that quotes both results', async () => {
	const tool = {
		name: 'get_weather',
		description: '',
		input_schema: { type: 'object' as const, properties: { city: { type: 'string' as const } }, required: ['city'] },
		parse: (input: unknown) => input as { city: string },
		run: ({ city }: { city: string }) => `${city}: 11 degrees`,
	};
	const messages = [{ role: 'user' as const, content: 'The weather in San Francisco and Boston?' }];
	const final = await client.beta.messages.toolRunner({ model, max_tokens: 300, messages, tools: [{ ...tool, type: 'custom' }] });
	const text = JSON.stringify(final.content);
	for (const city of ['San Francisco', 'Boston']) expect(text).toContain(`${city}: 11 degrees`);
	const [row] = await simulator.requests('?limit=1');
	expect(row?.headers?.['anthropic-beta']).toContain('message-threads');
});

test('a turn is rejected as the vendor rejects it', async () => {
	const reject = async (body: object): Promise<unknown> => {
		const cause: unknown = await client.beta.messages.create(body as typeof create).catch((error: unknown) => error);
		return cause instanceof Anthropic.APIError ? [cause.status, cause.errorCode, cause.type] : cause;
	};
	const { id } = await client.beta.messages.create({ ...create, system: 'One' });
	expect(await reject(next('msg_01unknown'))).toEqual([404, 'thread_not_found', 'not_found_error']);
	expect(await reject({ ...next(id), system: 'Two' })).toEqual([400, 'thread_fingerprint_mismatch', 'invalid_request_error']);
	expect(await reject({ ...create, fallbacks: [{ model }] })).toEqual([400, 'thread_unsupported_request', 'invalid_request_error']);
	expect(await reject({ ...create, betas: ['context-management-2025-06-27'] })).toEqual([400, null, 'invalid_request_error']);
	expect(await reject({ ...create, thread: { type: 'other' } })).toEqual([400, null, 'invalid_request_error']);
	const other = new Anthropic({ apiKey: 'sk-ant-2222', baseURL: `${simulator.origin}/anthropic`, maxRetries: 0 });
	await expect(other.beta.messages.create(next(id)), 'of another account').rejects.toThrow(/No usable thread/);
	await client.beta.messages.create(next(id));
	expect(await reject(next(id))).toEqual([400, 'thread_already_continued', 'invalid_request_error']);
});

test('a turn that was broken off may be continued again, and meanwhile not', async () => {
	const { id } = await client.beta.messages.create(create);
	const stalled = { ...next(id), model: `${model}-sim-stall-3`, stream: true as const };
	const stream = await client.beta.messages.create(stalled);
	await expect(client.beta.messages.create(next(id))).rejects.toMatchObject({ errorCode: 'thread_continue_in_flight' });
	stream.controller.abort();
	await expect
		.poll(() =>
			client.beta.messages.create(next(id)).then(
				({ type }) => type,
				() => 'not yet',
			),
		)
		.toBe('message');
});
