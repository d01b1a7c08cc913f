/** Tests long agent sessions over the Responses API, in the way of coding agents: everything is sent again in each turn, nothing is stored. */
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, stepCountIs, tool } from 'ai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type StartedSimulator, startSimulator } from '../test/support/start-simulator.ts';

let simulator: StartedSimulator;
beforeAll(async () => {
	simulator = await startSimulator();
});
afterAll(() => simulator.close());

interface Item {
	readonly type: string;
	readonly [field: string]: unknown;
}

interface Terminal {
	readonly type: string;
	readonly response: {
		readonly id: string;
		readonly status: string;
		readonly output: Item[];
		readonly usage: Record<string, number> | null;
	};
}

const headers = { authorization: 'Bearer sk-agent', 'content-type': 'application/json' };

async function post(body: object, more: Record<string, string> = {}): Promise<string> {
	const response = await fetch(`${simulator.origin}/openai/v1/responses`, {
		method: 'POST',
		headers: { ...headers, ...more },
		body: JSON.stringify(body),
	});
	return response.text();
}

const eventsOf = (sse: string): Record<string, unknown>[] =>
	[...sse.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? '') as Record<string, unknown>);

/** Reads a stream as Codex does: the items that are done, and the terminal event. */
function readTurn(sse: string): { items: Item[]; terminal: Terminal } {
	const events = eventsOf(sse);
	const items = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item as Item);
	return { items, terminal: events.at(-1) as unknown as Terminal };
}

const shell = {
	type: 'function',
	name: 'exec_command',
	strict: false,
	parameters: { type: 'object', properties: { cmd: { type: 'string' } }, required: ['cmd'] },
};
const codex = {
	model: 'gpt-5.3-codex',
	stream: true,
	store: false,
	include: ['reasoning.encrypted_content'],
	reasoning: { effort: 'low', summary: 'auto' },
	tool_choice: 'auto',
	parallel_tool_calls: true,
	prompt_cache_key: 'session-1',
	client_metadata: { 'x-codex-installation-id': 'x' },
	tools: [shell, { type: 'web_search', external_web_access: false }],
};

test('a session of twenty turns, whose reasoning comes back each time', async () => {
	const input: Item[] = [
		{ type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'You are a coding agent. '.repeat(300) }] },
		{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'use the exec_command tool 19 times' }] },
	];
	for (let turn = 0; turn < 19; turn++) {
		const { items, terminal } = readTurn(await post({ ...codex, input }));
		expect(items.map(({ type }) => type)).toEqual(['reasoning', 'message', 'function_call']);
		expect(items[1]).toMatchObject({ phase: 'commentary' });
		expect(terminal).toMatchObject({ type: 'response.completed', response: { output: items, store: false } });
		for (const item of items) input.push(item['type'] === 'reasoning' ? { ...item, content: null } : item);
		input.push({ type: 'function_call_output', id: `fco_${turn}`, call_id: items[2]?.['call_id'], output: `result ${turn}` });
	}
	const { items, terminal } = readTurn(await post({ ...codex, input }));
	expect(items.map(({ type }) => type)).toEqual(['reasoning', 'message']);
	expect(items[1]).toMatchObject({ phase: 'final_answer' });
	expect(JSON.stringify(items[1])).toContain('result 18');
	expect(terminal.response.usage?.['input_tokens']).toBeGreaterThan(1500);
	const [row] = await simulator.requests('?limit=1&model=gpt-5.3-codex');
	expect(row).toMatchObject({ returned_reasoning: 19 });
});

test('a script calls a custom tool in a namespace of additional tools', async () => {
	const exec = { type: 'custom', name: 'exec', format: { type: 'grammar', syntax: 'lark', definition: 'start: /.+/' } };
	const { tools: _tools, ...rest } = codex;
	const body = {
		...rest,
		model: 'gpt-6',
		input: [
			{ type: 'additional_tools', role: 'developer', tools: [{ type: 'namespace', name: 'functions', description: '', tools: [exec] }] },
			{ role: 'user', content: 'Hello' },
		],
	};
	await simulator.control('POST', '/script', { path: '/v1/responses', thinking: 'Think.', calls: [{ name: 'exec', input: 'ls -la' }] });
	const { items } = readTurn(await post(body));
	expect(items[1]).toMatchObject({ type: 'custom_tool_call', name: 'exec', namespace: 'functions', input: 'ls -la' });
	const output = { type: 'custom_tool_call_output', call_id: items[1]?.['call_id'], output: [{ type: 'input_text', text: 'a.txt' }] };
	const next = readTurn(await post({ ...body, input: [...body.input, ...items, output] }));
	expect(JSON.stringify(next.items)).toContain('a.txt');
});

