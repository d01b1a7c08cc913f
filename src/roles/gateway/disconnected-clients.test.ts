/** Settlement and reservation of a request that ends before its response. */
import { expect, it } from 'vitest';
import {
	chatBody,
	chatPath,
	GatewayBench,
	HandStream,
	type Reader,
	readStream,
	settle,
	sseResponse,
} from '../../../test/support/gateway-bench.ts';
import { guardrailsWith } from '../../../test/support/guarded-gateway.ts';
import type { ByteFlow } from '../../core/handler.ts';
import type { LedgerEntry } from '../../stores/contracts/ledger.ts';
import type { GatewaySettings } from './gateway-settings.ts';

const chunk = (text: string): string => `data: {"choices":[{"index":0,"delta":{"content":"${text}"}}],"usage":null}\n\n`;
const finish = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}\n\n';
const usage = { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 };
const usageChunk = `data: {"choices":[],"usage":${JSON.stringify(usage)}}\n\n`;

interface Streaming {
	readonly bench: GatewayBench;
	readonly upstream: HandStream;
	readonly reader: Reader;
	readonly flow: ByteFlow;
}

/** Starts a stream of a model that may hide its reasoning, sent twenty seconds ago. */
async function startStream(settings: Partial<GatewaySettings> = {}): Promise<Streaming> {
	const bench = new GatewayBench(settings);
	const upstream = new HandStream();
	bench.respond = ({ onSent }) => {
		onSent?.();
		return sseResponse(upstream);
	};
	const body = chatBody.replace('{', '{"stream":true,"max_completion_tokens":9000,');
	const { reader, flow } = readStream(await bench.ask(chatPath, body));
	bench.clock.advance(20_000);
	return { bench, upstream, reader, flow };
}

async function closedEntry(bench: GatewayBench): Promise<LedgerEntry['closed']> {
	await bench.gateway.settled();
	return (await bench.ledger.list({ limit: 1 })).rows[0]?.closed;
}

it('a non-streaming request whose client disconnects after it was sent is recorded as closed by the client', async () => {
	const bench = new GatewayBench();
	bench.respond = ({ onSent }) => {
		onSent?.();
		return new Promise(() => undefined);
	};
	let disconnect: (() => void) | undefined;
	const pending = bench.ask(chatPath, chatBody, {}, { onClientDisconnect: (listener) => (disconnect = listener) });
	await settle();
	disconnect?.();
	await pending;
	expect(await closedEntry(bench)).toMatchObject({ outcome: 'client_closed', status: 499, isEstimated: true });
});

it('a non-streaming request that a shutdown ends is recorded as broken', async () => {
	const bench = new GatewayBench();
	bench.respond = ({ onSent }) => {
		onSent?.();
		return new Promise(() => undefined);
	};
	const pending = bench.ask(chatPath, chatBody);
	await settle();
	bench.gateway.endInFlightRequests();
	await pending;
	expect(await closedEntry(bench)).toMatchObject({ outcome: 'broken', status: 503, isEstimated: true });
});

it('a stream that a shutdown ends is charged its reservation, not the maximum output since', async () => {
	const { bench, upstream } = await startStream();
	upstream.write(chunk('four'));
	bench.gateway.endInFlightRequests();
	expect(await closedEntry(bench)).toMatchObject({ outcome: 'broken', isEstimated: true, usage: { outputTokens: 1024 } });
});

it('a stream whose slow client disconnects before the usage does not wait until that client reads', async () => {
	const { bench, upstream, reader, flow } = await startStream();
	reader.canWrite = false;
	upstream.write(chunk('four'));
	expect(upstream.write(finish)).toBe(false);
	flow.cancel();
	expect(upstream).toMatchObject({ resumeCount: 1, isCancelled: false });
	expect(upstream.write(': idle\n\n')).toBe(true);
	upstream.write(usageChunk);
	expect(await closedEntry(bench)).toMatchObject({ outcome: 'client_closed', isEstimated: false, usage: { outputTokens: 500 } });
});

it('under enforcement an event without an end is blocked as soon as more than 4 MiB of it arrived', async () => {
	const mebibyte = 1024 * 1024;
	const { upstream, reader } = await startStream({ guardrails: guardrailsWith({ words: { entries: ['darkfish'], action: 'block' } }) });
	const start = 'data: {"choices":[{"index":0,"delta":{"content":"';
	upstream.write(start.padEnd(mebibyte, 'x'));
	for (let written = 1; written < 4; written++) upstream.write('x'.repeat(mebibyte));
	expect([upstream.isCancelled, reader.ending, reader.text]).toEqual([false, 'open', ': keepalive\n\n']);
	upstream.write('x');
	expect([upstream.isCancelled, reader.ending]).toEqual([true, 'ended']);
	expect(reader.text).toContain('guardrail_blocked');
	expect(reader.text.length).toBeLessThan(2000);
});
