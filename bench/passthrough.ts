/**
 * `node bench/passthrough.ts [rounds]`: CPU time of a request of 1 KB that the gateway passes through: of its code without sockets, and of a
 * process of the product. It compares the Responses API with chat completions, in alternating rounds: non-streaming, and a stream of 80
 * tokens.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { Agent, createServer, type OutgoingHttpHeaders, type Server, request as startRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { streamOf } from '../src/core/byte-stream.ts';
import type { UpstreamResponse } from '../src/core/upstream.ts';
import { GatewayBench, jsonResponse, readStream, sseResponse } from '../test/support/gateway-bench.ts';
import { type Product, startProduct } from '../test/support/product.ts';
import { chatRequest, chatResponse, responseText } from './workloads.ts';

const rounds = Number(process.argv[2] ?? 15);
const requestsPerRound = 2000;
const connections = 8;
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

/** Returns microseconds of CPU of the gateway for one request. */
type Measure = (workload: Workload) => Promise<number>;

/** Measures the gateway's own code, in this process. */
function measureCode(): Measure {
	const bench = new GatewayBench();
	return async ({ path: target, body, respond }) => {
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
	};
}

/** Measures a process of the product between a client and a provider, which are in this process. Linux only. */
function measureProcess(product: Product, token: string, agent: Agent): Measure {
	const cpuNs = (): number => {
		const tasks = `/proc/${product.process.pid}/task`;
		return readdirSync(tasks).reduce((sum, task) => sum + Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]), 0);
	};
	const send = ({ path: target, body }: Workload): Promise<void> =>
		new Promise((resolve, reject) => {
			const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
			const request = startRequest(`${product.gatewayUrl}${target}`, { method: 'POST', agent, headers }, (response) => {
				response.resume().on('end', () => {
					if (response.statusCode === 200) resolve();
					else reject(new Error(`status ${response.statusCode}`));
				});
			});
			request.on('error', reject);
			request.end(body);
		});
	return async (workload) => {
		const before = cpuNs();
		const sendSome = async (): Promise<void> => {
			for (let request = 0; request < requestsPerRound / connections; request++) await send(workload);
		};
		await Promise.all(Array.from({ length: connections }, sendSome));
		return (cpuNs() - before) / 1000 / requestsPerRound;
	};
}

/** Provider that sends the response of each workload. */
function serveProvider(workloads: readonly Workload[]): Promise<Server> {
	const server = createServer((request, response) => {
		const pieces: Buffer[] = [];
		request.on('data', (piece: Buffer) => pieces.push(piece));
		request.on('end', () => {
			const isStreaming = Buffer.concat(pieces).includes('"stream":true');
			const found = workloads.find(({ path: one, body }) => one === request.url && body.includes('"stream":true') === isStreaming);
			if (found === undefined) throw new Error(`no workload for ${request.url}`);
			const { status, headers, body } = found.respond();
			response.writeHead(status, headers as OutgoingHttpHeaders);
			body.start({
				write: (chunk) => response.write(chunk),
				end: () => response.end(),
				fail: (cause) => response.destroy(cause as Error),
			});
		});
	});
	return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

function median(values: readonly number[]): number {
	const sorted = values.toSorted((one, other) => one - other);
	return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

async function compare(name: string, [chat, responses]: Pair, cpuOf: Measure): Promise<void> {
	for (const workload of [chat, responses, chat, responses]) await cpuOf(workload);
	const times: { chat: number; responses: number }[] = [];
	for (let round = 0; round < rounds; round++) times.push({ chat: await cpuOf(chat), responses: await cpuOf(responses) });
	const ratios = times.map((time) => time.responses / time.chat);
	console.log(
		`${name}: chat ${median(times.map((time) => time.chat)).toFixed(1)} us, responses ${median(times.map((time) => time.responses)).toFixed(1)} us, ` +
			`ratio ${median(ratios).toFixed(3)} (${Math.min(...ratios).toFixed(3)} to ${Math.max(...ratios).toFixed(3)}, ${rounds} rounds)`,
	);
}

const code = measureCode();
await compare('code, non-streaming', nonStreaming, code);
await compare('code, streaming', streaming, code);

const provider = await serveProvider([...nonStreaming, ...streaming]);
const { port } = provider.address() as AddressInfo;
const product = await startProduct({ providers: { provider_b: { base_url: `http://127.0.0.1:${port}/v1` } } });
const agent = new Agent({ keepAlive: true, maxSockets: connections });
const inProcess = measureProcess(product, await product.accessToken(), agent);
await compare('process, non-streaming', nonStreaming, inProcess);
await compare('process, streaming', streaming, inProcess);
agent.destroy();
await product.stop();
provider.close();
