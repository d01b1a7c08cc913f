import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { translateBytes } from '../../../../test/support/byte-translation.ts';
import { readRecordings, recordedBytes } from '../../../../test/support/recordings.ts';
import { chatToMessages } from '../../../../test/support/translations.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';
import type { ResponseContext } from '../../conversation/response.ts';
import type { JsonObject } from '../../json/parse-body.ts';

const withUsage: JsonObject = { model: 'alias', stream: true, stream_options: { include_usage: true } };
const callOf = (request: JsonObject): ResponseContext => ({ request, model: 'alias', requestId: 'req_1', nowSeconds: 1_790_000_000 });

const event = (type: string, members: JsonObject = {}): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
const start = event('message_start', {
	message: { id: 'msg_1', model: 'claude-x', content: [], usage: { input_tokens: 5, output_tokens: 1 } },
});
const blockStart = (content_block: JsonObject): string => event('content_block_start', { index: 0, content_block });
const delta = (type: string, members: JsonObject): string => event('content_block_delta', { index: 0, delta: { type, ...members } });
const blockStop = event('content_block_stop', { index: 0 });
const finish = (stop_reason: string): string =>
	event('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 7 } });
const stop = event('message_stop');
const tool = (id: string, input: JsonObject = {}): string => blockStart({ type: 'tool_use', id, name: 'f', input });
const text = (content: string): string => blockStart({ type: 'text', text: '' }) + delta('text_delta', { text: content }) + blockStop;

/** Returns the content of the `data:` lines as JSON; the last one as text. */
function dataOf(bytes: Buffer): unknown[] {
	const lines = bytes.toString().split('\n\n').slice(0, -1);
	return lines.map((line) => {
		expect(line.startsWith('data: ')).toBe(true);
		return line === 'data: [DONE]' ? '[DONE]' : (JSON.parse(line.slice('data: '.length)) as unknown);
	});
}

interface Chunk {
	readonly choices: readonly { readonly delta: JsonObject; readonly finish_reason: string | null }[];
	readonly usage?: JsonObject | null;
}

function translate(
	events: string,
	request: JsonObject = {},
): { readonly data: unknown[]; readonly deltas: JsonObject[]; readonly reason: unknown } {
	const stream = translateBytes(chatToMessages, callOf(request));
	const data = dataOf(stream.push(Buffer.from(events)));
	const choices = data.flatMap((one) => (one === '[DONE]' ? [] : ((one as Partial<Chunk>).choices ?? [])));
	return { data, deltas: choices.map((choice) => choice.delta), reason: choices.at(-1)?.finish_reason };
}

const recordings = readRecordings('anthropic').filter(({ response }) => response.sse !== undefined);

describe.each(recordings)('$name', (recording) => {
	const events = recordedBytes(recording)
		.toString()
		.split(/(?<=\n\n)/)
		.map((one) => Buffer.from(one));
	const whole = translateBytes(chatToMessages, callOf(withUsage)).push(recordedBytes(recording)).toString();

	test('has the same bytes event by event, and in any groups', () => {
		const cuts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 });
		fc.assert(
			fc.property(cuts, (sizes) => {
				const stream = translateBytes(chatToMessages, callOf(withUsage));
				let out = '';
				for (let at = 0, turn = 0; at < events.length; turn++) {
					const size = sizes[turn % sizes.length] ?? 1;
					out += stream.push(Buffer.concat(events.slice(at, at + size))).toString();
					at += size;
				}
				expect(out + stream.end().toString()).toBe(whole);
			}),
			{ numRuns: 40, examples: [[[1]]] },
		);
	});

	test('reports usage only to clients that ask, and with the same meaning', () => {
		const stream = translateBytes(chatToMessages, callOf({ model: 'alias', stream: true }));
		const silent = dataOf(stream.push(recordedBytes(recording)));
		const requested = dataOf(Buffer.from(whole));
		expect(JSON.stringify(silent)).not.toContain('"usage"');
		expect(requested.at(-2)).toMatchObject({ choices: [], usage: { prompt_tokens: expect.any(Number) as unknown } });
		expect(requested.filter((one) => one !== '[DONE]' && (one as Chunk).usage === undefined)).toEqual([]);
		const plain = requested.toSpliced(-2, 1).map((one) => (one === '[DONE]' ? one : { ...(one as Chunk), usage: undefined }));
		expect(silent).toEqual(JSON.parse(JSON.stringify(plain)));
	});

	test('reads the same with other line ends', () => {
		for (const end of ['\r\n', '\r']) {
			const stream = translateBytes(chatToMessages, callOf(withUsage));
			const bytes = Buffer.from(recordedBytes(recording).toString().replaceAll('\n', end));
			expect(stream.push(bytes).toString()).toBe(whole);
		}
	});
});

