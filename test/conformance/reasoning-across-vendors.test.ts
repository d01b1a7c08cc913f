/**
 * Reasoning in conversations of five turns with tools: kept for a model that only the Responses API serves, and dropped when a failover moves
 * the conversation to another vendor and back.
 */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/product.ts';
import { describeOwn, send, useSubject } from './subject.ts';

type Fields = Readonly<Record<string, unknown>>;

/** State of a conversation in the format of its client. */
interface Conversation {
	readonly path: string;
	ask(text: string): void;
	/** Adds a response. @returns the ids of its tool calls. */
	take(response: never): readonly string[];
	/** Adds results of calls. */
	resolve(ids: readonly string[]): void;
	body(model: string): Fields;
}

const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };
const question = 'What is the weather in Paris and Rome?';
const result = '21 degrees';
const turns = 5;

function chatConversation(): Conversation {
	const messages: unknown[] = [{ role: 'system', content: 'Be brief.' }];
	return {
		path: '/v1/chat/completions',
		ask: (content) => void messages.push({ role: 'user', content }),
		take({ choices: [{ message }] }: { choices: readonly [{ message: { tool_calls?: readonly { id: string }[] } }] }) {
			messages.push(message);
			return message.tool_calls?.map(({ id }) => id) ?? [];
		},
		resolve: (ids) => void messages.push(...ids.map((id) => ({ role: 'tool', tool_call_id: id, content: result }))),
		body: (model) => ({
			model,
			messages,
			tools: [{ type: 'function', function: { name: 'get_weather', parameters: schema } }],
			reasoning_effort: 'medium',
			max_completion_tokens: 8000,
		}),
	};
}

function messagesConversation(): Conversation {
	const messages: { role: string; content: unknown }[] = [];
	return {
		path: '/v1/messages',
		ask: (content) => void messages.push({ role: 'user', content }),
		take({ content }: { content: readonly { type: string; id: string }[] }) {
			messages.push({ role: 'assistant', content });
			return content.filter(({ type }) => type === 'tool_use').map(({ id }) => id);
		},
		resolve: (ids) =>
			void messages.push({ role: 'user', content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: result })) }),
		body: (model) => ({
			model,
			messages,
			system: 'Be brief.',
			tools: [{ name: 'get_weather', input_schema: schema }],
			thinking: { type: 'adaptive', display: 'summarized' },
			max_tokens: 8000,
		}),
	};
}

function responsesConversation(): Conversation {
	const input: unknown[] = [];
	return {
		path: '/v1/responses',
		ask: (content) => void input.push({ role: 'user', content }),
		take({ output }: { output: readonly { type: string; call_id: string }[] }) {
			input.push(...output);
			return output.filter(({ type }) => type === 'function_call').map(({ call_id }) => call_id);
		},
		resolve: (ids) => void input.push(...ids.map((call_id) => ({ type: 'function_call_output', call_id, output: result }))),
		body: (model) => ({
			model,
			input,
			instructions: 'Be brief.',
			tools: [{ type: 'function', name: 'get_weather', parameters: schema, strict: true }],
			reasoning: { effort: 'medium', summary: 'auto' },
			include: ['reasoning.encrypted_content'],
			max_output_tokens: 8000,
		}),
	};
}

const clients = [
	['chat', chatConversation],
	['messages', messagesConversation],
	['responses', responsesConversation],
] as const;

const openAiReasoning = /"encrypted_content":"gAAAAA[^"]+"/g;
const claudeReasoning = /"signature":"[^"]+"/g;
const geminiReasoning = /"thoughtSignature":"[^"]+"/g;

function countOf(pattern: RegExp, text: string): number {
	return text.match(pattern)?.length ?? 0;
}

const adminPort = await freePort();

const subject = useSubject((simulatorUrl) => ({
	enable_admin_api: true,
	roles: ['edge', 'gateway', 'identity', 'simulator', 'admin'],
	admin: { listen: `127.0.0.1:${adminPort}` },
	providers: {
		provider_b: { model_capabilities: { 'house-model-sim-think-40': { model: 'gpt-5-mini', wire: 'responses' } } },
		second_b: {
			kind: 'openai',
			base_url: `${simulatorUrl}/openai/v1`,
			api_key: 'key-of-another-account',
			allow_private_network: true,
		},
		second_a: {
			kind: 'anthropic',
			base_url: `${simulatorUrl}/anthropic`,
			api_key: 'another-key',
			allow_private_network: true,
		},
	},
}));

