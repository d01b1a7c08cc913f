/** Clients of the Responses API on models of every provider: the official SDKs, Vercel's AI SDK and requests in the form of Codex. */

import { createOpenAI } from '@ai-sdk/openai';
import { generateText, type LanguageModel, type ModelMessage, Output, stepCountIs, streamText, tool } from 'ai';
import type OpenAI from 'openai';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { unknownGeminiFields } from '../support/gemini-wire-fields.ts';
import { unknownWireFields } from '../support/messages-wire-fields.ts';
import { openAiLines } from '../support/sdk-lines.ts';
import { compatibleGemini, compatibleServer } from './compatible-providers.ts';
import { openOpenAi } from './open-sdk.ts';
import { describeOwn, send, useSubject } from './subject.ts';

type Body = Readonly<Record<string, unknown>>;

interface ModelUnderTest {
	readonly name: string;
	/** Finds what the provider signed or encrypted in a request to it. Undefined for a provider that signs nothing. */
	readonly reasoning: RegExp | undefined;
}

const encryptedContent = /"encrypted_content":"(gAAAAA[^"]+)"/g;
const signature = /"signature":"([^"]+)"/g;

const models: readonly ModelUnderTest[] = [
	{ name: 'gpt-5-mini', reasoning: encryptedContent },
	{ name: 'gpt-5-pro', reasoning: encryptedContent },
	{ name: 'provider_d/gpt-5-mini', reasoning: encryptedContent },
	{ name: 'claude-sonnet-4-5', reasoning: signature },
	{ name: 'claude-opus-4-8', reasoning: signature },
	{ name: 'gemini-2.5-flash', reasoning: undefined },
	{ name: 'gemini-3-pro-preview', reasoning: /"thoughtSignature":"([^"]+)"/g },
	{ name: 'compatible-gemini/gemini-3-pro-preview', reasoning: /"thought_signature":"([^"]+)"/g },
	{ name: 'compatible-chat/gpt-4o', reasoning: undefined },
];

function reasoningIn({ reasoning }: ModelUnderTest, body: string): readonly string[] {
	return reasoning === undefined ? [] : [...body.matchAll(reasoning)].map(([, value = '']) => value);
}
const byName = models.map((model) => [model.name, model] as const);

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };
const weather = { type: 'function' as const, name: 'get_weather', parameters, strict: true };
const question = 'What is the weather in Paris and Rome?';
/** Number of turns, each with a question, two calls, their outputs and a reply. */
const turns = 5;

/** One product for all blocks. */
const subject = useSubject((simulatorUrl) => ({
	providers: {
		'compatible-chat': compatibleServer(simulatorUrl),
		'compatible-gemini': compatibleGemini(simulatorUrl),
	},
}));

async function sentBody(): Promise<string> {
	return (await subject.current.simulator.newestRequest()).body ?? '';
}

/** Checks the dialects whose simulators accept fields that they do not know. */
function expectKnownFields(model: string, body: string): void {
	const sent = JSON.parse(body) as Record<string, unknown>;
	if (model.startsWith('claude-')) expect(unknownWireFields(sent)).toEqual([]);
	if (model.startsWith('gemini-')) expect(unknownGeminiFields(sent)).toEqual([]);
}

/** Removes the member that the SDKs add to parts of streams. */
function withoutParsed(part: object): object {
	return { ...part, parsed: undefined };
}

/** Selects what does not depend on streaming; ids differ each time. */
function shapeOf({ output, status, usage, incomplete_details: incomplete }: OpenAI.Responses.Response): unknown {
	const items = output.map((item) => {
		if (item.type === 'function_call') return [item.type, item.name, JSON.parse(item.arguments) as unknown, item.status];
		if (item.type === 'message') return [item.type, item.content.map(withoutParsed), item.status];
		return [item.type, item.type === 'reasoning' ? item.summary : undefined];
	});
	return { status, incomplete, usage, items };
}