/** Returns the events that would produce a recorded message, with each text in pieces of a given size. */
function eventsOf({ content, usage, stop_reason, stop_details, ...message }: JsonObject, size: number): string {
	const inPieces = (value: unknown, render: (piece: string) => string): string =>
		(String(value).match(new RegExp(`[^]{1,${size}}`, 'gu')) ?? []).map(render).join('');
	const blocks = (content as readonly JsonObject[]).map((block) => {
		const { input, text: said, thinking, signature, ...rest } = block;
		return (
			blockStart({ ...rest, ...(input !== undefined && { input: {} }) }) +
			(said === undefined ? '' : inPieces(said, (piece) => delta('text_delta', { text: piece }))) +
			(thinking === undefined ? '' : inPieces(thinking, (piece) => delta('thinking_delta', { thinking: piece }))) +
			(signature === undefined ? '' : delta('signature_delta', { signature })) +
			(input === undefined ? '' : inPieces(JSON.stringify(input), (piece) => delta('input_json_delta', { partial_json: piece }))) +
			blockStop
		);
	});
	const end = event('message_delta', { delta: { stop_reason, stop_details }, usage }) + stop;
	return event('message_start', { message: { ...message, content: [], usage } }) + blocks.join('') + end;
}

/** Assembles chunks as a client does. */
function fold(data: readonly unknown[]): JsonObject {
	const message: Record<string, unknown> = {};
	const calls: { id: string; type: string; function: { name: string; arguments: string } }[] = [];
	for (const { tool_calls, ...rest } of data.flatMap((one) => (one as Partial<Chunk>).choices ?? []).map((choice) => choice.delta)) {
		for (const [name, value] of Object.entries(rest)) {
			message[name] = typeof message[name] === 'string' && typeof value === 'string' ? message[name] + value : value;
		}
		for (const { index, ...call } of (tool_calls ?? []) as readonly ({ index: number } & (typeof calls)[number])[]) {
			const known = calls[index];
			if (known === undefined) calls[index] = call;
			else known.function.arguments += call.function.arguments;
		}
	}
	return { ...message, ...(calls.length > 0 && { tool_calls: calls }) };
}

test.each(readRecordings('anthropic').filter(({ response }) => response.sse === undefined))(
	'folds to the non-streaming response: $name',
	({ response }) => {
		const recorded = response.json as JsonObject;
		const whole = chatToMessages.translateResponse(recorded, callOf(withUsage)) as unknown as {
			readonly choices: readonly { readonly message: JsonObject; readonly finish_reason: string }[];
			readonly usage: JsonObject;
		};
		fc.assert(
			fc.property(fc.integer({ min: 1, max: 60 }), (size) => {
				const { data, reason } = translate(eventsOf(recorded, size), withUsage);
				const { message, finish_reason } = whole.choices[0] ?? {};
				// A stream cannot know yet that no text will come.
				expect(fold(data)).toEqual({ ...message, content: message?.content ?? '' });
				expect(reason).toBe(finish_reason);
				expect(data.at(-2)).toMatchObject({ usage: whole.usage });
			}),
			{ numRuns: 10 },
		);
	},
);

