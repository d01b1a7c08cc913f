/** Fields that Claude Code sends to Anthropic, in requests translated for other providers. */
import { describe, expect, it } from 'vitest';
import { Rejection } from '../../../core/rejection.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { translateRequest } from '../../translate.ts';

const target = { model: 'gpt-4o', maxOutputTokens: undefined };
const tool = (name: string, more: JsonObject = {}): JsonObject => ({ name, input_schema: { type: 'object' }, ...more });
const hello = { role: 'user', content: 'Hello' };

const translate = (body: JsonObject, to: 'chat' | 'gemini' = 'chat') =>
	translateRequest('messages', to, { model: 'claude-sonnet-5', max_tokens: 9, messages: [hello], ...body }, target);

const toolNames = (body: JsonObject): unknown[] =>
	Array.isArray(body['tools'])
		? body['tools'].map((one) => isJsonObject(one) && isJsonObject(one['function']) && one['function']['name'])
		: [];

const paramOf = (run: () => unknown): string | undefined => {
	try {
		run();
	} catch (cause) {
		return cause instanceof Rejection ? (cause.param ?? undefined) : undefined;
	}
	return undefined;
};

describe('tools that system messages change', () => {
	const reference = (name: string) => ({ type: 'tool_reference', name });
	const change = (type: 'tool_addition' | 'tool_removal', changed: JsonObject) => ({ role: 'system', content: [{ type, tool: changed }] });

	it.each([
		['added by reference', [change('tool_addition', reference('b'))], ['a', 'b']],
		['defined', [change('tool_addition', { type: 'tool_definition', definition: tool('c') })], ['a', 'b', 'c']],
		['removed', [change('tool_removal', reference('a'))], ['b']],
		['removed and added again', [change('tool_removal', reference('a')), change('tool_addition', reference('a'))], ['a', 'b']],
		[
			'defined and removed',
			[change('tool_addition', { type: 'tool_definition', definition: tool('c') }), change('tool_removal', reference('c'))],
			['a', 'b'],
		],
		['defined again', [change('tool_addition', { type: 'tool_definition', definition: tool('a', { description: 'new' }) })], ['b', 'a']],
	])('%s: the last state is offered, and no text is added', (_title, changes, expected) => {
		const { body, warnings } = translate({ tools: [tool('a'), tool('b', { defer_loading: true })], messages: [hello, ...changes] });
		expect(toolNames(body)).toEqual(expected);
		expect(body['messages']).toEqual([hello]);
		expect(warnings).toEqual([]);
	});

	it('keeps the text next to a change', () => {
		const content = [
			{ type: 'tool_removal', tool: reference('a') },
			{ type: 'text', text: 'Use no tools.' },
		];
		const { body } = translate({ tools: [tool('a')], messages: [hello, { role: 'system', content }] });
		expect(body['messages']).toEqual([hello, { role: 'system', content: 'Use no tools.' }]);
	});

	it('rejects tools that exist at the vendor alone', () => {
		const inMessages = (changed: JsonObject) => () => translate({ messages: [hello, change('tool_addition', changed)] });
		expect(paramOf(inMessages({ type: 'mcp_toolset_reference', server_name: 's' }))).toBe('messages[1].content[0].tool.type');
		const hosted = { type: 'web_search_20250305', name: 'web_search' };
		expect(paramOf(inMessages({ type: 'tool_definition', definition: hosted }))).toBe('messages[1].content[0].tool.definition.type');
		expect(paramOf(() => translate({ messages: [hello, change('tool_removal', { type: 'tool_definition' })] }))).toBe(
			'messages[1].content[0].tool.type',
		);
	});
});

describe('system messages within a conversation', () => {
	it('may consist of settings alone, which are ignored', () => {
		const { body, warnings } = translate({ messages: [hello, { role: 'system', output_config: { effort: 'low' } }] });
		expect(body['messages']).toEqual([hello]);
		expect(warnings).toEqual(['messages[1].output_config: ignored']);
		expect(paramOf(() => translate({ messages: [hello, { role: 'system' }] }))).toBe('messages[1].content');
	});

	it('are omitted after the user message that clears them', () => {
		const note = { role: 'system', content: 'For now.', clear_at: 'next_user_message' };
		const assistant = { role: 'assistant', content: 'Hi' };
		expect(translate({ messages: [hello, note] }).body['messages']).toEqual([hello, { role: 'system', content: 'For now.' }]);
		expect(translate({ messages: [hello, note, assistant, hello] }).body['messages']).toEqual([hello, assistant, hello]);
		const kept = { ...note, clear_at: 'never' };
		expect(translate({ messages: [hello, kept, assistant, hello] }).body['messages']).toHaveLength(4);
	});
});

describe('the attribution of Claude Code', () => {
	const attribution = { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.0; cc_entrypoint=cli;' };
	const prompt = { type: 'text', text: 'Be brief.' };

	it.each(['chat', 'gemini'] as const)('does not become part of the prompt in %s', (to) => {
		const { body, warnings, notes } = translate({ system: [attribution, prompt] }, to);
		expect(JSON.stringify(body)).toContain('Be brief.');
		expect(JSON.stringify(body)).not.toContain('billing');
		expect([warnings, notes]).toEqual([[], ['system[0]: attribution, which only Anthropic reads, removed']]);
	});

	it('leaves a prompt that it was merged into, or that follows another block', () => {
		const merged = { type: 'text', text: `${attribution.text}\nBe brief.` };
		expect(JSON.stringify(translate({ system: [merged] }).body)).toContain('billing');
		expect(JSON.stringify(translate({ system: [prompt, attribution] }).body)).toContain('billing');
	});

	it('may be the only instruction', () => {
		expect(translate({ system: [attribution] }).body['messages']).toEqual([hello]);
	});
});
