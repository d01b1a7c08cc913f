/** Some servers end a stream without the empty line after its last event. All readers of streams accept that event. */
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
	chatPath,
	GatewayBench,
	HandStream,
	messagesPath,
	readStream,
	settle,
	sseResponse,
} from '../../../../test/support/gateway-bench.ts';
import { contentAt, guardrailsWith, moderationWith } from '../../../../test/support/guarded-gateway.ts';
import { readRecordings, recordedBytes } from '../../../../test/support/recordings.ts';
import { streamOf } from '../../../core/byte-stream.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';
import type { GatewaySettings } from '../gateway-settings.ts';

const callers = { chat: chatPath, messages: messagesPath } as const;
const models = { openai: 'gpt-4o', azure: 'our-gpt', anthropic: 'claude-sonnet-4-5', gemini: 'gemini-2.5-flash' } as const;
const kinds = Object.keys(models) as (keyof typeof models)[];
const seed = 20_251_124;

const bodyOf = (model: string, isUsageRequested: boolean): string =>
	JSON.stringify({
		model,
		max_tokens: 4000,
		messages: [{ role: 'user', content: 'hi' }],
		stream: true,
		...(isUsageRequested && { stream_options: { include_usage: true } }),
	});

interface ModerationContext {
	readonly caller: keyof typeof callers;
	readonly kind: keyof typeof models;
	readonly settings: Partial<GatewaySettings>;
	readonly isUsageRequested: boolean;
	readonly hasModeration: boolean;
}

/** Returns the client's text and the ledger entry for a stream that arrives in these pieces. */
async function passed(pieces: readonly Buffer[], { caller, kind, settings, isUsageRequested, hasModeration }: ModerationContext) {
	const bench = new GatewayBench(settings, hasModeration ? { moderationProviders: [moderationWith()] } : {});
	bench.respond = ({ origin }) =>
		origin === 'https://engine.test'
			? {
					status: 200,
					headers: { 'content-type': 'application/json' },
					body: streamOf([Buffer.from('{"results":[{"flagged":false,"category_scores":{}}]}')]),
				}
			: sseResponse(streamOf(pieces));
	const { reader } = readStream(await bench.ask(callers[caller], bodyOf(models[kind], isUsageRequested && caller === 'chat')));
	for (let turn = 0; turn < 100 && reader.ending === 'open'; turn++) await settle();
	await bench.gateway.settled();
	const [entry] = (await bench.ledger.list({ limit: 1 })).rows;
	const { outcome, usage, isEstimated, costNanoUsd } = entry?.closed ?? {};
	return { ending: reader.ending, text: reader.text, settled: { outcome, usage, isEstimated, costNanoUsd } };
}

function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
	const ends = [...new Set([...cuts.filter((cut) => cut > 0 && cut < bytes.length), bytes.length])].toSorted((one, other) => one - other);
	return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

const consumers: readonly (readonly [string, Pick<ModerationContext, 'settings' | 'hasModeration'>])[] = [
	['plain', { settings: {}, hasModeration: false }],
	['watched', { settings: { guardrails: guardrailsWith({ isEnforced: false }) }, hasModeration: false }],
	['screened', { settings: { guardrails: guardrailsWith() }, hasModeration: false }],
	['judged', { settings: { guardrails: guardrailsWith({ content: contentAt('none') }) }, hasModeration: true }],
];

const streams = kinds.flatMap((kind) =>
	readRecordings(kind).flatMap((recording) => (/\r?\n\r?\n$/.test(recording.response.sse ?? '') ? [{ kind, recording }] : [])),
);

test('there are streams of each vendor', () => {
	expect(new Set(streams.map(({ kind }) => kind)).size).toBe(4);
});

describe.each(consumers)('%s', (_name, consumer) => {
	it.each(
		streams.flatMap(({ kind, recording }) =>
			(['chat', 'messages'] as const).map((caller) => [recording.name, caller, kind, recording] as const),
		),
	)(
		'%s for a client of %s is the same with and without its last empty line, however it is split',
		async (_recording, caller, kind, recording) => {
			const bytes = recordedBytes(recording);
			const bare = Buffer.from(bytes.toString('latin1').replace(/(?:\r?\n)+$/, ''), 'latin1');
			for (const isUsageRequested of [true, false]) {
				const requested = { ...consumer, caller, kind, isUsageRequested };
				const whole = await passed([bytes], requested);
				expect([whole.ending, whole.settled.outcome]).toEqual(['ended', 'complete']);
				const cuttings = fc.sample(fc.array(fc.nat(bytes.length), { maxLength: 20 }), { numRuns: 2, seed });
				for (const cuts of [[], ...cuttings]) {
					for (const ending of ['', '\n', '\r\n']) {
						const { text, ...rest } = await passed(cutAt(Buffer.concat([bare, Buffer.from(ending)]), cuts), requested);
						expect({ text: text.trimEnd(), ...rest }).toEqual({ ...whole, text: whole.text.trimEnd() });
					}
				}
			}
		},
	);
});

const usageChunk = 'data: {"id":"x","choices":[],"usage":{"prompt_tokens":11,"completion_tokens":22,"total_tokens":33}}';
const messageDelta = 'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":22}}';
const beginnings = {
	openai:
		'data: {"id":"x","choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]}\n\ndata: {"id":"x","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
	anthropic:
		'event: message_start\ndata: {"type":"message_start","message":{"id":"m","content":[],"usage":{"input_tokens":11,"output_tokens":1}}}\n\n' +
		'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n' +
		'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}\n\n' +
		'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
} as const;

describe.each([
	['chat', 'openai', usageChunk],
	['messages', 'openai', usageChunk],
	['messages', 'anthropic', messageDelta],
	['chat', 'anthropic', messageDelta],
] as const)('a client of %s, tokens reported by %s before the event that ends its streams', (caller, kind, last) => {
	it.each(['\n\n', '\n', ''])('are recorded as reported if that event is missing, after %j', async (ending) => {
		for (const way of ['end', 'fail', 'leave'] as const) {
			const bench = new GatewayBench();
			const upstream = new HandStream();
			bench.respond = () => sseResponse(upstream);
			const { reader, flow } = readStream(await bench.ask(callers[caller], bodyOf(models[kind], caller === 'chat')));
			upstream.write(beginnings[kind] + last + ending);
			if (way === 'end') upstream.sink?.end();
			else if (way === 'fail') upstream.sink?.fail(new UpstreamError('provider_disconnected'));
			else flow.cancel();
			await bench.gateway.settled();
			const [entry] = (await bench.ledger.list({ limit: 1 })).rows;
			const { usage, isEstimated } = entry?.closed ?? {};
			expect([usage?.inputTokens, usage?.outputTokens, isEstimated]).toEqual([11, 22, false]);
			if (kind === 'anthropic' && way !== 'leave') {
				expect(reader.text).toMatch(/\n\n(?:event: error\n)?data: \{(?:"type":"error",)?"error":\{[^\n]*\n\n$/);
			}
		}
	});
});

test('half an event is not relayed, and its content is ignored', async () => {
	const requested: ModerationContext = { caller: 'chat', kind: 'openai', settings: {}, isUsageRequested: true, hasModeration: false };
	const event = 'data: {"id":"x","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}\n\n';
	const half = 'data: {"id":"x","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usa';
	const { text, settled } = await passed([Buffer.from(event + half)], requested);
	expect(text.startsWith(`${event}data: {"error":{`)).toBe(true);
	expect(settled.outcome).toBe('broken');
	const finished = event.replace('null', '"stop"');
	expect((await passed([Buffer.from(`${finished}data: [DO`)], requested)).text).toBe(finished);
});
