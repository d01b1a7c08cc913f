/** Every recorded stream through every pair of formats: the client reads the same, however the bytes are split. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compatProvider, GatewayBench, readStream, settle, testSettings } from '../../../../test/support/gateway-bench.ts';
import { type Recording, readRecordings, recordedBytes } from '../../../../test/support/recordings.ts';
import { streamOf } from '../../../core/byte-stream.ts';

const providers = [...testSettings.providers, compatProvider];

const callers = {
	chat: { path: '/v1/chat/completions', body: { stream: true, stream_options: { include_usage: true } } },
	messages: { path: '/v1/messages', body: { stream: true, max_tokens: 100, thinking: { type: 'adaptive' } } },
};
/** Models with their provider's format and the recordings that cover it. */
const pairs = [
	['chat', 'claude-opus-4-8', ['anthropic']],
	['chat', 'gemini-3-pro-preview', ['gemini']],
	['chat', 'compat/gemini-3-pro-preview', ['openai', 'azure']],
	['messages', 'gpt-5', ['openai']],
	['messages', 'our-gpt', ['azure']],
	['messages', 'gemini-3-pro-preview', ['gemini']],
	['messages', 'compat/gemini-3-pro-preview', ['openai', 'azure']],
] as const;

const streamsOf = (vendors: readonly string[]): Recording[] =>
	vendors.flatMap(readRecordings).filter(({ response }) => response.sse !== undefined);

async function read({ response }: Recording, caller: keyof typeof callers, model: string, pieces: readonly Buffer[]): Promise<string> {
	const bench = new GatewayBench({ providers });
	bench.respond = () => ({ status: 200, headers: response.headers, body: streamOf([...pieces]) });
	const { path, body } = callers[caller];
	const httpResponse = await bench.ask(path, JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }], ...body }));
	const { reader } = readStream(httpResponse);
	while (reader.ending === 'open') await settle();
	expect([reader.ending, bench.clock.pending, bench.gateway.inFlightRequests()]).toEqual(['ended', 0, 0]);
	return Buffer.from(reader.text, 'latin1').toString();
}

function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
	const pieces: Buffer[] = [];
	for (let at = 0, turn = 0; at < bytes.length; turn++) {
		const size = sizes[turn % sizes.length] ?? 1;
		pieces.push(bytes.subarray(at, at + size));
		at += size;
	}
	return pieces;
}

/** Reads the stream of a bench, sent in one chunk. */
function readEvents(caller: keyof typeof callers, model: string, sse: string): Promise<string> {
	const response = { status: 200, headers: { 'content-type': 'text/event-stream' }, sse };
	return read({ name: 'made', response }, caller, model, [Buffer.from(sse)]);
}

const messageEvents = [
	{ type: 'message_start', message: { id: 'msg_1', model: 'm', content: [], usage: { input_tokens: 1, output_tokens: 1 } } },
	{ type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hi' } },
	{ type: 'content_block_stop', index: 0 },
	{ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
	{ type: 'message_stop' },
];
const unlabelled = (events: readonly object[]): string => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');

test('events without their label end the stream like those with it', async () => {
	expect(await readEvents('chat', 'claude-opus-4-8', unlabelled(messageEvents))).toMatch(
		/"usage":\{"prompt_tokens":1.*\n\ndata: \[DONE\]\n\n$/,
	);
	const failed = [...messageEvents.slice(0, 3), { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }];
	const reported = await readEvents('chat', 'claude-opus-4-8', unlabelled(failed));
	expect(reported.match(/"error"/g)).toHaveLength(1);
	expect(reported).not.toContain('[DONE]');
});

test('an error next to choices is reported once', async () => {
	const chunks = [
		{ id: 'x', choices: [{ index: 0, delta: { content: 'Hi' } }] },
		{ id: 'x', choices: [{ index: 0, delta: {} }], error: { code: 502, message: 'Gone' } },
	];
	const reported = await readEvents('messages', 'gpt-5', unlabelled(chunks));
	expect(reported.match(/event: error/g)).toHaveLength(1);
	expect(reported).not.toContain('message_stop');
});

describe.each(pairs)('%s to %s', (caller, model, vendors) => {
	test.each(streamsOf(vendors).map((recording) => [recording.name, recording] as const))('%s', async (_name, recording) => {
		const bytes = recordedBytes(recording);
		const whole = await read(recording, caller, model, [bytes]);
		expect(whole).toContain(caller === 'chat' ? 'data: [DONE]' : 'event: message_stop');
		const events = bytes.toString('latin1').split(/(?<=\r?\n\r?\n)/);
		expect(
			await read(
				recording,
				caller,
				model,
				events.map((event) => Buffer.from(event, 'latin1')),
			),
		).toBe(whole);
		await fc.assert(
			fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 17 }), { minLength: 1, maxLength: 40 }), async (sizes) => {
				expect(await read(recording, caller, model, cut(bytes, sizes))).toBe(whole);
			}),
			{ numRuns: 3 },
		);
	});
});
