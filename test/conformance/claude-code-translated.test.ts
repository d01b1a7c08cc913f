/** Claude Code with models of other vendors: an agent's loop of ten turns, read by Anthropic's own SDK. */
import Anthropic from '@anthropic-ai/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { attribution, claudeCodeBody, claudeCodeHeaders } from '../support/claude-code.ts';
import { describeOwn, type Subject, useSubject } from './subject.ts';

type Message = Anthropic.Beta.BetaMessage;
type MessageParam = Anthropic.Beta.BetaMessageParam;
type ResultParam = Anthropic.Beta.BetaToolResultBlockParam;

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Results of every kind that Claude Code sends, in turn. */
const results: readonly Pick<ResultParam, 'content' | 'is_error'>[] = [
	{ content: 'total 0\n<html>DROP TABLE users;</html>', is_error: false },
	{
		content: [
			{ type: 'text', text: 'A picture' },
			{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
		],
	},
	{ content: [{ type: 'tool_reference', tool_name: 'mcp__maps__find_place' }] },
	{ content: 'Exit code 1', is_error: true },
	{ content: '' },
];

const turns = 10;

const common = [
	'anthropic-beta: not forwarded',
	'context_management: ignored',
	'system[0]: attribution, which only Anthropic reads, removed',
];

interface TranslatedTarget {
	readonly dialect: string;
	readonly model: string;
	/** Warnings of its responses, next to the common ones. */
	readonly warnings: readonly string[];
}

const targets: readonly (readonly [string, TranslatedTarget])[] = [
	['an OpenAI model', { dialect: 'openai', model: 'claude-gpt', warnings: [] }],
	[
		'an OpenAI model that does not reason',
		{
			dialect: 'openai',
			model: 'gpt-4o',
			warnings: ['max_tokens: lowered to 16384, the output limit of the model', 'thinking: ignored because the model does not reason'],
		},
	],
	[
		'a Gemini model',
		{
			dialect: 'gemini',
			model: 'claude-gemini',
			warnings: [
				'messages: later system messages moved to the front',
				'strict: ignored because the provider does not enforce tool schemas',
				'thinking: sent as low, the nearest value that the model accepts',
			],
		},
	],
	['an Azure deployment', { dialect: 'azure', model: 'team-deployment', warnings: ['model: has no price, its cost is recorded at $0'] }],
];

describeOwn('Claude Code with models of other vendors', 'our simulator', () => {
	const subject = useSubject({
		routing: { aliases: { 'claude-gpt': 'provider_b/gpt-5', 'claude-gemini': 'provider_c/gemini-3-pro-preview' } },
	});
	beforeAll(() => subject.current.simulator.change({ record_bodies: true }));

	describe.each(targets)('%s', (_title, target) => {
		it('runs ten turns of tools: every call has its result, and no field of Anthropic arrives', async () => {
			const { messages, warnings } = await runAgent(subject.current, target);
			const said = messages.filter(({ role }) => role === 'assistant');
			expect(said).toHaveLength(turns + 1);
			expect(JSON.stringify(said.at(-1))).toContain('All done.');
			expect([...warnings].toSorted()).toEqual([...common, ...target.warnings].toSorted());

			const seen = await subject.current.simulator.requests(`?limit=${turns + 1}`);
			expect(seen.map(({ status, dialect }) => [status, dialect])).toEqual(Array.from({ length: turns + 1 }, () => [200, target.dialect]));
			expect(seen.flatMap(({ headers }) => Object.keys(headers)).filter((name) => name.startsWith('anthropic'))).toEqual([]);
			const last = seen[0]?.body ?? '';
			expect(last).not.toMatch(/cache_control|defer_loading|eager_input_streaming|context_management|"tool_reference|"adaptive"/);
			expect(last).not.toContain(attribution);
			for (const text of ['You are an agent.', 'Working directory: /project', '<system-reminder>', 'DROP TABLE users;', png]) {
				expect(last).toContain(text);
			}
			expect(last.split('echo turn ')).toHaveLength(turns + 1);
			if (target.dialect === 'gemini') expect(last.split('"thoughtSignature"')).toHaveLength(turns + 1);
		});

		it('continues with a Claude model, which gets no reasoning of the other vendor', async () => {
			const { messages } = await runAgent(subject.current, target, { thinking: { type: 'adaptive' } });
			if (target.dialect === 'gemini') expect(JSON.stringify(messages)).toContain('"thinking":"I should look."');
			const client = await openClient(subject.current);
			const message = await ask(client, 'claude-sonnet-5', [...messages, { role: 'user', content: 'Go on.' }]);
			expect(message.stop_reason).toBe('end_turn');
			expect((await subject.current.simulator.newestRequest()).body).not.toMatch(/thought_signature|"signature":""/);
		});

		it('reports usage and the end of the turn in Anthropic’s terms', async () => {
			await setResponse(subject.current, { dialect: target.dialect, text: 'Brief.' });
			const message = await ask(await openClient(subject.current), target.model, firstMessages(target.model));
			expect(message).toMatchObject({
				type: 'message',
				role: 'assistant',
				stop_reason: 'end_turn',
				content: [{ type: 'text', text: 'Brief.' }],
			});
			expect(message.usage.input_tokens + (message.usage.cache_read_input_tokens ?? 0)).toBeGreaterThan(50);
			expect(message.usage.output_tokens).toBeGreaterThan(0);
		});
	});

	/** Claude Code compacts the conversation on these words alone. */
	it.each([
		[
			'openai',
			'claude-gpt',
			{ error: { message: 'Your input exceeds the context window of this model.', code: 'context_length_exceeded' } },
		],
		[
			'gemini',
			'claude-gemini',
			{
				error: {
					code: 400,
					message: 'The input token count exceeds the maximum number of tokens allowed (1048576).',
					status: 'INVALID_ARGUMENT',
				},
			},
		],
	])('a conversation too long for %s is an error that Claude Code recognizes', async (dialect, model, json) => {
		await subject.current.simulator.replay({ dialect, status: 400, json });
		const failed = ask(await openClient(subject.current), model, firstMessages(model));
		await expect(failed).rejects.toMatchObject({
			status: 400,
			error: { type: 'error', error: { type: 'invalid_request_error', message: expect.stringMatching(/^prompt is too long: /) as string } },
		});
	});
});

function firstMessages(model: string): MessageParam[] {
	return claudeCodeBody(model)['messages'] as MessageParam[];
}

/** Runs the loop; the model calls two tools in each turn, and the results arrive in reverse order. */
async function runAgent(
	subject: Subject,
	{ dialect, model }: TranslatedTarget,
	more: Readonly<Record<string, unknown>> = {},
): Promise<{ messages: MessageParam[]; warnings: Set<string> }> {
	const warnings = new Set<string>();
	const client = await openClient(subject, (response) => {
		for (const warning of response.headers.get('x-gateway-warnings')?.split('; ') ?? []) warnings.add(warning);
	});
	const messages = firstMessages(model);
	for (let turn = 0; turn <= turns; turn++) {
		const calls = [
			{ name: 'Bash', input: { command: `echo turn ${turn}` } },
			{ name: 'Read', input: { path: `/project/${turn}` } },
		];
		const isLast = turn === turns;
		await setResponse(subject, {
			dialect,
			thinking: 'I should look.',
			text: isLast ? 'All done.' : 'Looking.',
			calls: isLast ? [] : calls,
		});
		const message = await ask(client, model, messages, more);
		messages.push({ role: 'assistant', content: message.content as Anthropic.Beta.BetaContentBlockParam[] });
		const called = message.content.filter((block) => block.type === 'tool_use');
		expect(called.map(({ name, input }) => ({ name, input }))).toEqual(isLast ? [] : calls);
		const answers = called.map(
			({ id }, index): ResultParam => ({ type: 'tool_result', tool_use_id: id, ...results[(turn + index) % results.length] }),
		);
		if (!isLast) messages.push({ role: 'user', content: answers.toReversed() });
	}
	return { messages, warnings };
}

async function openClient(subject: Subject, onResponse: (response: Response) => void = () => undefined): Promise<Anthropic> {
	return new Anthropic({
		baseURL: subject.baseUrl,
		apiKey: await subject.accessToken(),
		maxRetries: 0,
		defaultHeaders: claudeCodeHeaders,
		fetch: async (url, init) => {
			const response = await fetch(url, init);
			onResponse(response);
			return response;
		},
	});
}

/** Sends the conversation with Claude Code's fields, and reads the stream with the SDK. */
function ask(
	client: Anthropic,
	model: string,
	messages: readonly MessageParam[],
	more: Readonly<Record<string, unknown>> = {},
): Promise<Message> {
	const body = { ...claudeCodeBody(model, more), messages } as unknown as Anthropic.Beta.MessageCreateParamsStreaming;
	return client.beta.messages.stream(body).finalMessage();
}

/** Sets the model's next response. */
async function setResponse(subject: Subject, script: object): Promise<void> {
	const response = await fetch(`${subject.product?.simulatorUrl}/_simulator/script`, { method: 'POST', body: JSON.stringify(script) });
	if (!response.ok) throw new Error(await response.text());
}
