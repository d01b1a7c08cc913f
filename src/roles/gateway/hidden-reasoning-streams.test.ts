/** Streams of models that may hide reasoning, whose clients disconnect. */
import { expect, it } from 'vitest';
import {
	chatBody,
	chatPath,
	GatewayBench,
	HandStream,
	messagesPath,
	readStream,
	sseResponse,
} from '../../../test/support/gateway-bench.ts';
import type { UpstreamRequest, UpstreamResponse } from '../../core/upstream.ts';
import { UpstreamError } from '../../core/upstream-error.ts';
import type { LedgerEntry } from '../../stores/contracts/ledger.ts';

const usage = { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 };
/** Cost at gpt-5's list price of 1.25 and 10 USD. */
const costOfUsage = 6_250_000n;
const chunk = (text: string): string => `data: {"choices":[{"index":0,"delta":{"content":"${text}"}}],"usage":null}\n\n`;
const usageChunk = `data: {"choices":[],"usage":${JSON.stringify(usage)}}\n\n`;

function responseTo({ onSent }: UpstreamRequest, upstream: HandStream): UpstreamResponse {
	onSent?.();
	return sseResponse(upstream);
}

async function rowsOf(bench: GatewayBench): Promise<readonly LedgerEntry[]> {
	await bench.gateway.settled();
	return (await bench.ledger.list({ limit: 100 })).rows;
}

it.each([
	['o3-mini', '"max_completion_tokens":9000,', 9000],
	['ft:o4-mini-2025-04-16:acme::x', '"max_completion_tokens":9000,"n":2,', 18_000],
	['o3-mini', '', 10_000],
	['o3-mini', '"n":3,', 30_000],
	['gpt-4o', '"max_tokens":9000,"reasoning_effort":"high",', 9000],
	['gpt-4o', '"max_tokens":9000,', 2],
])('of %s with %s disconnected after twenty seconds, before its usage, is charged %i output tokens', async (model, fields, expected) => {
	const bench = new GatewayBench();
	const upstream = new HandStream();
	bench.respond = (request) => responseTo(request, upstream);
	const { flow } = readStream(await bench.ask(chatPath, chatBody.replace('{', `{"stream":true,${fields}`).replace('gpt-5', model)));
	upstream.write(chunk('four'));
	bench.clock.advance(20_000);
	flow.cancel();
	expect(upstream.isCancelled).toBe(true);
	const [entry] = await rowsOf(bench);
	expect(entry?.closed).toMatchObject({ outcome: 'client_closed', isEstimated: true, usage: { outputTokens: expected } });
});

it('whose client disconnects immediately is charged its reservation', async () => {
	const bench = new GatewayBench();
	const upstream = new HandStream();
	bench.respond = (request) => responseTo(request, upstream);
	const { flow } = readStream(await bench.ask(chatPath, chatBody.replace('{', '{"stream":true,')));
	upstream.write(chunk('four'));
	bench.clock.advance(100);
	flow.cancel();
	expect((await rowsOf(bench))[0]?.closed).toMatchObject({ outcome: 'client_closed', usage: { outputTokens: 1024 } });
});

it('of a model with hidden reasoning is charged its reservation if its provider breaks it', async () => {
	const bench = new GatewayBench();
	const upstream = new HandStream();
	bench.respond = (request) => responseTo(request, upstream);
	readStream(await bench.ask(chatPath, chatBody.replace('{', '{"stream":true,"max_completion_tokens":9000,')));
	upstream.write(chunk('four'));
	upstream.sink?.fail(new UpstreamError('provider_disconnected'));
	expect((await rowsOf(bench))[0]?.closed).toMatchObject({ outcome: 'broken', usage: { outputTokens: 1024 } });
});

const finish = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}\n\n';

it('that is complete at the disconnect is read until its usage arrives', async () => {
	const bench = new GatewayBench();
	const upstream = new HandStream();
	bench.respond = (request) => responseTo(request, upstream);
	const { reader, flow } = readStream(await bench.ask(chatPath, chatBody.replace('{', '{"stream":true,')));
	for (const part of [chunk('four'), finish]) upstream.write(part);
	const seen = reader.text;
	flow.cancel();
	expect(upstream.isCancelled).toBe(false);
	expect(upstream.write(': idle\n\n')).toBe(true);
	upstream.write(usageChunk);
	expect(upstream.isCancelled).toBe(true);
	expect((await rowsOf(bench))[0]?.closed).toMatchObject({ outcome: 'client_closed', costNanoUsd: costOfUsage, isEstimated: false });
	expect(reader.text).toBe(seen);
});

it.each([
	['waits half a second', (bench: GatewayBench) => bench.clock.advance(500)],
	['ends', (_: GatewayBench, upstream: HandStream) => upstream.sink?.end()],
	['fails', (_: GatewayBench, upstream: HandStream) => upstream.sink?.fail(new UpstreamError('provider_disconnected'))],
	['is shut down', (bench: GatewayBench) => bench.gateway.endInFlightRequests()],
])('that is complete at the disconnect, and %s, is charged its maximum cost', async (_what, happens) => {
	const bench = new GatewayBench();
	const upstream = new HandStream();
	bench.respond = (request) => responseTo(request, upstream);
	const { flow } = readStream(await bench.ask(chatPath, chatBody.replace('{', '{"stream":true,"max_completion_tokens":9000,')));
	bench.clock.advance(20_000);
	for (const part of [chunk('four'), finish]) upstream.write(part);
	flow.cancel();
	expect((await bench.ledger.list({ limit: 1 })).rows[0]?.closed).toBeUndefined();
	happens(bench, upstream);
	const [entry] = await rowsOf(bench);
	expect(entry?.closed).toMatchObject({ outcome: 'client_closed', isEstimated: true, usage: { outputTokens: 9000 } });
});

const block = (index: number, begin: string, ...deltas: readonly string[]): string =>
	[
		`data: {"type":"content_block_start","index":${index},"content_block":${begin}}\n\n`,
		...deltas.map((delta) => `data: {"type":"content_block_delta","index":${index},"delta":${delta}}\n\n`),
	].join('');
const text = block(1, '{"type":"text","text":""}', '{"type":"text_delta","text":"four"}');
const begun = 'data: {"type":"message_start","message":{"usage":{"input_tokens":7,"output_tokens":1}}}\n\n';

it.each([
	['nothing of it, and text', text, 3],
	['nothing yet', '', 9000],
	['an omitted thought, and text', block(0, '{"type":"thinking","thinking":"","signature":""}') + text, 9000],
	['a thought in words', block(0, '{"type":"thinking","thinking":"","signature":""}', '{"type":"thinking_delta","thinking":"so"}'), 9000],
	['a hidden thought, and text', block(0, '{"type":"redacted_thinking","data":"c2VhbGVk"}') + text, 9000],
])('of messages with default reasoning, disconnected at %s, is charged %3$i tokens of output', async (_what, events, expected) => {
	const bench = new GatewayBench();
	const upstream = new HandStream();
	bench.respond = (request) => responseTo(request, upstream);
	const body = '{"model":"claude-opus-5","max_tokens":9000,"stream":true,"messages":[{"role":"user","content":"Hi"}]}';
	const { flow } = readStream(await bench.ask(messagesPath, body));
	bench.clock.advance(20_000);
	upstream.write(begun + events);
	flow.cancel();
	expect((await rowsOf(bench))[0]?.closed).toMatchObject({ isEstimated: true, usage: { outputTokens: expected } });
});
