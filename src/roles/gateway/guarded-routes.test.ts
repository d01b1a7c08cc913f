import { expect, it } from 'vitest';
import { ask, benchWith, chatResponse, messageResponse } from '../../../test/support/failover-rig.ts';
import { chatBody, errorOf, GatewayBench, jsonResponse, sentText, textOf } from '../../../test/support/gateway-bench.ts';
import { guardrailsWith } from '../../../test/support/guarded-gateway.ts';
import { storedResponseRequests } from '../../wire/endpoints/stored-responses.ts';

const guardrails = guardrailsWith();
const { routes } = new GatewayBench().gateway;
const bodiless: ReadonlySet<string> = new Set(storedResponseRequests.map(({ path }) => path));
const taking = routes.filter(({ method, path }) => !['GET', 'HEAD'].includes(method) && !bodiless.has(path)).map(({ path }) => path);

it('the routes that take a body are known', () => {
	expect(taking).toEqual([
		'/v1/chat/completions',
		'/v1/messages',
		'/v1/responses',
		'/v1/embeddings',
		'/v1/completions',
		'/v1/messages/count_tokens',
		'/v1/responses/compact',
	]);
});

const messages = [{ role: 'user', content: 'the darkfish' }];
/** Prompts of requests that have no messages. */
const prompts: Readonly<Record<string, Record<string, unknown>>> = {
	'/v1/responses': { input: 'the darkfish' },
	'/v1/responses/compact': { input: 'the darkfish' },
	'/v1/embeddings': { input: ['hi', 'the darkfish'], stream: false },
	'/v1/completions': { prompt: ['hi', 'the darkfish'] },
};

it.each(taking)('%s is guarded: no prompt bypasses the guardrails, to whatever provider, streamed or not', async (path) => {
	for (const model of ['claude-x', 'gpt-5', 'gemini-3', 'our-gpt']) {
		for (const stream of [true, false]) {
			const bench = new GatewayBench({ guardrails });
			const response = await bench.ask(path, JSON.stringify({ model, max_tokens: 9, stream, ...(prompts[path] ?? { messages }) }));
			expect([response.status, errorOf(response).error.code, bench.sent]).toEqual([400, 'guardrail_blocked', []]);
		}
	}
});

it('masks apply to every target of a failover, and each one’s response is evaluated', async () => {
	const bench = benchWith({ settings: { guardrails: guardrailsWith({ words: { entries: ['darkfish'], action: 'mask' } }) } });
	bench.respond = ({ origin }) =>
		origin.includes('b.test')
			? jsonResponse(500, chatResponse)
			: jsonResponse(
					200,
					JSON.stringify({ ...(JSON.parse(messageResponse) as object), content: [{ type: 'text', text: 'Darkfish it is' }] }),
				);
	const response = await ask(bench, {}, chatBody.replace('"hi"', '"the darkfish"'));
	expect(bench.sent.map(({ origin }) => origin)).toEqual(['https://b.test', 'https://a.test']);
	for (const sent of bench.sent) {
		expect(sentText(sent)).toContain('the [WORD]');
		expect(sentText(sent)).not.toContain('darkfish');
	}
	expect(textOf(response)).toContain('"[WORD] it is"');
	// Read once, before a target is chosen: rules of teams name no provider or model.
	expect(bench.log.lines.filter(({ event, fields }) => event === 'guardrail assessment' && fields['stage'] === 'input')).toHaveLength(1);
});