test('the AI SDK refers to stored items from its second request', async () => {
	const openai = createOpenAI({ apiKey: 'sk-agent', baseURL: `${simulator.origin}/openai/v1` });
	const { text, steps } = await generateText({
		model: openai('gpt-5'),
		prompt: 'What is the weather in Oslo?',
		tools: {
			get_weather: tool({ inputSchema: z.object({ city: z.string() }), execute: ({ city }) => `3 degrees in ${city}` }),
		},
		stopWhen: stepCountIs(3),
	});
	expect(steps).toHaveLength(2);
	expect(text).toContain('3 degrees in Oslo');
});

test('a client that disconnects with the terminal event has a complete response', async () => {
	const response = await fetch(`${simulator.origin}/openai/v1/responses`, {
		method: 'POST',
		headers,
		body: JSON.stringify({ model: 'gpt-4o', input: 'Bye', stream: true }),
	});
	const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
	let received = '';
	while (!received.includes('event: response.completed')) received += (await reader?.read())?.value ?? '';
	await reader?.cancel();
	await expect.poll(async () => (await simulator.requests('?limit=1'))[0]?.outcome).toBe('complete');
});

test('a large conversation is read in the other thread, stored and continued', async () => {
	const large = { model: 'gpt-4o', input: 'x'.repeat(300_000) };
	const first = JSON.parse(await post(large)) as { id: string; usage: { input_tokens: number } };
	const second = JSON.parse(await post({ ...large, previous_response_id: first.id })) as typeof first;
	expect(first.usage.input_tokens).toBe(75_003);
	expect(second.usage.input_tokens).toBeGreaterThan(150_000);
});

describe('faults of a stream', () => {
	const calling = { model: 'gpt-4o', stream: true, tools: [shell], tool_choice: 'required', input: 'Hello' };
	const withFault = async (fault: string): Promise<Record<string, unknown>[]> =>
		eventsOf(await post(calling, { 'x-simulator-fault': fault }));

	test('no usage, no index, no id, and the first event again', async () => {
		expect((await withFault('usage-missing')).at(-1)).toMatchObject({ response: { status: 'completed', usage: null } });
		const deltas = (await withFault('missing-index')).filter(({ type }) => type === 'response.function_call_arguments.delta');
		expect(deltas.some((event) => 'output_index' in event)).toBe(false);
		const added = (await withFault('empty-ids')).find(({ type }) => type === 'response.output_item.added');
		expect(added).toMatchObject({ item: { call_id: '' } });
		const created = (await withFault('duplicate-message-start')).filter(({ type }) => type === 'response.created');
		expect(created).toHaveLength(2);
	});

	test('an end without a terminal event; a malformed event; an error after the model failed', async () => {
		expect((await withFault('end-after-4')).map(({ type }) => type).at(-1)).toBe('response.function_call_arguments.delta');
		await expect(withFault('malformed-json')).rejects.toThrow(SyntaxError);
		const failed = (await withFault('error-mid-stream-5')).slice(-2);
		expect(failed).toMatchObject([
			{ type: 'error', code: 'server_error', error: { code: 'server_error' } },
			{ type: 'response.failed', response: { status: 'failed', error: { code: 'server_error' } } },
		]);
		expect(failed.map((event) => event['sequence_number'])).toEqual([5, 6]);
	});

	test('a stream that was cut is stored as cancelled', async () => {
		const events = await withFault('end-after-4');
		const { id } = (events[0] as unknown as Terminal).response;
		const stored = await fetch(`${simulator.origin}/openai/v1/responses/${id}`, { headers });
		expect(await stored.json()).toMatchObject({ id, status: 'cancelled' });
		const [row] = await simulator.requests('?limit=1');
		expect(row).toMatchObject({ status: 200, outcome: 'complete', tokens: { output: 0 } });
	});

	test('obfuscation can be turned off, and hidden reasoning is billed', async () => {
		const plain = eventsOf(await post({ ...calling, stream_options: { include_obfuscation: false } }));
		expect(plain.some((event) => 'obfuscation' in event)).toBe(false);
		await simulator.control('DELETE', '/bill');
		await post({ model: 'gpt-5-sim-think-40-tokens-10', stream: true, input: 'Hello' });
		expect((await simulator.bill()).total).toMatchObject({ output_tokens: 50, reasoning_tokens: 40 });
	});
});
