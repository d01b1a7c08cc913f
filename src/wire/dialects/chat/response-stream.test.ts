import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ByteTranslation, translateBytes } from '../../../../test/support/byte-translation.ts';
import { readRecordings } from '../../../../test/support/recordings.ts';
import { messagesToChat } from '../../../../test/support/translations.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';
import type { ResponseContext } from '../../conversation/response.ts';
import type { JsonObject } from '../../json/parse-body.ts';

const call: ResponseContext = { request: {}, model: 'asked-model', requestId: 'req_7', nowSeconds: 1_790_000_000 };

function translate(pieces: readonly string[]): string {
	const stream = translateBytes(messagesToChat, call);
	return Buffer.concat([...pieces.map((piece) => stream.push(Buffer.from(piece))), stream.end()]).toString();
}

const chunk = (delta: unknown, finish: string | null = null): string =>
	`data: ${JSON.stringify({ id: 'chatcmpl-a', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const fragment = (...calls: unknown[]): string => chunk({ tool_calls: calls });
const opened = (index: number, id: string, name: string, text = ''): unknown => ({ index, id, function: { name, arguments: text } });
const piece = (index: number, text: string): unknown => ({ index, function: { arguments: text } });
const done = 'data: [DONE]\n\n';

const recorded = [...readRecordings('openai'), ...readRecordings('azure')].filter(({ response }) => response.sse !== undefined);

test.each(recorded.map(({ name, response }) => [name, response.sse ?? ''] as const))(
	'%s: the same bytes however its events come together',
	(_name, sse) => {
		const events = sse.split(/(?<=\n\n)/);
		expect(events.length).toBeGreaterThan(5);
		const whole = translate([sse]);
		expect(translate(events)).toBe(whole);
		expect(translate([sse.replaceAll('\n', '\r\n')])).toBe(whole);
		expect(translate([sse.replaceAll('\n', '\r')])).toBe(whole);
		fc.assert(
			fc.property(fc.uniqueArray(fc.integer({ min: 1, max: events.length - 1 })), (cuts) => {
				const edges = [0, ...cuts.toSorted((one, other) => one - other), events.length];
				expect(translate(edges.slice(1).map((end, at) => events.slice(edges[at], end).join('')))).toBe(whole);
			}),
			{ numRuns: 50 },
		);
	},
);

test('comments, other fields, several data lines, padding and a missing last empty line are supported', () => {
	const plain = [chunk({ content: 'Hi' }), chunk({}, 'stop'), done].join('');
	const split = chunk({ content: 'Hi' }).replace(',"model"', '\ndata:,"model"');
	const odd = [`: comment\n\nid: 7\nretry: 5\n${split}`, chunk({}, 'stop').replace('\n\n', '   \n\n'), 'data: [DONE]'].join('');
	expect(translate([odd])).toBe(translate([plain]));
});

describe('the end', () => {
	const push = (...pieces: string[]): ByteTranslation => {
		const stream = translateBytes(messagesToChat, call);
		for (const one of pieces) stream.push(Buffer.from(one));
		return stream;
	};

	test('no event that ends the message is sent before the provider has ended', () => {
		const stream = translateBytes(messagesToChat, call);
		const before = stream.push(
			Buffer.from(
				`${chunk({ content: 'Hi' })}${chunk({}, 'stop')}data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}\n\n`,
			),
		);
		expect(before.toString()).not.toMatch(/message_delta|message_stop|content_block_stop/);
		expect(stream.isTerminated).toBe(false);
		expect(stream.push(Buffer.from(done)).toString()).toMatch(/"input_tokens":3.*"output_tokens":2.*\n\nevent: message_stop/s);
		expect(stream.isTerminated).toBe(true);
	});

	test('a stream that was cut is never reported as complete', () => {
		const stream = push(chunk({ content: 'Hi' }));
		expect(() => stream.end()).toThrow(expect.objectContaining({ code: 'provider_disconnected' }) as UpstreamError);
		expect(stream.isTerminated).toBe(false);
	});

	test('no event follows the terminal event or an error', () => {
		const whole = push(chunk({ content: 'Hi' }), chunk({}, 'stop'), done);
		expect(whole.push(Buffer.from(chunk({ content: 'more' }) + done)).length + whole.end().length).toBe(0);
		const failed = push(chunk({ content: 'Hi' }), 'event: error\ndata: {"message":"overloaded"}\n\n');
		expect(failed.hasFailed).toBe(true);
		expect(failed.push(Buffer.from(chunk({ content: 'more' }) + done)).length + failed.end().length).toBe(0);
		expect(failed.isTerminated).toBe(false);
	});

	test.each([{ toString: 1 }, [5], true])('an error with any code is forwarded: %j', (code) => {
		const stream = translateBytes(messagesToChat, call);
		const reported = stream.push(Buffer.from(`data: ${JSON.stringify({ error: { code, message: 'Oops' } })}\n\n`)).toString();
		expect([stream.hasFailed, reported]).toEqual([true, expect.stringContaining('"error":{"type":"api_error","message":"Oops"}')]);
	});

	test('an error of null is no error', () => {
		expect(translate([chunk({ content: 'Hi' }).replace('"choices"', '"error":null,"choices"'), chunk({}, 'stop'), done])).toContain(
			'message_stop',
		);
	});
});

describe('an invalid response', () => {
	test.each([
		['no JSON', 'data: {"choices":[{"delta":{"content":"Hi"}}]\n\n'],
		['no object', 'data: [1]\n\n'],
		['no choice at all', 'data: {"choices":[]}\n\ndata: [DONE]\n\n'],
		['arguments that are broken', fragment(opened(0, 'call_1', 'a', '{"x":')) + chunk({}, 'tool_calls') + done],
		['arguments that are a list', fragment(opened(0, 'call_1', 'a', '[1]')) + chunk({}, 'tool_calls') + done],
		['a call without a name', fragment(piece(0, '{}')) + chunk({}, 'tool_calls') + done],
		[
			'arguments after their block',
			fragment(opened(0, 'call_1', 'a', '{"x"')) + chunk({ content: 'Hm' }) + fragment(piece(0, ':1}')) + done,
		],
	])('%s', (_what, events) => {
		expect(() => translate([events])).toThrow(expect.objectContaining({ code: 'provider_response_invalid' }) as UpstreamError);
		expect(() => translate([events])).toThrow(UpstreamError);
	});

	test('earlier events are sent first, although they arrived in the same piece', () => {
		const stream = translateBytes(messagesToChat, call);
		expect(stream.push(Buffer.from(`${chunk({ content: 'Hi' })}data: {oops\n\n`)).toString()).toContain('"text":"Hi"');
		expect(() => stream.push(Buffer.from(chunk({ content: 'more' })))).toThrow(UpstreamError);
		expect(() => stream.end()).toThrow(expect.objectContaining({ code: 'provider_response_invalid' }) as UpstreamError);
	});
});

interface ReportedBlock {
	readonly type: string;
	readonly name?: string;
	text: string;
}

/** Reads events strictly: a block must be closed before the next, and indexes count from 0. */
function fold(events: string): ReportedBlock[] {
	const blocks: ReportedBlock[] = [];
	let isOpen = false;
	// Splits at line feeds only: a pattern would take U+2028 in a text for a line end, too.
	for (const line of events.split('\n').filter((one) => one.startsWith('data: '))) {
		const event = JSON.parse(line.slice(6)) as { type: string; index?: number; content_block?: ReportedBlock; delta?: JsonObject };
		if (event.type === 'content_block_start' && event.content_block !== undefined) {
			expect({ isOpen, index: event.index }).toEqual({ isOpen: false, index: blocks.length });
			blocks.push({
				type: event.content_block.type,
				...(event.content_block.name !== undefined && { name: event.content_block.name }),
				text: '',
			});
			isOpen = true;
		} else if (event.type === 'content_block_delta' || event.type === 'content_block_stop') {
			expect({ isOpen, index: event.index }).toEqual({ isOpen: true, index: blocks.length - 1 });
			const block = blocks.at(-1);
			const { text = '', partial_json = '' } = event.delta ?? {};
			if (block !== undefined) block.text += `${String(text)}${String(partial_json)}`;
			isOpen = event.type === 'content_block_delta';
		}
	}
	expect(isOpen).toBe(false);
	return blocks;
}

test('calls whose pieces arrive in any order form complete blocks, one after the other', () => {
	const inputs = fc.array(fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer()), { minKeys: 1 }), { minLength: 1, maxLength: 4 });
	fc.assert(
		fc.property(inputs, fc.array(fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 9 })), { maxLength: 60 }), (wanted, order) => {
			const rest = wanted.map((input) => JSON.stringify(input));
			const events = wanted.map((_input, index) => fragment(opened(index, `call_${index}`, `tool_${index}`)));
			for (const [which, length] of [...order, ...wanted.map((_input, index) => [index, 1000] as const)]) {
				const text = rest[which];
				if (text === undefined || text === '') continue;
				events.push(fragment(piece(which, text.slice(0, length))));
				rest[which] = text.slice(length);
			}
			const blocks = fold(translate([...events, chunk({}, 'tool_calls'), done]));
			expect(blocks.map(({ type, name, text }) => ({ type, name, input: JSON.parse(text) as unknown }))).toEqual(
				wanted.map((input, index) => ({ type: 'tool_use', name: `tool_${index}`, input })),
			);
		}),
	);
});

test('any text survives: quotes, line ends, other scripts, halves of surrogate pairs', () => {
	fc.assert(
		fc.property(fc.array(fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 8 }), (texts) => {
			const blocks = fold(translate([...texts.map((content) => chunk({ content })), chunk({}, 'stop'), done]));
			expect(blocks).toEqual([{ type: 'text', text: texts.join('') }]);
		}),
	);
});