beforeAll(async () => subject.current.simulator.change({ record_bodies: true, interval_ms: 0, first_byte_ms: 0 }));

/** Sends a request to the admin API. @returns its JSON. */
async function admin(path: string, body: object): Promise<unknown> {
	const { product, adminClient, scopeBase } = subject.current;
	const accessToken = await product?.accessToken(adminClient, `${scopeBase}/admin`);
	const response = await fetch(`http://127.0.0.1:${adminPort}${path}`, {
		method: 'POST',
		headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
		body: JSON.stringify(body),
	});
	const json: unknown = await response.json();
	expect([response.ok, json]).toEqual([true, expect.anything()]);
	return json;
}

interface Exchange {
	readonly calls: readonly string[];
	/** Body at the provider. */
	readonly sent: string;
	readonly warnings: string;
	readonly provider: string | null;
}

async function exchange(conversation: Conversation, model: string): Promise<Exchange> {
	const response = await send(subject.current, conversation.path, { body: conversation.body(model) });
	const json = (await response.json()) as never;
	expect([response.status, json]).toEqual([200, expect.anything()]);
	const { headers } = response;
	const sent = (await subject.current.simulator.newestRequest()).body ?? '';
	return {
		calls: conversation.take(json),
		sent,
		warnings: headers.get('x-gateway-warnings') ?? '',
		provider: headers.get('x-gateway-provider'),
	};
}

describeOwn('Responses: a model that only this API serves', 'our simulator', () => {
	describe.each(clients)('a client of %s', (_name, open) => {
		it.each(['gpt-5-pro', 'provider_b/house-model-sim-think-40'])('holds five turns on %s and returns its reasoning', async (model) => {
			const conversation = open();
			for (let turn = 0; turn < turns; turn++) {
				conversation.ask(question);
				const { calls } = await exchange(conversation, model);
				if (model === 'gpt-5-pro') expect(calls).toHaveLength(2);
				conversation.resolve(calls);
				if (calls.length === 0) continue;
				expect((await exchange(conversation, model)).calls).toEqual([]);
			}
			conversation.ask('Thanks.');
			const { sent, warnings } = await exchange(conversation, model);
			expect((await subject.current.simulator.newestRequest()).path).toBe('/openai/v1/responses');
			expect(countOf(openAiReasoning, sent)).toBeGreaterThanOrEqual(turns);
			expect(sent).toContain('"store":false');
			expect(sent).not.toMatch(/oai1\.|tg1\.|thinking_blocks/);
			expect(warnings).not.toContain('reasoning');
		});
	});
});

describeOwn('Responses: reasoning that another account of the vendor encrypted', 'our simulator', () => {
	it.each(clients)('is dropped with a warning for a client of %s', async (_name, open) => {
		const conversation = open();
		conversation.ask(question);
		conversation.resolve((await exchange(conversation, 'provider_b/gpt-5-pro')).calls);
		const { provider, sent, warnings } = await exchange(conversation, 'second_b/gpt-5-pro');
		expect([provider, countOf(openAiReasoning, sent)]).toEqual(['second_b', 0]);
		expect(warnings).toContain('input: encrypted reasoning that the provider could not decrypt dropped');
		conversation.ask('Thanks.');
		expect((await exchange(conversation, 'second_b/gpt-5-pro')).provider).toBe('second_b');
	});
});

