/** Tests that no body makes the simulator fail: it responds, or rejects the request in the vendor's words. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isByteStream, readAll, streamOf } from '../src/core/byte-stream.ts';
import type { HttpRequest } from '../src/core/handler.ts';
import { createTestClock } from '../test/support/start-simulator.ts';
import { createSimulator } from './simulator.ts';

const { handle } = createSimulator({}, { clock: createTestClock(), setOutage: () => undefined });

function requestOf(path: string, query: string, body: string): HttpRequest {
	return {
		id: 'r1',
		method: 'POST',
		path,
		query,
		headers: { authorization: 'Bearer k', 'api-key': 'k', 'x-api-key': 'k', 'x-goog-api-key': 'k', 'anthropic-version': '2023-06-01' },
		body: streamOf([Buffer.from(body)]),
		announcedLength: undefined,
		peerAddress: '127.0.0.1',
		arrivedMs: 0,
		onClientDisconnect: () => undefined,
	};
}

const word = fc.constantFrom(
	'user',
	'assistant',
	'tool',
	'system',
	'model',
	'text',
	'tool_use',
	'tool_result',
	'function',
	'thinking',
	'auto',
	'any',
	'object',
	'message',
	'reasoning',
	'function_call',
	'function_call_output',
	'custom_tool_call',
	'item_reference',
	'additional_tools',
	'tool_search_output',
	'namespace',
	'custom',
	'input_text',
	'output_text',
	'a',
	'',
);
const leaf = fc.oneof(word, fc.integer({ min: -2, max: 20 }), fc.boolean(), fc.constant(null), fc.constant([]), fc.constant({}));
const name = fc.constantFrom(
	...[
		'role',
		'content',
		'type',
		'text',
		'id',
		'name',
		'input',
		'tool_calls',
		'tool_call_id',
		'tool_use_id',
		'function',
		'arguments',
		'parts',
		'functionCall',
	],
	...[
		'functionResponse',
		'response',
		'args',
		'source',
		'image_url',
		'url',
		'cache_control',
		'signature',
		'parameters',
		'input_schema',
		'properties',
		'items',
		'call_id',
		'output',
		'encrypted_content',
		'summary',
		'tools',
		'format',
		'schema',
		'strict',
	],
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
	value: fc.oneof({ maxDepth: 5 }, leaf, fc.array(tie('value'), { maxLength: 3 }), fc.dictionary(name, tie('value'), { maxKeys: 5 })),
}));
const field = fc.constantFrom(
	...[
		'messages',
		'contents',
		'tools',
		'tool_choice',
		'stop',
		'n',
		'stream',
		'stream_options',
		'system',
		'systemInstruction',
		'max_tokens',
		'thinking',
	],
	...[
		'response_format',
		'output_config',
		'generationConfig',
		'toolConfig',
		'functions',
		'temperature',
		'stop_sequences',
		'reasoning_effort',
	],
);
const body = fc.dictionary(field, value, { maxKeys: 6 }).map((fields) => ({ model: 'sim-text', max_tokens: 20, ...fields }));

/** Valid in at least one field, so that other checks are reached. */
const inputs = fc.oneof(
	value,
	fc.array(fc.record({ type: word, role: word, content: value, call_id: word, output: value, arguments: word, name: word, tools: value }), {
		maxLength: 3,
	}),
);
const bodyOf = (inputField: string, fields: readonly string[]): fc.Arbitrary<object> =>
	fc
		.tuple(fc.dictionary(fc.constantFrom(...fields), value, { maxKeys: 4 }), inputs)
		.map(([others, input]) => ({ model: 'sim-text', ...others, [inputField]: input }));
const responseBody = bodyOf('input', [
	...['tools', 'tool_choice', 'instructions', 'stream', 'store', 'previous_response_id', 'background', 'include', 'reasoning', 'text'],
	...['stream_options', 'max_output_tokens', 'max_tool_calls', 'parallel_tool_calls', 'context_management', 'metadata', 'truncation'],
]);

test.each([
	['/openai/v1/chat/completions', '', body],
	['/anthropic/v1/messages', '', body],
	['/anthropic/v1/messages/count_tokens', '', body],
	['/gemini/v1beta/models/sim-text:generateContent', '', body],
	['/gemini/v1beta/models/sim-text:streamGenerateContent', 'alt=sse', body],
	['/gemini/v1beta/openai/chat/completions', '', body],
	['/azure/openai/deployments/sim-text/chat/completions', 'api-version=2024-10-21', body],
	['/openai/v1/responses', '', responseBody],
	['/openai/v1/responses/compact', '', responseBody],
	['/openai/v1/responses/input_tokens', '', responseBody],
	['/azure/openai/responses', 'api-version=2025-03-01-preview', responseBody],
	['/openai/v1/embeddings', '', bodyOf('input', ['dimensions', 'encoding_format', 'user'])],
	['/openai/v1/completions', '', bodyOf('prompt', ['echo', 'logprobs', 'n', 'stop', 'stream', 'stream_options', 'best_of'])],
	['/gemini/v1beta/models/sim-text:embedContent', '', bodyOf('content', ['outputDimensionality', 'taskType', 'title'])],
	['/gemini/v1beta/models/sim-text:batchEmbedContents', '', bodyOf('requests', ['model'])],
])('%s', neverFails);

async function neverFails(path: string, query: string, bodies: fc.Arbitrary<object>): Promise<void> {
	await fc.assert(
		fc.asyncProperty(
			fc.oneof({ weight: 9, arbitrary: bodies.map((fields) => JSON.stringify(fields)) }, fc.json(), fc.string()),
			async (text) => {
				const response = await handle(requestOf(path, query, text));
				expect([200, 400, 404]).toContain(response.status);
				const whole =
					response.body !== null && isByteStream(response.body)
						? await readAll(response.body, 10_000_000)
						: Buffer.from(response.body ?? '');
				expect(whole.length).toBeGreaterThan(0);
			},
		),
		{ numRuns: 250 },
	);
}
