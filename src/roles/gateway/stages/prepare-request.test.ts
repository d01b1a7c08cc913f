/** `thread` marks a part of a conversation whose rest is stored at Anthropic. */
import { expect, test } from 'vitest';
import {
	chatPath,
	errorOf,
	GatewayBench,
	messagesPath,
	sentText,
	summaryOf,
	testSettings,
} from '../../../../test/support/gateway-bench.ts';
import { guardrailsWith } from '../../../../test/support/guarded-gateway.ts';
import type { GatewaySettings } from '../gateway-settings.ts';

const countPath = `${messagesPath}/count_tokens`;
const bodyOf = (model: string, thread: unknown = { type: 'continue', previous_message_id: 'msg_1' }): string =>
	JSON.stringify({ model, max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], thread });
const worstCase = { budgets: { ...testSettings.budgets, reservation: 'worst_case' as const } };

const cases: readonly (readonly [string, string, Partial<GatewaySettings>, boolean])[] = [
	['claude-sonnet-4-5', 'nothing that must know the rest', {}, true],
	['claude-sonnet-4-5', 'guardrails', { guardrails: guardrailsWith() }, false],
	['claude-sonnet-4-5', 'guardrails that only watch', { guardrails: guardrailsWith({ isEnforced: false }) }, false],
	['claude-sonnet-4-5', 'worst_case', worstCase, false],
	['claude-sonnet-4-5', 'worst_case without budgets', { budgets: { ...worstCase.budgets, isEnabled: false } }, true],
	['gpt-5', 'nothing', {}, false],
	['gemini-3-pro', 'nothing', {}, false],
	['our-gpt', 'nothing', {}, false],
];

test.each(cases.flatMap((one) => [messagesPath, countPath].map((path) => [...one, path] as const)))(
	'to %s with %s',
	async (model, _what, settings, isPassedOn, path) => {
		const bench = new GatewayBench(settings);
		bench.respond = () => {
			throw new Error('nothing is answered');
		};
		const requested = bodyOf(model);
		const response = await bench.ask(path, requested);
		if (isPassedOn) {
			expect(bench.sent.map(sentText)).toEqual([requested]);
			return;
		}
		expect([summaryOf(response), bench.sent]).toEqual(['400 thread_unsupported_request', []]);
		expect(errorOf(response).error).toMatchObject({
			param: 'thread',
			details: { error_code: 'thread_unsupported_request', unsupported: ['model'] },
		});
	},
);

test('null is no thread, and chat completions have no such field', async () => {
	const bench = new GatewayBench();
	await bench.ask(messagesPath, bodyOf('gpt-5', null));
	await bench.ask(chatPath, bodyOf('gpt-5'));
	await bench.ask(chatPath, bodyOf('claude-sonnet-4-5'));
	expect(bench.sent.length).toBe(3);
});
