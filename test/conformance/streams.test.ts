/** Event streams over HTTP: their format, their delay, and their end when the provider fails. */
import { performance } from 'node:perf_hooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseEvents } from '../support/event-stream.ts';
import { readStream } from '../support/read-stream.ts';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts';
import { anthropicLines, openAiLines } from '../support/sdk-lines.ts';
import { allFormats, type FormatUnderTest, type GatewayErrorBody } from './formats.ts';
import { openAnthropic, openOpenAi } from './open-sdk.ts';
import { describeOwn, send, useSubject } from './subject.ts';

const heartbeatMs = 150;
const idleMs = 800;

const terminals: Readonly<Record<string, string>> = {
	chat: 'data: [DONE]\n\n',
	messages: 'event: message_stop\ndata: {"type":"message_stop"}\n\n',
	responses: 'event: response.completed\ndata: {"type":"response.completed"}\n\n',
};

/** Terminal events, of which a broken stream has none. */
const terminal = /\[DONE\]|message_stop|response\.(?:completed|incomplete)/;

describeOwn('Streams', 'our simulator', () => {
	let pacer: ScriptedServer;
	/** Time at which each event was sent, by the number in it. */
	const sentMs = new Map<string, number>();
	/** Callbacks that let the provider send the next event. */
	const onArrival = new Map<string, () => void>();
	beforeAll(async () => {
		pacer = await startScriptedServer((connection) => {
			if (!connection.received.endsWith('}')) return;
			const [, end = ''] = /^POST \S+\/(completions|messages|responses)/.exec(connection.received) ?? [];
			connection.received = '';
			connection.send('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n');
			sendPaced(
				end === 'completions' ? 'chat' : end,
				(bytes) => connection.send(`${Buffer.byteLength(bytes).toString(16)}\r\n${bytes}\r\n`),
				() => connection.send('0\r\n\r\n'),
			);
		});
	});
	afterAll(() => pacer.close());

	/** Sends 30 events, each after the one before it has arrived, then the end. */
	function sendPaced(format: string, sendEvent: (bytes: string) => void, end: () => void): void {
		let number = 0;
		const step = (): void => {
			if (number === 30) {
				sendEvent(terminals[format] ?? '');
				end();
				return;
			}
			const id = `${format}-${number++}`;
			sentMs.set(id, performance.now());
			onArrival.set(id, step);
			sendEvent(format === 'messages' ? `event: ping\ndata: {"id":"${id}"}\n\n` : `data: {"id":"${id}"}\n\n`);
		};
		step();
	}

	const subject = useSubject(() => ({
		gateway: { heartbeat_ms: heartbeatMs, timeouts: { idle_ms: idleMs } },
		providers: {
			'paced-chat': { kind: 'openai', base_url: `${pacer.origin}/v1`, api_key: 'k', allow_private_network: true },
			'paced-responses': { kind: 'openai', base_url: `${pacer.origin}/v1`, api_key: 'k', allow_private_network: true },
			'paced-messages': { kind: 'anthropic', base_url: pacer.origin, api_key: 'k', allow_private_network: true },
		},
	}));

	const open = (format: FormatUnderTest, model: string, extra: object = {}, headers: Record<string, string> = {}): Promise<Response> =>
		send(subject.current, format.path, { headers, body: format.question(model, { stream: true, ...extra }) });

	describe.each(allFormats)('%s', (_path, format) => {
		it('has the headers of an event stream and is never compressed', async () => {
			const response = await open(format, `${format.family}-sim-text`, {}, { 'accept-encoding': 'gzip, deflate, br, zstd' });
			expect(response.status).toBe(200);
			expect(Object.fromEntries(response.headers)).toMatchObject({
				'content-type': 'text/event-stream; charset=utf-8',
				'cache-control': 'no-cache',
				'x-accel-buffering': 'no',
				'x-gateway-provider': format.provider,
				'x-gateway-model': `${format.family}-sim-text`,
				'x-request-id': expect.stringMatching(/^req_/) as string,
			});
			expect(response.headers.get('content-encoding')).toBeNull();
			expect(response.headers.get('content-length')).toBeNull();
			const { text } = await readStream(response);
			expect(text).toMatch(format.end);
		});

		it.concurrent('each event arrives before the next is sent', async () => {
			const response = await open(format, `paced-${format.name}/x`);
			const addedMs: number[] = [];
			const decoder = new TextDecoder();
			for await (const piece of response.body as AsyncIterable<Uint8Array>) {
				const arrivedMs = performance.now();
				for (const [, id = ''] of decoder.decode(piece).matchAll(/"id":"([^"]+)"/g)) {
					addedMs.push(arrivedMs - (sentMs.get(id) ?? 0));
					onArrival.get(id)?.();
				}
			}
			expect(addedMs).toHaveLength(30);
			expect(addedMs.toSorted((a, b) => a - b)[15]).toBeLessThan(10);
		});

		it.concurrent('comments keep a silent stream alive and change nothing of it', async () => {
			const slow = await readStream(await open(format, `${format.family}-sim-tokens-8-slow-first-event-600-interval-200`));
			const { events, comments } = parseEvents(slow.text);
			expect(comments.length).toBeGreaterThanOrEqual(3);
			expect(new Set(comments)).toEqual(new Set([': keepalive']));
			expect(slow.text.startsWith(': keepalive\n\n')).toBe(true);
			expect(slow.text).toMatch(format.end);
			for (const { data } of events) if (data !== '[DONE]') JSON.parse(data);
		});

		describe('a stream that its provider does not finish ends with an error event', () => {
			it.concurrent.each([
				['cut-after-3', 'provider_disconnected'],
				['cut-after-0', 'provider_disconnected'],
				['cut-mid-event-3', 'provider_disconnected'],
				['cut-mid-event-0', 'provider_disconnected'],
				['end-after-3', 'provider_disconnected'],
				['empty', 'provider_disconnected'],
				['stall-3', 'provider_idle_timeout'],
				['stall-0', 'provider_idle_timeout'],
			])('%s: %s', async (fault, code) => {
				const response = await open(format, `${format.family}-sim-tokens-60-${fault}`);
				const { text, isBroken } = await readStream(response);
				const { events, rest } = parseEvents(text);
				expect([response.status, isBroken, rest]).toEqual([200, false, '']);
				// Without an event of the provider, there is no response that could fail.
				const isEmpty = format.name === 'responses' && events.length === 1;
				const names = isEmpty ? format.errorEvents.slice(0, 1) : format.errorEvents;
				const ending = events.slice(-names.length);
				expect(ending.map(({ name }) => name)).toEqual(names);
				const httpResponse = JSON.parse(ending[0]?.data ?? '') as GatewayErrorBody;
				expect(httpResponse.error).toMatchObject({ code, type: code === 'provider_idle_timeout' ? 'timeout_error' : 'api_error' });
				expect(httpResponse.request_id).toBe(response.headers.get('x-request-id'));
				if (format.name !== 'chat') expect(httpResponse.type).toBe('error');
				for (const { data } of events) JSON.parse(data);
				expect(events.filter(({ data }) => data.includes('"error":{'))).toEqual(ending);
				expect(text).not.toMatch(terminal);
			});

			it('the provider’s own error event is passed on and nothing follows', async () => {
				const { text, isBroken } = await readStream(await open(format, `${format.family}-sim-tokens-60-error-mid-stream-3`));
				const { events, rest } = parseEvents(text);
				expect([isBroken, rest]).toEqual([false, '']);
				expect(events.filter(({ data }) => data.includes('"error":{'))).toEqual(events.slice(-format.errorEvents.length));
				expect(text).not.toMatch(terminal);
			});
		});

		it.each([true, false])('usage passes, to who asked for it: %s', async (requested) => {
			const extra = format.name === 'chat' && requested ? { stream_options: { include_usage: true } } : {};
			const { text } = await readStream(await open(format, `${format.family}-sim-tokens-40`, extra));
			const { tokens } = await subject.current.simulator.newestRequest();
			const responses = parseEvents(text)
				.events.filter(({ data }) => data !== '[DONE]')
				.map(({ data }) => JSON.parse(data) as { choices?: unknown[]; usage?: Record<string, number> | null; type?: string });
			if (format.name === 'responses') {
				expect(responses.at(-1)).toMatchObject({ response: { usage: { input_tokens: tokens.input, output_tokens: tokens.output } } });
			} else if (format.name === 'messages') {
				expect(responses.find(({ type }) => type === 'message_delta')?.usage).toMatchObject({ output_tokens: tokens.output });
			} else if (requested) {
				expect(responses.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: tokens.input, completion_tokens: tokens.output } });
				expect(responses.slice(0, -1).filter(({ usage }) => usage !== null)).toEqual([]);
			} else {
				expect(text).not.toContain('"usage"');
				expect(responses.filter(({ choices }) => choices?.length === 0)).toEqual([]);
			}
		});

		it('usage of a non-streaming response passes', async () => {
			const response = await open(format, `${format.family}-sim-tokens-40`, { stream: false });
			const { usage } = (await response.json()) as { usage: Record<string, number> };
			const { tokens } = await subject.current.simulator.newestRequest();
			expect(usage).toMatchObject(
				format.name === 'chat'
					? { prompt_tokens: tokens.input, completion_tokens: tokens.output, total_tokens: tokens.input + tokens.output }
					: { input_tokens: tokens.input, output_tokens: tokens.output },
			);
		});
	});

	/** Fault names, after `gpt-sim-` and `claude-sim-`. */
	const broken = ['cut-after-3', 'cut-mid-event-3', 'end-after-3', 'stall-3', 'error-mid-stream-3', 'empty'];

	describe.concurrent.each(openAiLines)('%s', (_name, OpenAI) => {
		const ask = (fault: string) => ({
			model: `gpt-sim-tokens-60-${fault}`,
			messages: [{ role: 'user' as const, content: 'Say hello.' }],
		});

		it.each([...broken, 'malformed-json'])('raises when a stream breaks: %s', async (fault) => {
			const client = await openOpenAi(OpenAI, subject.current);
			const chunks: unknown[] = [];
			const reading = (async () => {
				for await (const chunk of await client.chat.completions.create({ ...ask(fault), stream: true })) chunks.push(chunk);
			})();
			const error: unknown = await reading.catch((cause: unknown) => cause);
			expect(error).toBeInstanceOf(fault === 'malformed-json' ? SyntaxError : OpenAI.APIError);
			expect((error as Error).message).toMatch(/\w{6}/);
			expect(chunks.length).toBe({ 'malformed-json': 2, empty: 0 }[fault] ?? 3);
			await expect(client.chat.completions.stream(ask(fault)).finalChatCompletion()).rejects.toBeInstanceOf(Error);
		});

		it('reads over the comments of a silent stream', async () => {
			const client = await openOpenAi(OpenAI, subject.current);
			const final = await client.chat.completions.stream(ask('slow-first-event-400-tokens-4')).finalChatCompletion();
			expect(final.choices[0]?.finish_reason).toBe('stop');
		});
	});

	describe.concurrent.each(anthropicLines)('%s', (_name, Anthropic, credential) => {
		const ask = (fault: string) => ({
			model: `claude-sim-tokens-60-${fault}`,
			max_tokens: 4000,
			messages: [{ role: 'user' as const, content: 'Say hello.' }],
		});

		it.each(broken)('raises when a stream breaks: %s', async (fault) => {
			const client = await openAnthropic(Anthropic, credential, subject.current);
			const types: string[] = [];
			const reading = (async () => {
				for await (const event of await client.messages.create({ ...ask(fault), stream: true })) types.push(event.type);
			})();
			const error: unknown = await reading.catch((cause: unknown) => cause);
			expect(error).toBeInstanceOf(Anthropic.APIError);
			expect((error as Error).message).toMatch(/\w{6}/);
			expect(types).not.toContain('message_stop');
			await expect(client.messages.stream(ask(fault)).finalMessage()).rejects.toBeInstanceOf(Error);
		});

		it('reads over the comments of a silent stream', async () => {
			const client = await openAnthropic(Anthropic, credential, subject.current);
			const final = await client.messages.stream(ask('slow-first-event-400-tokens-4')).finalMessage();
			expect(final.stop_reason).toBe('end_turn');
		});
	});
});