describeOwn('Responses on models of every provider', 'our simulator', () => {
	beforeAll(async () => subject.current.simulator.change({ record_bodies: true, interval_ms: 0, first_byte_ms: 0 }));
	// Hides warnings: by date, the SDKs warn of old models.
	beforeAll(() => {
		const silenced = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
		return () => silenced.mockRestore();
	});

	describe.each(openAiLines)('%s', (_line, Sdk) => {
		describe.each(byName)('on %s', (_name, model) => {
			it('returns the same text, calls and usage with and without streaming', async () => {
				const client = await openOpenAi(Sdk, subject.current);
				for (const input of ['Say hello.', question]) {
					const asked = { model: model.name, input, tools: [weather] };
					const whole = await client.responses.create(asked);
					const streamed = await client.responses.stream(asked).finalResponse();
					expect(whole).toMatchObject({ object: 'response', status: 'completed', store: false, model: expect.any(String) as unknown });
					expect(shapeOf(streamed as never)).toEqual(shapeOf(whole));
				}
			});

			it('holds five turns with parallel calls and their outputs, and returns reasoning unchanged', async () => {
				const client = await openOpenAi(Sdk, subject.current);
				const input: unknown[] = [{ role: 'developer', content: 'Be brief.' }];
				const say = async (isStreaming: boolean): Promise<OpenAI.Responses.Response> => {
					const asked = {
						model: model.name,
						input: input as never,
						tools: [weather],
						reasoning: { effort: 'medium' as const, summary: 'auto' as const },
						include: ['reasoning.encrypted_content' as const],
						store: false,
						max_output_tokens: 8000,
					};
					const response = isStreaming ? await client.responses.stream(asked).finalResponse() : await client.responses.create(asked);
					expect(response.status).toBe('completed');
					input.push(...response.output);
					return response;
				};
				for (let turn = 0; turn < turns; turn++) {
					input.push({ role: 'user', content: question });
					const { output } = await say(turn % 2 === 0);
					const calls = output.filter((item) => item.type === 'function_call');
					expect(calls.map((call): unknown => JSON.parse(call.arguments))).toEqual([{ city: 'Paris' }, { city: 'Rome' }]);
					for (const [index, { call_id }] of calls.toReversed().entries()) {
						const image = [
							{ type: 'input_text', text: '21 degrees' },
							{ type: 'input_image', image_url: `data:image/png;base64,${png}`, detail: 'auto' },
						];
						input.push({ type: 'function_call_output', call_id, output: index === 0 ? 'Error: no such city' : image });
					}
					const sent = await sentBody();
					const answered = await say(turn % 2 === 1);
					expect(answered.output_text).toMatch(/./);
					const now = await sentBody();
					// The provider checks what it signed, so that a count proves that all of it is there and unchanged.
					if (model.reasoning === undefined) continue;
					expect(reasoningIn(model, now).length).toBeGreaterThan(reasoningIn(model, sent).length);
					expect(output.some(({ type }) => type === 'reasoning')).toBe(true);
				}
				const last = await sentBody();
				const returned = reasoningIn(model, last);
				expect(returned.length).toBe(new Set(returned).size);
				expect(last.match(/21 degrees/g)?.length ?? 0).toBeGreaterThanOrEqual(turns);
				expect(last).not.toContain('skip_thought_signature_validator');
				expect(last).not.toMatch(/tg1\.|oai1\./);
				expectKnownFields(model.name, last);
			});

			it('calls custom tools and tools in namespaces, and takes their outputs', async () => {
				const client = await openOpenAi(Sdk, subject.current);
				const tools = [
					{ type: 'custom' as const, name: 'run_query', description: 'Runs SQL' },
					{
						type: 'namespace' as const,
						name: 'crm',
						description: 'Customers',
						tools: [{ type: 'function' as const, name: 'find_customer', parameters, strict: false }],
					},
				];
				for (const isStreaming of [false, true]) {
					const input: unknown[] = [{ role: 'user', content: 'Use run_query and find_customer.' }];
					const asked = { model: model.name, input: input as never, tools: tools as never };
					const ask = async (): Promise<OpenAI.Responses.Response> =>
						isStreaming ? await client.responses.stream(asked).finalResponse() : await client.responses.create(asked);
					const { output } = await ask();
					const calls = output.filter((item) => item.type === 'custom_tool_call' || item.type === 'function_call');
					expect(calls).toMatchObject([
						{ type: 'custom_tool_call', name: 'run_query', input: expect.stringMatching(/./) as unknown },
						{ type: 'function_call', name: 'find_customer', namespace: 'crm' },
					]);
					const outputs = calls.map(({ type, call_id }) => ({ type: `${type}_output`, call_id, output: '3 rows' }));
					input.push(...output, ...outputs);
					expect((await ask()).output_text).toContain('3 rows');
				}
			});

			it('gives structured output', async () => {
				const client = await openOpenAi(Sdk, subject.current);
				const schema = {
					...parameters,
					properties: { city: { type: 'string' }, ...{ degrees: { type: 'number' } } },
					required: ['city', 'degrees'],
				};
				const text = { format: { type: 'json_schema' as const, name: 'weather', schema, strict: true } };
				const asked = { model: model.name, input: 'Describe the weather.', text };
				const expected = { city: expect.any(String) as unknown, degrees: expect.any(Number) as unknown };
				const parsed = await client.responses.parse(asked);
				expect([JSON.parse(parsed.output_text), parsed.output_parsed]).toEqual([expected, expected]);
				expect(parsed.text?.format).toMatchObject({ type: 'json_schema', name: 'weather' });
				expect(JSON.parse((await client.responses.stream(asked).finalResponse()).output_text)).toEqual(expected);
			});

			it('sees images and reads files', async () => {
				const client = await openOpenAi(Sdk, subject.current);
				const content = [
					{ type: 'input_text' as const, text: 'What is this?' },
					{ type: 'input_image' as const, image_url: `data:image/png;base64,${png}`, detail: 'low' as const },
					{
						type: 'input_file' as const,
						filename: 'a.pdf',
						file_data: `data:application/pdf;base64,${Buffer.from('%PDF-1.4').toString('base64')}`,
					},
				];
				const { status } = await client.responses.create({ model: model.name, input: [{ role: 'user', content }] });
				expect(status).toBe('completed');
				const sent = await sentBody();
				expect(sent).toContain(png);
				expect(sent).toContain(Buffer.from('%PDF-1.4').toString('base64'));
			});

			it('ends as incomplete at the cap on output', async () => {
				const client = await openOpenAi(Sdk, subject.current);
				const asked = { model: `${model.name}-sim-tokens-400`, input: 'Say much.', max_output_tokens: 50 };
				const expected = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
				expect(await client.responses.create(asked)).toMatchObject(expected);
				const streamed = await client.responses.stream(asked).finalResponse();
				expect(streamed).toMatchObject(expected);
				expect(streamed.output_text.length).toBeGreaterThan(20);
			});

			it('reports a `refusal` of the model', async () => {
				const client = await openOpenAi(Sdk, subject.current);
				const asked = { model: `${model.name}-sim-refusal`, input: 'Say hello.' };
				const whole = await client.responses.create(asked);
				const streamed = (await client.responses.stream(asked).finalResponse()) as unknown as OpenAI.Responses.Response;
				expect(shapeOf(streamed)).toEqual(shapeOf(whole));
				// Google's compatibility layer returns a `refusal` as plain text.
				if (model.name.startsWith('compatible-gemini/')) return;
				const refusals = whole.output.flatMap((item) =>
					item.type === 'message' ? item.content.filter(({ type }) => type === 'refusal') : [],
				);
				expect(whole.incomplete_details?.reason === 'content_filter' || refusals.length > 0).toBe(true);
			});

			it('reports that the vendor filtered', async () => {
				const client = await openOpenAi(Sdk, subject.current);
				const asked = { model: `${model.name}-sim-content-filter`, input: 'Say hello.' };
				const failure: unknown = await client.responses.create(asked).catch((cause: unknown) => cause);
				if (failure instanceof Sdk.APIError) {
					expect(failure.status).toBe(400);
					return;
				}
				const expected = { status: 'incomplete', incomplete_details: { reason: 'content_filter' } };
				expect(failure).toMatchObject(expected);
				expect(await client.responses.stream(asked).finalResponse()).toMatchObject(expected);
			});
		});
	});
});

