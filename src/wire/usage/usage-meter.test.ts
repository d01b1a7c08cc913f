import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventsIn } from '../../../test/support/byte-translation.ts';
import { type Recording, readRecordings, recordedBytes } from '../../../test/support/recordings.ts';
import { EventBatch } from '../events/event-batch.ts';
import { EventFramer } from '../events/event-framer.ts';
import { type MeterSettings, meterResponse, readReportedUsage, UsageMeter } from './usage-meter.ts';
import { chatUsage, geminiUsage, messagesUsage, type UsageReader } from './usage-reader.ts';

const inputTokens = 1000;
const requested: MeterSettings = { estimatedInputTokens: inputTokens, isUsageInjected: false };
const injected: MeterSettings = { estimatedInputTokens: inputTokens, isUsageInjected: true };

const readers: Readonly<Record<string, UsageReader>> = {
	openai: chatUsage,
	azure: chatUsage,
	anthropic: messagesUsage,
	gemini: geminiUsage,
};
const streams = ['anthropic', 'azure', 'gemini', 'openai'].flatMap(readRecordings).filter(({ response }) => response.sse !== undefined);

function readerOf({ name }: Recording): UsageReader {
	return readers[name.split('/')[0] ?? ''] ?? chatUsage;
}

/** Returns the events of these bytes as a relay finds them: complete ones together, an incomplete one held back until its end. */
function* relayed(bytes: Buffer, cuts: readonly number[]): Generator<EventBatch> {
	const framer = new EventFramer(() => 'none');
	let from = 0;
	for (const to of [...cuts.toSorted((one, other) => one - other), bytes.length]) {
		const events = framer.push(bytes.subarray(from, to));
		if (events !== undefined) yield events;
		from = to;
	}
	const rest = framer.takeBuffered();
	if (rest.length > 0) yield eventsIn(rest);
}

function pass(bytes: Buffer, meter: UsageMeter, cuts: readonly number[] = []): string {
	return Buffer.concat([...relayed(bytes, cuts)].map((events) => meter.push(events).bytes)).toString();
}

const cutsOf = (bytes: Buffer) => fc.array(fc.nat(bytes.length), { maxLength: 40 });

/** Input, cache read, cache write, output, reasoning part of it; with `~` if estimated. */
const reported: Readonly<Record<string, string>> = {
	'anthropic/cache-read-stream.json': '4 1165 0 221 0',
	'anthropic/text-stream.json': '17 0 0 108 0',
	'anthropic/thinking-stream.json': '52 0 0 216 0',
	'anthropic/tools-parallel-stream.json': '506 0 0 153 0',
	'anthropic/v-delta-input-tokens-stream.json': '61 0 0 2 0',
	'anthropic/v-refusal-stream.json': '18 0 0 5 0',
	'anthropic/v-server-tool-cache-stream.json': '6 6289 3337 198 0',
	'anthropic/v-tool-no-args-stream.json': '565 0 0 48 0',
	// 40 pieces of text, 198 bytes in all: a third.
	'azure/text-stream.json': '~1000 0 0 66 0',
	'azure/v-model-router-stream.json': '15 0 0 78 64',
	'gemini/text-stream.json': '9 0 0 208 185',
	'gemini/thinking-stream.json': '9 0 0 325 302',
	'gemini/tool-args-stream.json': '26 0 0 155 132',
	'gemini/tool-call-stream.json': '29 0 0 60 45',
	'openai/text-stream-usage.json': '23 0 0 8 0',
	'openai/text-stream.json': '~1000 0 0 35 0',
	'openai/tool-parallel-stream.json': '~1000 0 0 20 0',
	'openai/tool-result-stream.json': '84 0 0 9 0',
	'openai/tool-single-stream.json': '~1000 0 0 11 0',
	'openai/tool-stream-usage.json': '59 0 0 17 0',
	'openai/v-compat-tool-index-1.json': '~1000 0 0 11 0',
};

function describeUsage(meter: UsageMeter): string {
	const { usage, isEstimated } = meter.read();
	const { inputTokens: input, cacheReadTokens, cacheWriteTokens, outputTokens, reasoningTokens } = usage;
	return `${isEstimated ? '~' : ''}${[input, cacheReadTokens, cacheWriteTokens, outputTokens, reasoningTokens].join(' ')}`;
}