describeOwn('Responses: failover to another vendor within a conversation', 'our simulator', () => {
	const models = [
		['Claude', 'provider_a', 'claude-opus-4-8', claudeReasoning],
		['Gemini', 'provider_c', 'gemini-3-pro-preview', geminiReasoning],
	] as const;

	/** Creates a rule that prefers a model of OpenAI. @returns the model name that it matches. */
	async function createRule(provider: string, model: string): Promise<string> {
		const name = `main-${randomUUID()}`;
		const targets = [
			{ provider: 'provider_b', model: 'gpt-5-pro' },
			{ provider, model },
		];
		await admin('/routing', { name, priority: 1, match: { model: name }, strategy: 'priority', targets });
		return name;
	}

	afterEach(() => subject.current.simulator.clearFaults());

	describe.each(clients)('a client of %s', (format, open) => {
		it.each(models)('OpenAI, %s and back', async (_vendor, provider, model, reasoning) => {
			const { simulator } = subject.current;
			const name = await createRule(provider, model);
			const conversation = open();
			let own = 0;
			for (let turn = 0; turn < turns; turn++) {
				const isDown = turn % 2 === 1;
				if (isDown) await simulator.addFault({ dialect: 'openai', fault: '503' });
				else await simulator.clearFaults();
				conversation.ask(question);
				const first = await exchange(conversation, name);
				expect([turn, first.provider, first.calls.length]).toEqual([turn, isDown ? provider : 'provider_b', 2]);
				conversation.resolve(first.calls);
				const second = await exchange(conversation, name);
				expect([turn, second.provider]).toEqual([turn, isDown ? provider : 'provider_b']);
				if (isDown) {
					expect(countOf(openAiReasoning, second.sent)).toBe(0);
					expect(countOf(reasoning, second.sent)).toBeGreaterThan(0);
				} else {
					expect(countOf(reasoning, second.sent)).toBe(0);
					expect(countOf(openAiReasoning, second.sent)).toBeGreaterThan(own);
					own = countOf(openAiReasoning, second.sent);
				}
				expect(second.sent).not.toMatch(/tg1\.|oai1\./);
				// The formats remove a few fields of other vendors without a warning: Gemini's signatures of calls, and blocks before Claude.
				const isSilent = isDown ? format === 'messages' && provider === 'provider_a' : format === 'chat' && provider === 'provider_c';
				if (turn === 0 || isSilent) continue;
				expect([turn, first.warnings]).toEqual([turn, expect.stringMatching(/reasoning|thinking_blocks/)]);
			}
		});
	});
});

describeOwn('Responses: encrypted reasoning', 'our simulator', () => {
	it('of OpenAI belongs to one account, and a deployment of Azure responds without it', async () => {
		const conversation = responsesConversation();
		conversation.ask(question);
		conversation.resolve((await exchange(conversation, 'gpt-5-mini')).calls);
		const { provider, sent, warnings } = await exchange(conversation, 'provider_d/gpt-5-mini');
		expect([provider, countOf(openAiReasoning, sent)]).toEqual(['provider_d', 0]);
		expect(warnings).toContain('could not decrypt');
	});

	it('is read by the provider and the team that it was made for, and by no other', async () => {
		const conversation = responsesConversation();
		conversation.ask(question);
		conversation.resolve((await exchange(conversation, 'claude-opus-4-8')).calls);
		const text = JSON.stringify(conversation.body(''));
		expect(text).toMatch(/"encrypted_content":"tg1\.[\w-]+"/);
		const own = responsesConversation();
		const same = await send(subject.current, own.path, { body: conversation.body('claude-opus-4-8') });
		expect([same.status, countOf(claudeReasoning, (await subject.current.simulator.newestRequest()).body ?? '')]).toEqual([200, 1]);

		const dropped = expect.arrayContaining([expect.stringContaining('input[1]: reasoning')]) as unknown;
		for (const [client_id, warnings] of [
			[subject.current.client.id, []],
			['another-client', dropped],
		] as const) {
			const explained = await admin('/explain', { client_id, format: 'responses', body: conversation.body('claude-opus-4-8') });
			expect([client_id, explained]).toMatchObject([client_id, { outcome: { admitted: true }, upstream: { warnings } }]);
		}

		const { product, adminClient } = subject.current;
		const accessToken = (await product?.accessToken(adminClient)) ?? '';
		for (const [model, token] of [
			['claude-opus-4-8', accessToken],
			['second_a/claude-opus-4-8', await subject.current.accessToken()],
			['gpt-5-mini', await subject.current.accessToken()],
			['provider_d/gpt-5-mini', await subject.current.accessToken()],
		] as const) {
			const response = await send(subject.current, own.path, { body: conversation.body(model), accessToken: token });
			expect([response.status, response.headers.get('x-gateway-warnings')]).toEqual([200, expect.stringMatching(/input\[1\]: reasoning/)]);
			const { body = '' } = await subject.current.simulator.newestRequest();
			expect([countOf(claudeReasoning, body), countOf(/tg1\./g, body)]).toEqual([0, 0]);
		}
	});
});
