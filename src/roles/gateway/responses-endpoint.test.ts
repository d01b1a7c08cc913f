/** `POST /v1/responses`, passed through to providers that serve it. */
import { describe, expect, test } from 'vitest';
import {
	GatewayBench,
	jsonResponse,
	readStream,
	sentText,
	settle,
	sseResponse,
	testSettings,
	textOf,
} from '../../../test/support/gateway-bench.ts';
import { type Recording, readRecordings, recordedBytes } from '../../../test/support/recordings.ts';
import { streamOf } from '../../core/byte-stream.ts';

const path = '/v1/responses';
const body = '{"model":"gpt-5-mini", "input":"Hi", "temperature":1e0}';

describe('a request in the provider’s own format', () => {
	test('reaches OpenAI byte for byte, except that nothing may be stored', async () => {
		const bench = new GatewayBench();
		expect((await bench.ask(path, body)).status).toBe(200);
		const [sent] = bench.sent;
		expect([sent?.origin, sent?.target]).toEqual(['https://b.test', '/v1/responses']);
		expect(sent && sentText(sent)).toBe('{"model":"gpt-5-mini", "input":"Hi", "temperature":1e0,"store":false}');
	});

	test.each(['true', ' null ', 'false'])('keeps the place of `store: %s`', async (store) => {
		const bench = new GatewayBench();
		await bench.ask(path, `{"st\\u006fre":${store},"model":"gpt-5-mini","input":"Hi"}`);
		const [sent] = bench.sent;
		const written = store === ' null ' ? ' false ' : 'false';
		expect(sent && sentText(sent)).toBe(`{"st\\u006fre":${written},"model":"gpt-5-mini","input":"Hi"}`);
	});

	test('goes to the model of an alias', async () => {
		const bench = new GatewayBench();
		await bench.ask(path, '{"model":"fast","input":"Hi","stream":true}');
		const [sent] = bench.sent;
		expect(sent && sentText(sent)).toBe('{"model":"gpt-5-mini","input":"Hi","stream":true,"store":false}');
	});

	test.each([
		[undefined, '/openai/v1/responses'],
		['2025-03-01-preview', '/openai/responses?api-version=2025-03-01-preview'],
	])('names the deployment of Azure in its body (version %s)', async (apiVersion, target) => {
		const azure = { name: 'provider_d', kind: 'azure-openai', baseUrl: 'https://d.test', apiKey: 'azure-key-1' } as const;
		const traffic = { retries: 0, retryStatuses: [], maxConcurrent: 9, maxQueued: 9, ejectAfterFailures: 5 };
		const provider = { ...azure, apiVersion: apiVersion ?? null, canReachPrivateNetwork: false, traffic };
		const bench = new GatewayBench({ providers: [provider], routing: { providerHeader: 'ignore', aliases: {}, defaults: {} } });
		await bench.ask(path, '{"model":"provider_d/our-gpt","input":"Hi"}');
		const [sent] = bench.sent;
		expect([sent?.target, sent && sentText(sent)]).toEqual([target, '{"model":"our-gpt","input":"Hi","store":false}']);
	});

	test('is translated for a provider of another format', async () => {
		const bench = new GatewayBench();
		await bench.ask(path, '{"model":"claude-opus-5","input":"Hi","max_output_tokens":99}');
		const [sent] = bench.sent;
		expect([sent?.origin, sent?.target]).toEqual(['https://a.test', '/v1/messages']);
		expect(JSON.parse((sent && sentText(sent)) ?? '')).toMatchObject({ model: 'claude-opus-5', max_tokens: 99 });
	});

	test('is charged for its searches of the web', async () => {
		const costOf = async (searches: number, isStreaming: boolean): Promise<bigint> => {
			const bench = new GatewayBench({ budgets: { ...testSettings.budgets, toolsUsd: { web_search: '0.01' } } });
			const response = {
				object: 'response',
				output: [],
				usage: { input_tokens: 100, output_tokens: 10, total_tokens: 110 },
				tool_usage: { web_search: { num_requests: searches } },
			};
			const event = { type: 'response.completed', sequence_number: 0, response };
			bench.respond = () =>
				isStreaming
					? sseResponse(streamOf([Buffer.from(`event: response.completed\ndata: ${JSON.stringify(event)}\n\n`)]))
					: jsonResponse(200, Buffer.from(JSON.stringify(response)));
			const request = { model: 'gpt-5-mini', input: 'Hi', stream: isStreaming, tools: [{ type: 'web_search' }] };
			const answer = await bench.ask(path, JSON.stringify(request));
			if (isStreaming) {
				readStream(answer);
				await settle();
			}
			await bench.gateway.settled();
			return (await bench.ledger.list({ limit: 1 })).rows[0]?.closed?.costNanoUsd ?? -1n;
		};
		for (const isStreaming of [false, true]) {
			expect((await costOf(3, isStreaming)) - (await costOf(0, isStreaming))).toBe(30_000_000n);
		}
	});
});

describe.each(readRecordings('responses').map((recording) => [recording.name, recording] as const))('%s', (name, recording) => {
	const { response } = recording;
	const isStreaming = response.sse !== undefined;

	test('passes unchanged, and its usage is billed', async () => {
		const bench = new GatewayBench();
		const bytes = recordedBytes(recording);
		bench.respond = () =>
			isStreaming
				? sseResponse(streamOf([bytes.subarray(0, 700), bytes.subarray(700, 703), bytes.subarray(703)]))
				: jsonResponse(response.status, bytes);
		const answer = await bench.ask(path, JSON.stringify({ model: 'gpt-5-mini', input: 'Hi', stream: isStreaming }));
		if (isStreaming) {
			const { reader } = readStream(answer);
			await settle();
			expect([reader.ending, reader.text]).toEqual(['ended', bytes.toString('latin1')]);
		} else {
			expect([answer.status, textOf(answer)]).toEqual([response.status, bytes.toString()]);
		}
		await bench.gateway.settled();
		const closed = (await bench.ledger.list({ limit: 1 })).rows[0]?.closed;
		const isFailed = name.includes('error');
		expect(closed).toMatchObject({ outcome: isFailed ? 'upstream_error' : 'complete', status: response.status });
		const usage = usageIn(recording);
		if (usage === undefined) return;
		const { inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0, outputTokens, reasoningTokens } = closed?.usage ?? {};
		expect(closed?.isEstimated).toBe(false);
		expect([inputTokens + cacheReadTokens + cacheWriteTokens, cacheReadTokens, outputTokens, reasoningTokens]).toEqual([
			usage.input_tokens,
			usage.input_tokens_details.cached_tokens,
			usage.output_tokens,
			usage.output_tokens_details.reasoning_tokens,
		]);
	});
});

interface ReportedUsage {
	readonly input_tokens: number;
	readonly input_tokens_details: { readonly cached_tokens: number };
	readonly output_tokens: number;
	readonly output_tokens_details: { readonly reasoning_tokens: number };
}

/** Reads the usage of the last event, or of a response that is not streaming. */
function usageIn({ response }: Recording): ReportedUsage | undefined {
	const text = response.sse ?? JSON.stringify(response.json);
	const last = text.lastIndexOf('"usage":{');
	return last === -1 ? undefined : (JSON.parse(wholeObject(text.slice(last + '"usage":'.length))) as ReportedUsage);
}

/** Returns the object at the start of a text that contains no strings with braces. */
function wholeObject(text: string): string {
	let depth = 0;
	for (let at = 0; at < text.length; at++) {
		if (text[at] === '{') depth++;
		else if (text[at] === '}' && --depth === 0) return text.slice(0, at + 1);
	}
	return text;
}