describe('the usage of each recorded stream', () => {
	it.each(streams)('$name', (recording) => {
		const bytes = recordedBytes(recording);
		const reader = readerOf(recording);
		expect(Object.keys(reported)).toContain(recording.name);
		fc.assert(
			fc.property(cutsOf(bytes), (cuts) => {
				const meter = new UsageMeter(reader, requested);
				expect(pass(bytes, meter, cuts)).toBe(bytes.toString());
				expect(describeUsage(meter)).toBe(reported[recording.name]);
			}),
			{ numRuns: 30 },
		);
	});
});

describe('a stream that was cut', () => {
	/** Counts the characters of the events' texts by parsing each event. */
	function deliveredCharacters(events: readonly Buffer[]): number {
		let characters = 0;
		for (const line of Buffer.concat(events).toString().split('\n')) {
			if (!line.startsWith('data: {')) continue;
			const { delta, choices = [] } = JSON.parse(line.slice(6)) as Delta;
			for (const { text, thinking, partial_json, content, tool_calls } of [delta, ...choices.map((choice) => choice.delta)].filter(
				(each) => each !== undefined,
			)) {
				characters += [text, thinking, partial_json, content, tool_calls?.[0]?.function.arguments].join('').length;
			}
		}
		return characters;
	}

	interface Delta {
		readonly delta?: Partial<Record<'text' | 'thinking' | 'partial_json', string>> & { content?: string; tool_calls?: undefined };
		readonly choices?: readonly {
			readonly delta: {
				text?: undefined;
				thinking?: undefined;
				partial_json?: undefined;
				content?: string;
				tool_calls?: readonly { function: { arguments: string } }[];
			};
		}[];
	}

	it.each(streams.filter(({ name }) => !name.startsWith('gemini/')))('is charged for the delivered part of $name', (recording) => {
		const events = [...relayed(recordedBytes(recording), [])]
			.flatMap((all) => all.bytes.toString().split(/(?<=\n\n)/))
			.map((event) => Buffer.from(event));
		const meter = new UsageMeter(readerOf(recording), requested);
		for (const [index, event] of events.entries()) {
			meter.push(eventsIn(event));
			const { usage, isEstimated } = meter.read();
			const characters = deliveredCharacters(events.slice(0, index + 1));
			expect(usage.inputTokens + usage.cacheReadTokens).toBeGreaterThan(0);
			if (!isEstimated) continue;
			expect(usage.outputTokens).toBeGreaterThanOrEqual(Math.ceil(characters / 4));
			// Some streams begin with output reported before any text: 69 tokens at most.
			expect(usage.outputTokens).toBeLessThanOrEqual(characters + 69);
		}
	});

	it('before its first byte is charged its input', () => {
		expect(describeUsage(new UsageMeter(chatUsage, requested))).toBe('~1000 0 0 0 0');
		expect(describeUsage(new UsageMeter(chatUsage, { estimatedInputTokens: 0, isUsageInjected: false }))).toBe('~1 0 0 0 0');
	});

	it('after `message_start` is charged the reported input', () => {
		const meter = new UsageMeter(messagesUsage, requested);
		meter.push(
			eventsIn(
				'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":7,"cache_read_input_tokens":3,"output_tokens":2}}}\n\n',
			),
		);
		expect(describeUsage(meter)).toBe('~7 3 0 2 0');
		meter.push(
			eventsIn('event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"type":"text_delta","text":"123456789"}}\n\n'),
		);
		expect(describeUsage(meter)).toBe('~7 3 0 5 0');
	});

	it('keeps counts that a later event does not contain', () => {
		const meter = new UsageMeter(messagesUsage, requested);
		const begun = '{"type":"message_start","message":{"usage":{"input_tokens":7,"cache_read_input_tokens":3,"output_tokens":2}}}';
		const ended = '{"type":"message_delta","usage":{"cache_read_input_tokens":null,"output_tokens":9}}';
		meter.push(eventsIn(Buffer.from(`event: message_start\ndata: ${begun}\n\nevent: message_delta\ndata: ${ended}\n\n`)));
		expect(describeUsage(meter)).toBe('7 3 0 9 0');
	});

	it('and compressed is charged for its bytes', () => {
		const meter = new UsageMeter(chatUsage, requested);
		meter.pushOpaque(Buffer.alloc(299));
		expect(describeUsage(meter)).toBe('~1000 0 0 100 0');
	});

	it('of a vendor that reports in transit is charged the reported usage and the later text', () => {
		const meter = new UsageMeter(chatUsage, requested);
		meter.push(
			eventsIn(Buffer.from('data: {"choices":[{"delta":{"content":"ab"}}],"usage":{"prompt_tokens":5,"completion_tokens":2}}\n\n')),
		);
		expect(describeUsage(meter)).toBe('5 0 0 2 0');
		meter.push(eventsIn(Buffer.from('data: {"choices":[{"delta":{"content":"abcdef"}}]}\n\n')));
		expect(describeUsage(meter)).toBe('~5 0 0 4 0');
	});
});