describe('tool calls', () => {
	test('are counted from 0 whatever blocks come between, and have arguments when they got none', () => {
		const fragments = delta('input_json_delta', { partial_json: '' }) + delta('input_json_delta', { partial_json: '{"a"' });
		const { deltas, reason } = translate(
			start +
				text('Let me see') +
				tool('t1') +
				fragments +
				delta('input_json_delta', { partial_json: ':1}' }) +
				blockStop +
				blockStart({ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }) +
				delta('input_json_delta', { partial_json: '{}' }) +
				blockStop +
				tool('t2') +
				blockStop +
				tool('t3', { b: 2 }) +
				blockStop +
				finish('tool_use') +
				stop,
		);
		expect(deltas.flatMap((one) => one.tool_calls ?? [])).toEqual([
			{ index: 0, id: 't1', type: 'function', function: { name: 'f', arguments: '' } },
			{ index: 0, function: { arguments: '{"a"' } },
			{ index: 0, function: { arguments: ':1}' } },
			{ index: 1, id: 't2', type: 'function', function: { name: 'f', arguments: '' } },
			{ index: 1, function: { arguments: '{}' } },
			{ index: 2, id: 't3', type: 'function', function: { name: 'f', arguments: '' } },
			{ index: 2, function: { arguments: '{"b":2}' } },
		]);
		expect(reason).toBe('tool_calls');
	});

	test('in the old shape: the first only', () => {
		const events = start + tool('t1', { a: 1 }) + blockStop + tool('t2', { b: 2 }) + blockStop + finish('tool_use') + stop;
		const { deltas, reason } = translate(events, { functions: [{ name: 'f' }] });
		expect(deltas.slice(1)).toEqual([{ function_call: { name: 'f', arguments: '' } }, { function_call: { arguments: '{"a":1}' } }, {}]);
		expect(reason).toBe('function_call');
	});
});

test('thinking comes as text while it is generated, and complete at the end, signed as it was', () => {
	const hidden = { type: 'redacted_thinking', data: 'AAAA' };
	const { deltas } = translate(
		start +
			blockStart({ type: 'thinking', thinking: '', signature: '' }) +
			delta('thinking_delta', { thinking: 'Let ' }) +
			delta('thinking_delta', { thinking: 'me' }) +
			delta('signature_delta', { signature: 'c2ln' }) +
			blockStop +
			delta('signature_delta', { signature: 'of no block' }) +
			blockStart(hidden) +
			blockStop +
			blockStart({ type: 'thinking', thinking: '', signature: '' }) +
			blockStop +
			text('Yes') +
			finish('end_turn') +
			stop,
	);
	expect(deltas).toEqual([
		{ role: 'assistant', content: '', refusal: null },
		{ reasoning_content: 'Let ' },
		{ reasoning_content: 'me' },
		{ content: 'Yes' },
		{ thinking_blocks: [{ type: 'thinking', thinking: 'Let me', signature: 'c2ln' }, hidden] },
		{},
	]);
});

describe('the end', () => {
	test('is [DONE] after message_stop and not before; later events are ignored', () => {
		const stream = translateBytes(chatToMessages, callOf(withUsage));
		expect(stream.push(Buffer.from(start + text('x') + finish('end_turn'))).toString()).not.toContain('[DONE]');
		expect(stream.isTerminated).toBe(false);
		expect(dataOf(stream.push(Buffer.from(stop)))).toEqual([
			expect.objectContaining({
				choices: [],
				usage: expect.objectContaining({ prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 }) as unknown,
			}),
			'[DONE]',
		]);
		expect(stream.isTerminated).toBe(true);
		expect(stream.push(Buffer.from(`${start}data: [DONE]\n\n`))).toHaveLength(0);
		expect(stream.end()).toHaveLength(0);
	});

	test('without usage reports none', () => {
		const events = event('message_start', { message: { id: 'msg_1', content: [] } }) + stop;
		const { data, reason } = translate(events, withUsage);
		expect(data.map((one) => (one === '[DONE]' ? one : (one as Chunk).usage))).toEqual([null, null, '[DONE]']);
		expect(reason).toBe('stop');
	});

	test('that is an error is one error event', () => {
		const stream = translateBytes(chatToMessages, callOf({}));
		const error = event('error', { error: { type: 'overloaded_error', message: 'Overloaded' } });
		const data = dataOf(stream.push(Buffer.from(start + text('x') + error + finish('end_turn') + stop)));
		expect(data.at(-1)).toEqual({
			error: { message: 'Overloaded', type: 'overloaded_error', param: null, code: 'overloaded_error' },
			request_id: 'req_1',
		});
		expect(data).toHaveLength(3);
		expect(stream).toMatchObject({ hasFailed: true, isTerminated: false });
		expect(stream.end()).toHaveLength(0);
	});

	test('that comes too early is an error', () => {
		const stream = translateBytes(chatToMessages, callOf({}));
		stream.push(Buffer.from(start + text('x') + finish('end_turn')));
		expect(() => stream.end()).toThrow(expect.objectContaining({ code: 'provider_disconnected' }) as Error);
	});

	test('may lack its empty line', () => {
		const stream = translateBytes(chatToMessages, callOf({}));
		stream.push(Buffer.from(start + stop.trimEnd()));
		expect(stream.isTerminated).toBe(true);
	});
});

