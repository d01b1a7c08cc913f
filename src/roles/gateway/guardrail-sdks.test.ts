/** Handling of a block by the official SDKs, in both of their major versions. */
import { describe, expect, it } from 'vitest';
import { GatewayBench, HandStream, jsonResponse, Reader, sseResponse } from '../../../test/support/gateway-bench.ts';
import { guardrailsWith, nonStreamingResponses, piiRules, responseEvents } from '../../../test/support/guarded-gateway.ts';
import { anthropicLines, openAiLines } from '../../../test/support/sdk-lines.ts';
import { isByteStream } from '../../core/byte-stream.ts';

const guardrails = guardrailsWith({ pii: piiRules('none', { ssn: 'block', card: 'block' }) });

const formatOf = { '/v1/chat/completions': 'chat', '/v1/messages': 'messages' } as const;
const streaming = ['All is well. My card is 4111 1111 ', '1111 1111, ok?'];

/** Sends the request to the gateway instead of the network. */
async function fetchFromGateway(input: string | URL | Request, init: RequestInit | undefined): Promise<Response> {
	const path = new URL(input instanceof Request ? input.url : input).pathname as keyof typeof formatOf;
	const format = formatOf[path];
	const bench = new GatewayBench({ guardrails });
	const { body } = init ?? {};
	if (typeof body !== 'string') throw new Error('the SDK sent no text');
	const upstream = new HandStream();
	const isStreaming = (JSON.parse(body) as { stream?: boolean }).stream === true;
	bench.respond = () => (isStreaming ? sseResponse(upstream) : jsonResponse(200, nonStreamingResponses[format]('See the d4rkfish.')));
	const { status, headers, body: response } = await bench.ask(path, body);
	if (response === null || !isByteStream(response)) {
		return new Response(response?.toString() ?? null, { status, headers: headers as Record<string, string> });
	}
	const reader = new Reader();
	response.start(reader);
	for (const event of responseEvents[format](streaming)) if (!upstream.isCancelled) upstream.write(event);
	if (!upstream.isCancelled) upstream.sink?.end();
	return new Response(reader.text, { status, headers: headers as Record<string, string> });
}

const settings = { apiKey: 'any', maxRetries: 0, fetch: fetchFromGateway };

const blockedInput = 'The request was blocked by guardrails: policy `words`, category `listed`';
const blockedResponse = 'The response was blocked by guardrails: policy `words`, category `listed`';
const blockedStream = 'The response was blocked by guardrails: policy `pii`, category `card`';
const listed = [{ role: 'user' as const, content: 'A dаrkfish, please' }];
const harmless = [{ role: 'user' as const, content: 'hello' }];

async function failureOf(requested: Promise<unknown>): Promise<Error> {
	const failure = await requested.then(
		() => new Error('not blocked'),
		(cause: unknown) => cause,
	);
	if (!(failure instanceof Error)) throw new TypeError('what was thrown is no error');
	expect(`${failure.message} ${JSON.stringify(failure)}`).not.toMatch(/4111|fish/);
	return failure;
}

describe.each(openAiLines)('%s', (_line, Client) => {
	const client = new Client({ ...settings, baseURL: 'http://gateway.test/v1' });

	it.each([true, false])('a request, streamed %s, raises BadRequestError', async (stream) => {
		const failure = await failureOf(client.chat.completions.create({ model: 'gpt-5', stream, messages: listed }));
		expect(failure).toBeInstanceOf(Client.BadRequestError);
		expect(failure).toMatchObject({ status: 400, code: 'guardrail_blocked' });
		expect(failure.message).toContain(blockedInput);
	});

	it('a non-streaming response raises BadRequestError', async () => {
		const failure = await failureOf(client.chat.completions.create({ model: 'gpt-5', messages: harmless }));
		expect(failure).toBeInstanceOf(Client.BadRequestError);
		expect(failure.message).toContain(blockedResponse);
	});

	it('a stream raises APIError after the text before', async () => {
		const stream = await client.chat.completions.create({ model: 'gpt-5', stream: true, messages: harmless });
		let text = '';
		const reading = (async () => {
			for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
		})();
		const failure = await failureOf(reading);
		expect(failure).toBeInstanceOf(Client.APIError);
		expect(failure).toMatchObject({ code: 'guardrail_blocked' });
		expect(failure.message).toContain(blockedStream);
		expect(text).not.toContain('4');
	});
});

describe.each(anthropicLines)('%s', (_line, Client) => {
	const client = new Client({ ...settings, baseURL: 'http://gateway.test' });
	const requested = { model: 'claude-opus-4-5', max_tokens: 9 };

	it.each([true, false])('a request, streamed %s, raises BadRequestError', async (stream) => {
		const failure = await failureOf(client.messages.create({ ...requested, stream, messages: listed }));
		expect(failure).toBeInstanceOf(Client.BadRequestError);
		expect(failure).toMatchObject({ status: 400, error: { error: { code: 'guardrail_blocked' } } });
		expect(failure.message).toContain(blockedInput);
	});

	it('a non-streaming response raises BadRequestError', async () => {
		const failure = await failureOf(client.messages.create({ ...requested, messages: harmless }));
		expect(failure).toBeInstanceOf(Client.BadRequestError);
		expect(failure.message).toContain(blockedResponse);
	});

	it('a stream raises APIError, and so does the helper', async () => {
		const stream = await client.messages.create({ ...requested, stream: true, messages: harmless });
		const reading = (async () => {
			for await (const event of stream) expect(JSON.stringify(event)).not.toContain('4111');
		})();
		for (const failure of [
			await failureOf(reading),
			await failureOf(client.messages.stream({ ...requested, messages: harmless }).finalMessage()),
		]) {
			expect(failure).toBeInstanceOf(Client.APIError);
			expect(failure.message).toContain(blockedStream);
		}
	});
});