describe('events that only look as if they reported usage', () => {
	it.each([
		['a text', 'data: {"choices":[{"delta":{"content":"\\"usage\\":{\\"prompt_tokens\\":9}"}}]}'],
		['a member further down', 'data: {"choices":[],"x_groq":{"usage":{"prompt_tokens":9,"completion_tokens":9}}}'],
		['damaged counts', 'data: {"choices":[],"usage":{"prompt_tokens":-9,"completion_tokens":9}}'],
		['a list', 'data: {"choices":[],"usage":[{"prompt_tokens":9}]}'],
		['half an object', 'data: {"choices":[],"usage":{"prompt_tokens":9,'],
		['a comment', ': "usage":{"prompt_tokens":9,"completion_tokens":9}'],
		['another member that is a list', 'data: {"message":[],"usage":{}}'],
		['an event that holds no message', 'data: {"content":{"usage":{"input_tokens":9,"output_tokens":9}},"message":{}}'],
	])('%s', (_name, line) => {
		for (const reader of [chatUsage, messagesUsage]) {
			const meter = new UsageMeter(reader, requested);
			meter.push(eventsIn(Buffer.from(`${line}\n\n`)));
			expect(meter.read().usage.inputTokens).toBe(inputTokens);
			expect(meter.read().isEstimated).toBe(true);
		}
	});

	it('any bytes: never throws, never loses a byte, never counts below zero', () => {
		const piece = fc.oneof(
			fc.constantFrom(
				'data: ',
				'{"usage":',
				'{"message":',
				'null',
				'{',
				'}',
				'[',
				']',
				'"',
				'\\',
				',',
				':',
				'\n',
				'\n\n',
				'\r\n',
				'"choices":[]',
				'"usage":null',
				'"content":"',
			),
			fc.string(),
		);
		fc.assert(
			fc.property(fc.array(piece), fc.constantFrom(chatUsage, messagesUsage, geminiUsage), (pieces, reader) => {
				const bytes = Buffer.from(pieces.join(''));
				const meter = new UsageMeter(reader, requested);
				const batch = EventBatch.ofBytes(bytes, [bytes.length]);
				expect(meter.push(batch)).toBe(batch);
				expect(Object.values(meter.read().usage).every((count) => Number.isInteger(count) && count >= 0)).toBe(true);
				const removing = new UsageMeter(reader, injected);
				expect(removing.push(batch).bytes.length).toBeLessThanOrEqual(bytes.length);
			}),
			{ numRuns: 500 },
		);
	});
});

