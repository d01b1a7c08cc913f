/** Encrypted reasoning that another account generated: the provider rejects it, and the request is sent once more without it. */
import { describe, expect, test } from 'vitest';
import {
	errorOf,
	GatewayBench,
	HandStream,
	jsonResponse,
	readStream,
	sentText,
	settle,
	sseResponse,
	testSettings,
} from '../../../test/support/gateway-bench.ts';
import { isJsonObject } from '../../wire/json/parse-body.ts';
import type { GatewaySettings } from './gateway-settings.ts';

const path = '/v1/responses';
const rejection = {
	error: {
		message: 'The encrypted content could not be verified',
		type: 'invalid_request_error',
		param: null,
		code: 'invalid_encrypted_content',
	},
};
const success = {
	id: 'resp_1',
	object: 'response',
	status: 'completed',
	output: [],
	usage: { input_tokens: 5, output_tokens: 7, total_tokens: 12 },
};
const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAAforeign' };
const call = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'f', arguments: '{}' };
const output = { type: 'function_call_output', call_id: 'c1', output: 'ok' };
const user = { role: 'user', content: 'Hi' };
const warning = 'input: encrypted reasoning that the provider could not decrypt dropped';

/** A provider that rejects all encrypted reasoning. */
function createBench(more: Partial<GatewaySettings> = {}): GatewayBench {
	const bench = new GatewayBench(more);
	bench.respond = (request) =>
		sentText(request).includes('encrypted_content')
			? jsonResponse(400, JSON.stringify(rejection))
			: jsonResponse(200, JSON.stringify(success));
	return bench;
}

const ask = (bench: GatewayBench, input: unknown, more: object = {}): ReturnType<GatewayBench['ask']> =>
	bench.ask(path, JSON.stringify({ model: 'gpt-5-mini', input, ...more }));

const inputOf = (bench: GatewayBench, index: number): unknown => {
	const sent = bench.sent[index];
	const body: unknown = sent && JSON.parse(sentText(sent));
	return isJsonObject(body) ? body.input : undefined;
};

describe('a rejection of encrypted reasoning', () => {
	test('is followed by one request without reasoning, and without the ids that require it', async () => {
		const bench = createBench();
		const response = await ask(bench, [user, reasoning, call, output]);
		expect([response.status, response.headers['x-gateway-warnings']]).toEqual([200, warning]);
		const { id: _id, ...plainCall } = call;
		expect([bench.sent.length, inputOf(bench, 0), inputOf(bench, 1)]).toEqual([
			2,
			[user, reasoning, call, output],
			[user, plainCall, output],
		]);
	});

	test('is billed once, with the usage of the second request', async () => {
		const bench = createBench();
		await ask(bench, [user, reasoning, call, output]);
		await settle();
		const { rows } = await bench.ledger.list({ limit: 9 });
		expect(rows.map(({ closed }) => [closed?.usage.inputTokens, closed?.usage.outputTokens, closed?.isEstimated])).toEqual([[5, 7, false]]);
	});

	test('keeps the edits of the first request: model, storage and output cap', async () => {
		const bench = createBench({ budgets: { ...testSettings.budgets, reservation: 'worst_case' } });
		const response = await ask(bench, [user, reasoning, call, output], { model: 'fast' });
		expect(response.status).toBe(200);
		const [first, second] = bench.sent.map((sent) => JSON.parse(sentText(sent)) as { input: unknown });
		expect(second).toEqual({ ...first, input: second?.input });
		expect(second).toMatchObject({ model: 'gpt-5-mini', store: false });
		expect(second).toHaveProperty('max_output_tokens');
	});

	test('of a stream is followed by the stream of the second request', async () => {
		const bench = createBench();
		const stream = new HandStream();
		const rejecting = bench.respond;
		bench.respond = (request) => (sentText(request).includes('encrypted_content') ? rejecting(request) : sseResponse(stream));
		const response = await ask(bench, [user, reasoning, call, output], { stream: true });
		expect([response.status, response.headers['x-gateway-warnings']]).toEqual([200, warning]);
		const { reader } = readStream(response);
		stream.write(`event: response.completed\ndata: ${JSON.stringify({ type: 'response.completed', response: success })}\n\n`);
		stream.sink?.end();
		expect(reader.text).toContain('response.completed');
	});

	test('is returned if the request without reasoning is rejected, too', async () => {
		const bench = createBench();
		bench.respond = () => jsonResponse(400, JSON.stringify(rejection));
		const response = await ask(bench, [user, reasoning, call, output]);
		expect([response.status, errorOf(response).error, bench.sent.length]).toEqual([
			400,
			expect.objectContaining({ code: 'invalid_encrypted_content' }),
			2,
		]);
	});

	test.each([
		['a compaction, which replaces earlier turns', [{ type: 'compaction', encrypted_content: 'gAAAA' }, reasoning, user]],
		['no reasoning', [{ ...user, encrypted_content: 'x' }]],
		['nothing but reasoning', [reasoning]],
	])('is returned for a conversation with %s', async (_what, input) => {
		const bench = createBench();
		const response = await ask(bench, input);
		expect([response.status, bench.sent.length, response.headers['x-gateway-warnings']]).toEqual([400, 1, undefined]);
	});

	test('by another code is returned', async () => {
		const bench = createBench();
		bench.respond = () => jsonResponse(400, JSON.stringify({ error: { ...rejection.error, code: 'invalid_value' } }));
		expect([(await ask(bench, [user, reasoning, call, output])).status, bench.sent.length]).toEqual([400, 1]);
	});
});