describeOwn('Responses: Vercel’s AI SDK', 'our simulator', () => {
	// Silences the warning that the AI SDK logs for models of other vendors.
	beforeAll(() => {
		Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
		return () => void Reflect.deleteProperty(globalThis, 'AI_SDK_LOG_WARNINGS');
	});

	const tools = {
		get_weather: tool({
			description: 'The weather of a city',
			inputSchema: z.object({ city: z.string() }),
			execute: async ({ city }) => `21 degrees in ${city}`,
		}),
	};
	/** As the guide says: the SDK otherwise refers to stored items. */
	const providerOptions = { openai: { store: false, reasoningSummary: 'auto' } };
	const open = async (id: string): Promise<LanguageModel> =>
		createOpenAI({ baseURL: `${subject.current.baseUrl}/v1`, apiKey: await subject.current.accessToken() }).responses(id);

	describe.each(byName)('on %s', (id, model) => {
		it('generates and streams text', async () => {
			const asked = { prompt: 'Say hello.', maxRetries: 0, providerOptions };
			const whole = await generateText({ ...asked, model: await open(id) });
			expect([whole.text, whole.finishReason]).toEqual([expect.stringContaining('Say hello') as unknown, 'stop']);
			expect(Number(whole.usage.inputTokens) > 0 && Number(whole.usage.outputTokens) > 0).toBe(true);
			const streamed = streamText({ ...asked, model: await open(id) });
			let pieces = '';
			for await (const piece of streamed.textStream) pieces += piece;
			expect([pieces, await streamed.finishReason]).toEqual([await streamed.text, 'stop']);
			expect(pieces).toContain('Say hello');
			expect(await streamed.usage).toEqual(whole.usage);
		});

		it('calls tools step by step over five questions, and returns reasoning', async () => {
			const messages: ModelMessage[] = [];
			for (let turn = 0; turn < turns; turn++) {
				messages.push({ role: 'user', content: question });
				const asked = { tools, messages, stopWhen: stepCountIs(3), maxRetries: 0, providerOptions };
				const streamed = turn % 2 === 0 ? streamText({ ...asked, model: await open(id) }) : undefined;
				await streamed?.consumeStream();
				const result = streamed ?? (await generateText({ ...asked, model: await open(id) }));
				const [steps, text, response] = [await result.steps, await result.text, await result.response];
				expect(steps[0]?.toolCalls.map(({ input }): unknown => input)).toEqual([{ city: 'Paris' }, { city: 'Rome' }]);
				expect(text).toContain('21 degrees in');
				messages.push(...response.messages);
			}
			const last = await sentBody();
			if (id.includes('gpt-5')) expect(reasoningIn(model, last).length).toBeGreaterThanOrEqual(turns);
			expect(last).not.toMatch(/tg1\.|skip_thought_signature_validator/);
		});

		it('gives structured output', async () => {
			const { output } = await generateText({
				model: await open(id),
				prompt: 'Describe a cat.',
				output: Output.object({ schema: z.object({ name: z.string(), lives: z.number() }) }),
				maxRetries: 0,
				providerOptions,
			});
			expect(output).toEqual({ name: expect.any(String) as string, lives: expect.any(Number) as number });
		});

		it('reports a broken stream', async () => {
			let failure: unknown;
			const broken = await open(`${id}-sim-tokens-300-cut-after-6`);
			const streamed = streamText({
				model: broken,
				prompt: 'Say hello.',
				maxRetries: 0,
				providerOptions,
				onError: ({ error }) => void (failure = error),
			});
			await streamed.consumeStream();
			expect(failure).toBeDefined();
		});
	});
});