describe('a stream whose client did not ask', () => {
	/** Returns the stream that the provider would have sent without usage. Works on text, with the known shape of each recording. */
	function withoutUsage(stream: string): string {
		return stream
			.split(/(?<=\n\n)/)
			.filter((event) => !(event.includes('"choices":[]') && event.includes('"usage":{')))
			.map((event) => event.replace(',"usage":null', ''))
			.join('');
	}

	const chat = streams.filter(({ name }) => readers[name.split('/')[0] ?? ''] === chatUsage);

	it.each(chat)('gets $name without usage, for any cutting', (recording) => {
		const bytes = recordedBytes(recording);
		const expected = withoutUsage(bytes.toString());
		expect(expected).not.toContain('"usage"');
		fc.assert(
			fc.property(cutsOf(bytes), (cuts) => {
				const meter = new UsageMeter(chatUsage, injected);
				expect(pass(bytes, meter, cuts)).toBe(expected);
				expect(describeUsage(meter)).toBe(reported[recording.name]);
			}),
			{ numRuns: 50 },
		);
	});

	it.each(chat)('gets $name without usage when its lines end in lone CRs', (recording) => {
		const stream = recordedBytes(recording).toString();
		const bytes = Buffer.from(stream.replaceAll('\n', '\r'));
		fc.assert(
			fc.property(cutsOf(bytes), (cuts) => {
				expect(pass(bytes, new UsageMeter(chatUsage, injected), cuts)).toBe(withoutUsage(stream).replaceAll('\n', '\r'));
			}),
			{ numRuns: 20 },
		);
		const meter = new UsageMeter(chatUsage, injected);
		const usual = new UsageMeter(chatUsage, injected);
		pass(bytes, meter);
		pass(Buffer.from(stream), usual);
		expect(meter.read()).toEqual(usual.read());
	});

	it.each(chat)('gets $name without usage when its lines end in CRLF', (recording) => {
		const stream = recordedBytes(recording).toString();
		const bytes = Buffer.from(stream.replaceAll('\n', '\r\n'));
		fc.assert(
			fc.property(cutsOf(bytes), (cuts) => {
				expect(pass(bytes, new UsageMeter(chatUsage, injected), cuts)).toBe(withoutUsage(stream).replaceAll('\n', '\r\n'));
			}),
			{ numRuns: 20 },
		);
	});

	it('of messages keeps every byte: that format always reports', () => {
		for (const recording of streams.filter(({ name }) => name.startsWith('anthropic/'))) {
			const bytes = recordedBytes(recording);
			expect(pass(bytes, new UsageMeter(messagesUsage, injected))).toBe(bytes.toString());
		}
	});

	it.each([
		['first', '{"usage":null,"id":"x","choices":[{}]}', '{"id":"x","choices":[{}]}'],
		['in the middle', '{"id":"x","usage":null,"choices":[{}]}', '{"id":"x","choices":[{}]}'],
		['last', '{"id":"x","choices":[{}],"usage":null}', '{"id":"x","choices":[{}]}'],
		['alone', '{"usage":null}', '{}'],
		['with spaces', '{"id": "x", "usage": null, "choices": [{}]}', '{"id": "x", "choices": [{}]}'],
		['last with spaces', '{"id": "x", "choices": [{}], "usage": null}', '{"id": "x", "choices": [{}]}'],
		[
			'with choices',
			'{"choices":[{"delta":{}}],"usage":{"prompt_tokens":1,"x":{"y":[1]}},"id":"x"}',
			'{"choices":[{"delta":{}}],"id":"x"}',
		],
		[
			'further down, which is none of ours',
			'{"choices":[{"usage":null,"x":{"usage":null}}]}',
			'{"choices":[{"usage":null,"x":{"usage":null}}]}',
		],
		['in a text', '{"choices":[{"delta":{"content":"\\"usage\\":null"}}]}', '{"choices":[{"delta":{"content":"\\"usage\\":null"}}]}'],
		[
			'beside moderation',
			'{"choices":[],"moderation":{"flagged":false},"usage":{"prompt_tokens":1}}',
			'{"choices":[],"moderation":{"flagged":false}}',
		],
		['as null, where there are no choices', '{"choices":[],"moderation":{},"usage":null}', '{"choices":[],"moderation":{}}'],
		[
			'as null in Azure’s first chunk',
			'{"choices":[],"prompt_filter_results":[],"usage":null}',
			'{"choices":[],"prompt_filter_results":[]}',
		],
	])('finds the member %s', (_name, json, expected) => {
		const meter = new UsageMeter(chatUsage, injected);
		expect(meter.push(eventsIn(Buffer.from(`data: ${json}\n\ndata: [DONE]\n\n`))).bytes.toString()).toBe(
			`data: ${expected}\n\ndata: [DONE]\n\n`,
		);
	});

	it('keeps a moderation chunk that follows the usage chunk', () => {
		const usage = 'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\n';
		const moderation = 'data: {"choices":[],"moderation":{"flagged":false}}\n\n';
		const meter = new UsageMeter(chatUsage, injected);
		expect(meter.push(eventsIn(Buffer.from(`${usage}${moderation}data: [DONE]\n\n`))).bytes.toString()).toBe(
			`${moderation}data: [DONE]\n\n`,
		);
		expect(describeUsage(meter)).toBe('1 0 0 2 0');
	});

	it('removes an event of usage alone with all its lines, and no comment of another', () => {
		const meter = new UsageMeter(chatUsage, injected);
		const events = ': ping\n\nevent: x\nid: 1\ndata: {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}}\n\n: ping\n\n';
		expect(meter.push(eventsIn(Buffer.from(events))).bytes.toString()).toBe(': ping\n\n: ping\n\n');
	});

	it('removes the LF of a dropped event’s last CRLF, when that arrives later', () => {
		const meter = new UsageMeter(chatUsage, injected);
		const usage = 'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\r\n\r';
		expect(meter.push(eventsIn(Buffer.from(usage))).bytes.toString()).toBe('');
		expect(meter.push(eventsIn(Buffer.from('\ndata: [DONE]\r\n\r'))).bytes.toString()).toBe('data: [DONE]\r\n\r');
		expect(meter.push(eventsIn(Buffer.from('\n'))).bytes.toString()).toBe('\n');
	});

	it('removes an event of usage alone at the very end, and one whose two lines both report usage', () => {
		const usage = 'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}';
		expect(new UsageMeter(chatUsage, injected).push(eventsIn(Buffer.from(`: a\n\n${usage}`))).bytes.toString()).toBe(': a\n\n');
		const twice = `: a\n\ndata: {"choices":[{}],"usage":null}\n${usage}\n\n: b\n\n`;
		expect(new UsageMeter(chatUsage, injected).push(eventsIn(twice)).bytes.toString()).toBe(': a\n\n: b\n\n');
	});

	it('of a very deep event gets it without usage', () => {
		const choices = `[${'['.repeat(70)}${']'.repeat(70)}]`;
		const event = eventsIn(`data: {"choices":${choices},"usage":{"prompt_tokens":1}}\n\n`);
		expect(new UsageMeter(chatUsage, injected).push(event).bytes.toString()).toBe(`data: {"choices":${choices}}\n\n`);
	});

	it('gets the very same events when there is nothing to remove', () => {
		const events = eventsIn('data: {"choices":[{"delta":{"content":"hi"}}]}\n\n');
		expect(new UsageMeter(chatUsage, injected).push(events)).toBe(events);
	});
});

