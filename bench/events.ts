/**
 * `node bench/events.ts`: CPU time of one streamed event of four characters through the gateway's own code, without sockets: relayed,
 * translated, and both under guardrails.
 */
import {
	chatBody,
	chatPath,
	GatewayBench,
	HandStream,
	messagesBody,
	messagesPath,
	readStream,
	sseResponse,
} from '../test/support/gateway-bench.ts';
import { guardrailsWith } from '../test/support/guarded-gateway.ts';

const prose =
	'The quarterly figures came in on Tuesday, and most of the fourteen teams were satisfied. Marketing wants a second opinion on the ' +
	'forecast for next year; the engineers would rather fix the build. ';
const pieces = prose.repeat(8).match(/[\s\S]{1,4}/g) ?? [];

const chatStream = [
	...pieces.map(
		(text) =>
			`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-4o","choices":[{"index":0,"delta":{"content":${JSON.stringify(text)}},"logprobs":null,"finish_reason":null}],"usage":null}\n\n`,
	),
	'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-4o","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null}\n\n',
	'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-4o","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":400,"total_tokens":409}}\n\n',
	'data: [DONE]\n\n',
].map((event) => Buffer.from(event));

const event = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`;
const message = {
	id: 'msg_1',
	type: 'message',
	role: 'assistant',
	model: 'claude-sonnet-4-5',
	content: [],
	usage: { input_tokens: 9, output_tokens: 1 },
};
const messagesStream = [
	event('message_start', { message }),
	event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
	...pieces.map((text) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })),
	event('content_block_stop', { index: 0 }),
	event('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 400 } }),
	event('message_stop', {}),
].map((text) => Buffer.from(text));

type Guard = 'none' | 'monitoring' | 'blocking';

const cases: readonly (readonly [name: string, path: string, body: string, stream: readonly Buffer[], model: string])[] = [
	['chat completions, same dialect', chatPath, chatBody, chatStream, 'gpt-4o'],
	['messages, same dialect', messagesPath, messagesBody, messagesStream, 'claude-sonnet-4-5'],
	['chat completions from messages', chatPath, chatBody, messagesStream, 'claude-sonnet-4-5'],
	['messages from chat completions', messagesPath, messagesBody, chatStream, 'gpt-4o'],
];

function gatewayWith(guard: Guard): GatewayBench {
	if (guard === 'none') return new GatewayBench({});
	const guardrails = guardrailsWith({ words: { entries: ['darkfish', 'codeword'], action: 'block' } });
	return new GatewayBench({ guardrails: { ...guardrails, isEnforced: guard === 'blocking' } });
}

async function run(bench: GatewayBench, path: string, body: string, stream: readonly Buffer[], model: string): Promise<void> {
	const upstream = new HandStream();
	bench.respond = ({ onSent }) => {
		onSent?.();
		return sseResponse(upstream);
	};
	const requested = body.replace(/"model":"[^"]*"/, `"model":"${model}"`).replace('{', '{"stream":true,');
	const { reader } = readStream(await bench.ask(path, requested));
	for (const bytes of stream) upstream.write(bytes);
	upstream.sink?.end();
	await bench.gateway.settled();
	if (reader.ending !== 'ended') throw new Error(`the stream ended as ${reader.ending}: ${reader.text.slice(-300)}`);
}

console.log('| stream | relayed, us an event | monitored | guarded |\n|---|---|---|---|');
for (const [name, path, body, stream, model] of cases) {
	const measurements: string[] = [];
	for (const guard of ['none', 'monitoring', 'blocking'] as const) {
		const bench = gatewayWith(guard);
		let best = Number.POSITIVE_INFINITY;
		for (let round = 0; round < 9; round++) {
			const start = process.cpuUsage();
			for (let turn = 0; turn < 20; turn++) await run(bench, path, body, stream, model);
			const { user, system } = process.cpuUsage(start);
			best = Math.min(best, (user + system) / 20 / stream.length);
		}
		measurements.push(best.toFixed(2));
	}
	console.log(`| ${name} | ${measurements.join(' | ')} |`);
}