/** Request in the form of Codex: tools within the conversation, in groups, and a web search that every request offers. */
function codexRequest(model: string, input: readonly unknown[]): Body {
	const shell = {
		type: 'function',
		name: 'shell',
		description: 'Runs a command',
		strict: false,
		parameters: { type: 'object', properties: { command: { type: 'array', items: { type: 'string' } } }, required: ['command'] },
	};
	const exec = {
		type: 'custom',
		name: 'apply_patch',
		description: 'Edits files',
		format: { type: 'grammar', syntax: 'lark', definition: 'start: /.+/' },
	};
	const spawn = { type: 'function', name: 'spawn_agent', description: 'Starts an agent', strict: false, parameters };
	return {
		model,
		stream: true,
		store: false,
		include: ['reasoning.encrypted_content'],
		prompt_cache_key: '019ab0de-0000-7000-8000-000000000000',
		tool_choice: 'auto',
		parallel_tool_calls: false,
		reasoning: { effort: 'medium', summary: 'auto' },
		text: { verbosity: 'low' },
		client_metadata: { 'x-codex-installation-id': '00000000-0000-4000-8000-000000000000' },
		tools: [{ type: 'web_search', external_web_access: false }],
		input: [
			{
				type: 'additional_tools',
				role: 'developer',
				tools: [
					{ type: 'namespace', name: 'exec', description: 'Tools', tools: [shell, exec] },
					{ type: 'namespace', name: 'collaboration', description: 'Agents', tools: [spawn] },
				],
			},
			{ type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'You are an agent.' }] },
			...input,
		],
	};
}