describe('a non-streaming response', () => {
	it('with usage is charged the reported usage', () => {
		const body = Buffer.from('{"choices":[{"message":{"content":"hello"}}],"usage":{"prompt_tokens":5,"completion_tokens":2}}');
		expect(meterResponse(body, readReportedUsage(body, chatUsage).usage, chatUsage, 9)).toMatchObject({
			usage: { inputTokens: 5, outputTokens: 2 },
			isEstimated: false,
		});
	});

	it('of a million values is charged the reported usage', () => {
		const logprobs = `[${'[1],'.repeat(600_000)}0]`;
		const body = Buffer.from(
			`{"usage":{"prompt_tokens":1},"choices":[{"usage":{}}],"logprobs":${logprobs},"usage":\n{"prompt_tokens":5,"completion_tokens":2}}`,
		);
		expect(meterResponse(body, readReportedUsage(body, chatUsage).usage, chatUsage, 9)).toMatchObject({
			usage: { inputTokens: 5, outputTokens: 2 },
			isEstimated: false,
		});
	});

	it('is charged the usage of its own member, whatever comes deeper or in texts', () => {
		const own = '{"note":"}\\"{","prompt_tokens":5,"completion_tokens":2,"more":[{}]}';
		const body = Buffer.from(`{"usage":${own},"choices":[{"usage":{"prompt_tokens":1,"completion_tokens":1}}]}`);
		expect(meterResponse(body, readReportedUsage(body, chatUsage).usage, chatUsage, 9)).toMatchObject({
			usage: { inputTokens: 5, outputTokens: 2 },
			isEstimated: false,
		});
	});

	it('without usage is estimated', () => {
		const body = Buffer.from(
			'{\n  "choices": [{"message": {"content": "hello you", "tool_calls": [{"function": {"arguments": "{}"}}]}}]\n}',
		);
		expect(meterResponse(body, readReportedUsage(body, chatUsage).usage, chatUsage, 9)).toMatchObject({
			usage: { inputTokens: 9, outputTokens: 4 },
			isEstimated: true,
		});
	});
});
