/**
 * `node bench/passthrough.ts [rounds]`: CPU time of a request of 1 KB that the gateway passes through, in this process and without sockets.
 * It compares the Responses API with chat completions, in alternating rounds: non-streaming, and a stream of 80 tokens.
 */
import { streamOf } from '../src/core/byte-stream.ts';
import type { UpstreamResponse } from '../src/core/upstream.ts';
import { GatewayBench, jsonResponse, readStream, sseResponse } from '../test/support/gateway-bench.ts';
import { chatRequest, chatResponse, responseText } from './workloads.ts';

const rounds = Number(process.argv[2] ?? 15);
const requestsPerRound = 2000;
const tokens = 80;

interface Workload {
	readonly path: string;
	readonly body: string;
	readonly respond: () => UpstreamResponse;
}

type Pair = readonly [chat: Workload, responses: Workload];

const chatPath = '/v1/chat/completions';
const path = '/v1/responses';
const item = { type: 'message', id: 'msg_1', status: 'completed', role: 'assistant' };
const part = { type: 'output_text', text: responseText, annotations: [], logprobs: [] };
const usage = {
	input_tokens: 200,
	input_tokens_details: { cached_tokens: 0 },
	output_tokens: tokens,
	output_tokens_details: { reasoning_tokens: 0 },
	total_tokens: 200 + tokens,
};
const head = {
	id: 'resp_0827ae5b7debffd10069cbcbd8749c819bb7f7bcf278d05379',
	object: 'response',
	created_at: 1_790_000_000,
	status: 'completed',
	error: null,
	incomplete_details: null,
	instructions: null,
	max_output_tokens: 100,
	model: 'gpt-4o',
	output: [] as readonly unknown[],
	parallel_tool_calls: true,
	metadata: {},
	store: false,
	temperature: 1,
	text: { format: { type: 'text' }, verbosity: 'medium' },
	tool_choice: 'auto',
	tools: [],
	top_p: 1,
	usage: null as unknown,
};
const whole = { ...head, output: [{ ...item, content: [part] }], usage };
const responsesResponse = JSON.stringify(whole);

const nonStreaming: Pair = [
	{ path: chatPath, body: chatRequest(1024), respond: () => jsonResponse(200, chatResponse) },
	{ path, body: responsesRequest(false), respond: () => jsonResponse(200, responsesResponse) },
];

const chatEvents = [
	...Array.from({ length: tokens }, () => ({ choices: [{ index: 0, delta: { content: 'word ' }, finish_reason: null }], usage: null })),
	{ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: null },
	{ choices: [], usage: { prompt_tokens: 200, completion_tokens: tokens, total_tokens: 200 + tokens } },
].map(
	(event) =>
		`data: ${JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o', ...event })}\n\n`,
);

const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
const responsesEvents = [
	{ type: 'response.created', response: head },
	{ type: 'response.in_progress', response: head },
	{ type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', content: [] } },
	{ type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
	...Array.from({ length: tokens }, () => ({ type: 'response.output_text.delta', ...place, delta: 'word ', logprobs: [] })),
	{ type: 'response.output_text.done', ...place, text: responseText, logprobs: [] },
	{ type: 'response.content_part.done', ...place, part },
	{ type: 'response.output_item.done', output_index: 0, item: { ...item, content: [part] } },
	{ type: 'response.completed', response: whole },
].map((event, sequence_number) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`);

const streaming: Pair = [
	{
		path: chatPath,
		body: chatRequest(1024, { isStreaming: true }),
		respond: () => sseResponse(streamOf([...chatEvents, 'data: [DONE]\n\n'].map((text) => Buffer.from(text)))),
	},
	{ path, body: responsesRequest(true), respond: () => sseResponse(streamOf(responsesEvents.map((text) => Buffer.from(text)))) },
];

/** A request of the same size as that of chat completions. */
function responsesRequest(isStreaming: boolean): string {
	const { messages, max_tokens, ...others } = JSON.parse(chatRequest(1024, { isStreaming })) as Record<string, unknown>;
	return JSON.stringify({ ...others, input: messages, max_output_tokens: max_tokens });
}

/** Returns microseconds of CPU for one request. */
async function cpuOf(bench: GatewayBench, { path: target, body, respond }: Workload): Promise<number> {
	bench.respond = respond;
	const before = process.cpuUsage();
	for (let request = 0; request < requestsPerRound; request++) {
		const response = await bench.ask(target, body);
		if (response.status !== 200) throw new Error(`status ${response.status}`);
		if (response.headers['content-type']?.toString().startsWith('text/event-stream') === true) readStream(response);
		bench.sent.length = 0;
	}
	const { user, system } = process.cpuUsage(before);
	return (user + system) / requestsPerRound;
}

function median(values: readonly number[]): number {
	const sorted = values.toSorted((one, other) => one - other);
	return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

for (const [name, [chat, responses]] of Object.entries({ nonStreaming, streaming })) {
	const bench = new GatewayBench();
	for (const workload of [chat, responses, chat, responses]) await cpuOf(bench, workload);
	const times: { chat: number; responses: number }[] = [];
	for (let round = 0; round < rounds; round++) times.push({ chat: await cpuOf(bench, chat), responses: await cpuOf(bench, responses) });
	const ratios = times.map((time) => time.responses / time.chat);
	console.log(
		`${name}: chat ${median(times.map((time) => time.chat)).toFixed(1)} us, responses ${median(times.map((time) => time.responses)).toFixed(1)} us, ` +
			`ratio ${median(ratios).toFixed(3)} (${Math.min(...ratios).toFixed(3)} to ${Math.max(...ratios).toFixed(3)}, ${rounds} rounds)`,
	);
}