interface Item extends Body {
	readonly type: string;
	readonly call_id?: string;
	readonly encrypted_content?: string | null;
}

describeOwn('Responses: a client that sends what Codex sends', 'our simulator', () => {
	const headers = {
		originator: 'codex_exec',
		'session-id': '019ab0de-0000-7000-8000-000000000000',
		'x-client-request-id': '019ab0de-0000-7000-8000-000000000000',
		'x-openai-internal-codex-responses-lite': 'true',
	};

	async function say(model: string, input: readonly unknown[]): Promise<{ items: Item[]; response: Response }> {
		const response = await send(subject.current, '/v1/responses', { headers, body: codexRequest(model, input) });
		const text = await response.text();
		expect([response.status, text]).toEqual([200, expect.stringContaining('event: response.completed') as unknown]);
		const events = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json = '']) => JSON.parse(json) as { type: string; item: Item });
		return { items: events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item), response };
	}

	/** Sends items back as Codex does: reasoning with `content: null`, outputs with an id of their own. */
	function replayed(items: readonly Item[]): unknown[] {
		const outputs = items.filter(({ type }) => type.endsWith('_call') && type !== 'web_search_call');
		return [
			...items.map((item) => (item.type === 'reasoning' ? { ...item, content: null } : item)),
			...outputs.map(({ type, call_id }, index) => ({
				type: `${type}_output`,
				id: `${type === 'custom_tool_call' ? 'ctco' : 'fco'}_${index}`,
				call_id,
				output: 'exit code 0',
			})),
		];
	}

	it.each(byName)('works on %s over five turns', async (name, model) => {
		const input: unknown[] = [];
		for (let turn = 0; turn < turns; turn++) {
			const [wanted, type, namespace] = turn % 2 === 0 ? ['shell', 'function_call', 'exec'] : ['apply_patch', 'custom_tool_call', 'exec'];
			input.push({ type: 'message', role: 'user', content: [{ type: 'input_text', text: `Use the ${wanted} tool, or exec__${wanted}.` }] });
			const { items, response } = await say(name, input);
			const call = items.find((item) => item.type.endsWith('tool_call') || item.type === 'function_call');
			expect(call).toMatchObject({ type, name: wanted, namespace });
			const warnings = response.headers.get('x-gateway-warnings');
			if (!name.includes('gpt-5')) expect(warnings).toMatch(/tools\[0\].type: dropped/);
			expect(warnings ?? '').not.toMatch(/client_metadata|prompt_cache_key|store/);
			input.push(...replayed(items));
			input.push(...replayed((await say(name, input)).items));
		}
		const last = await sentBody();
		if (model.reasoning !== undefined) expect(reasoningIn(model, last).length).toBeGreaterThanOrEqual(turns);
		expect(last).not.toMatch(/tg1\.|skip_thought_signature_validator/);
		expectKnownFields(name, last);
		if (!name.includes('gpt-5')) expect(last).not.toContain('client_metadata');
	});
});
