/** A conversation continues at another vendor, in the client's own format: vendor-specific fields of the first one are not sent. */
import { expect, it } from 'vitest';
import { benchWith, chatResponse, gpt, hostOf, messageResponse } from '../../../test/support/failover-rig.ts';
import { chatPath, GatewayBench, jsonResponse, messagesPath, sentText, testSettings } from '../../../test/support/gateway-bench.ts';

const signed = '"extra_content":{"google":{"thought_signature":"c2ln"}}';
const inferenceRequest = '{"id":"c1","type":"function","function":{"name":"f","arguments":"{ }"}';
const chatTurns = (mark: string): string =>
	`"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[${inferenceRequest}${mark}}]},{"role":"tool","tool_call_id":"c1","content":"1"}]`;
const use = '{"type":"tool_use","id":"t1","name":"f","input":{ "n":12345678901234567890 }';
const messageTurns = (mark: string): string =>
	`"max_tokens":9,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[${use}${mark}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"1"}]}]`;

it.each([
	['OpenAI', chatPath, 'gpt-5', chatTurns],
	['Azure', chatPath, 'our-gpt', chatTurns],
	['Anthropic', messagesPath, 'claude-opus-4-8', messageTurns],
	['Anthropic, asked to count', `${messagesPath}/count_tokens`, 'claude-opus-4-8', messageTurns],
])('%s gets every other byte', async (_vendor, path, model, turns) => {
	for (const [mark, retained] of [
		[`,${signed}`, ''],
		[',"extra_content":{"mine":1}', ',"extra_content":{"mine":1}'],
	] as const) {
		const bench = new GatewayBench();
		await bench.ask(path, `{ "model":"${model}",${turns(mark)} }`);
		expect(bench.sent.map(sentText)).toEqual([`{ "model":"${model}",${turns(retained)} }`]);
	}
});

it('Gemini gets its signature back, and the next target of the rule does not', async () => {
	const bench = benchWith({ targets: [{ provider: 'provider_c', model: 'gemini-3-pro', weight: 1 }, gpt] });
	bench.respond = (request) => (hostOf(request) === 'c' ? jsonResponse(503, '{}') : jsonResponse(200, chatResponse));
	await bench.ask(chatPath, `{"model":"m",${chatTurns(`,${signed}`)}}`);
	expect(bench.sent.map((request) => [hostOf(request), sentText(request).includes('c2ln')])).toEqual([
		['c', true],
		['b', false],
	]);
});

it('if the model’s name is unknown, the configured capabilities decide', async () => {
	for (const [knownAs, isRetained] of [
		['gemini-3-pro', true],
		['gpt-5', false],
	] as const) {
		const providers = testSettings.providers.map((one) => ({ ...one, modelCapabilities: { 'our-gpt': { knownAs } } }));
		const bench = new GatewayBench({ providers });
		bench.respond = () => jsonResponse(200, messageResponse);
		await bench.ask(chatPath, `{"model":"our-gpt",${chatTurns(`,${signed}`)}}`);
		expect(bench.sent.map((request) => sentText(request).includes('c2ln'))).toEqual([isRetained]);
	}
});