test('unknown events, blocks, deltas and fields are ignored, and so are comments and pings', () => {
	const noise = [
		event('ping'),
		': comment\n\n',
		event('news', { a: 1 }),
		blockStart({ type: 'news' }),
		delta('news_delta', { text: 'x' }),
		delta('citations_delta', { citation: {} }),
		'id: 1\nretry: 5\n\n',
	].join('');
	const noisy =
		noise +
		start +
		noise +
		blockStop +
		text('x').replaceAll('"index"', '"news":[],"index"') +
		noise +
		blockStop +
		finish('end_turn') +
		noise +
		stop;
	expect(translate(noisy, withUsage)).toEqual(translate(start + text('x') + finish('end_turn') + stop, withUsage));
});

test('any stream of a provider is translated or reported as an error, without an internal error', () => {
	const types = fc.constantFrom(
		...'message_start content_block_start content_block_delta content_block_stop message_delta message_stop error ping'.split(' '),
	);
	const names = fc.constantFrom(
		...'message content_block delta usage error type text thinking signature input partial_json id name stop_reason'.split(' '),
	);
	const kinds = fc.constantFrom<unknown>(
		'text',
		'tool_use',
		'thinking',
		'text_delta',
		'input_json_delta',
		'thinking_delta',
		'refusal',
		'',
		null,
		1,
	);
	const members = fc.dictionary(names, fc.oneof(kinds, fc.dictionary(names, kinds), fc.jsonValue({ maxDepth: 2 })));
	const stream = fc.array(fc.oneof(fc.tuple(types, members), fc.constant(['message_start', { message: {} }] as const)), { maxLength: 12 });
	fc.assert(
		fc.property(stream, (events) => {
			const translation = translateBytes(chatToMessages, callOf(withUsage));
			try {
				for (const [type, more] of events) dataOf(translation.push(Buffer.from(event(type, { ...more, type }))));
				translation.end();
			} catch (cause) {
				expect(cause).toBeInstanceOf(UpstreamError);
			}
		}),
		{ numRuns: 1000 },
	);
});

describe('an invalid stream', () => {
	test.each([
		['not JSON', 'data: {"type":\n\n'],
		['not an object', 'data: [1]\n\n'],
		['started twice', start],
		['a block without content', event('content_block_start')],
		['a delta without content', event('content_block_delta')],
		['a call without a name', blockStart({ type: 'tool_use', id: 'a' })],
	])('%s', (_name, bad) => {
		const alone = translateBytes(chatToMessages, callOf({}));
		const before = alone.push(Buffer.from(start + text('x')));
		expect(() => alone.push(Buffer.from(bad))).toThrow(UpstreamError);

		const together = translateBytes(chatToMessages, callOf({}));
		expect(together.push(Buffer.from(start + text('x') + bad + text('y')))).toEqual(before);
		expect(() => together.push(Buffer.from(text('y')))).toThrow(expect.objectContaining({ code: 'provider_response_invalid' }) as Error);
		expect(() => together.end()).toThrow(UpstreamError);
	});

	test('content before the message', () => {
		expect(() => translate(text('x'))).toThrow(UpstreamError);
		expect(() => translate(stop)).toThrow(UpstreamError);
	});
});
