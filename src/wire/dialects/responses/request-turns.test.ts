import { describe, expect, test } from 'vitest';
import { fromResponses, type Provider } from '../../../../test/support/responses-requests.ts';
import { Rejection } from '../../../core/rejection.ts';
import type { JsonObject } from '../../json/parse-body.ts';

const providers: readonly Provider[] = ['chat', 'messages', 'gemini'];
const user = { role: 'user', content: 'Hi' };
const call = (id: string, more: JsonObject = {}): JsonObject => ({
	type: 'function_call',
	call_id: id,
	name: 'f',
	arguments: '{"a":1}',
	...more,
});
const output = (id: string, said: unknown = `result of ${id}`): JsonObject => ({ type: 'function_call_output', call_id: id, output: said });

/** Decrypts what `encrypted` encrypts. */
const encryption = {
	encrypt: (): string => '',
	decrypt: (text: string): string | undefined => (text.startsWith('{') ? text : undefined),
};
const encrypted = (reasoning: JsonObject): JsonObject => ({
	type: 'reasoning',
	id: 'rs_1',
	summary: [],
	content: null,
	encrypted_content: `tg1.${JSON.stringify(reasoning)}`,
});

function messages(provider: 'chat' | 'messages', input: readonly JsonObject[], more: JsonObject = {}): readonly JsonObject[] {
	return fromResponses(provider, { ...more, input }, {}, encryption).body.messages as JsonObject[];
}

function contents(input: readonly JsonObject[], model = 'gemini-2.5-pro'): readonly JsonObject[] {
	return fromResponses('gemini', { input }, { model }, encryption).body.contents as JsonObject[];
}

function warnings(provider: Provider, input: readonly JsonObject[]): readonly string[] {
	return fromResponses(provider, { input }, {}, encryption).warnings;
}

function rejected(provider: Provider, input: readonly unknown[]): string | undefined {
	try {
		fromResponses(provider, { input }, {}, encryption);
	} catch (cause) {
		if (cause instanceof Rejection && cause.code === 'field_invalid') return cause.param;
		throw cause;
	}
	return 'not rejected';
}

const chatCall = (id: string): JsonObject => ({ id, type: 'function', function: { name: 'f', arguments: '{"a":1}' } });
const chatResult = (id: string): JsonObject => ({ role: 'tool', tool_call_id: id, content: `result of ${id}` });
const use = (id: string): JsonObject => ({ type: 'tool_use', id, name: 'f', input: { a: 1 } });
const useResult = (id: string): JsonObject => ({ type: 'tool_result', tool_use_id: id, content: `result of ${id}` });

describe('calls and outputs', () => {
	test('fc1, fc2, out2, out1 are one round', () => {
		const input = [user, call('1'), call('2'), output('2'), output('1')];
		expect(messages('chat', input).slice(1)).toEqual([
			{ role: 'assistant', content: null, tool_calls: [chatCall('1'), chatCall('2')] },
			chatResult('1'),
			chatResult('2'),
		]);
		expect(messages('messages', input).slice(1)).toEqual([
			{ role: 'assistant', content: [use('1'), use('2')] },
			{ role: 'user', content: [useResult('1'), useResult('2')] },
		]);
		expect(contents(input).slice(1)).toHaveLength(2);
	});

	test('fc1, out1, fc2, out2 are two rounds', () => {
		const input = [user, call('1'), output('1'), call('2'), output('2')];
		expect(messages('chat', input).slice(1)).toEqual([
			{ role: 'assistant', content: null, tool_calls: [chatCall('1')] },
			chatResult('1'),
			{ role: 'assistant', content: null, tool_calls: [chatCall('2')] },
			chatResult('2'),
		]);
		expect(messages('messages', input).slice(1)).toHaveLength(4);
		expect(contents(input).slice(1)).toHaveLength(4);
	});

	test.each([
		['instructions', { role: 'developer', content: 'Wait' }, { role: 'system', content: 'Wait' }],
		['a user message', user, user],
	])('an output after %s is sent directly after its call', (_name, between, sent) => {
		expect(messages('chat', [user, call('1'), between, output('1')]).slice(2)).toEqual([chatResult('1'), sent]);
	});

	test('an id can return in a later round', () => {
		expect(messages('chat', [user, call('1'), output('1'), call('1'), output('1')])).toHaveLength(5);
	});

	test('the last of several outputs is sent, with a warning', () => {
		const input = [user, call('1'), output('1', 'a'), output('1', 'b')];
		expect(messages('chat', input).slice(2)).toEqual([{ role: 'tool', tool_call_id: '1', content: 'b' }]);
		for (const provider of providers) expect(warnings(provider, input)).toEqual([expect.stringMatching(/^input\[3\].call_id: of several/)]);
	});

	test('ids that a provider rejects are repaired, in the call and in its output', () => {
		const id = 'a_1_2b2c40a6';
		const sent = messages('messages', [user, call('a:1'), output('a:1')]).slice(1);
		expect(sent).toMatchObject([{ content: [{ id }] }, { content: [{ tool_use_id: id }] }]);
		expect(rejected('messages', [user, call('x'.repeat(1025)), output('x'.repeat(1025))])).toBe('input[1].call_id');
		expect(messages('messages', [user, call(''), output('')])).toHaveLength(3);
	});

	test('arguments are forwarded as text', () => {
		const text = '{ "n": 123456789012345678901 }';
		const input = [user, call('1', { arguments: text }), output('1', '')];
		expect(messages('chat', input)[1]).toMatchObject({ tool_calls: [{ function: { arguments: text } }] });
		expect(messages('chat', [user, call('1', { arguments: '' }), output('1')])[1]).toMatchObject({
			tool_calls: [{ function: { arguments: '' } }],
		});
	});

	test('calls of custom tools, of namespaces and of the client’s search are functions', () => {
		const input = [
			user,
			{ type: 'custom_tool_call', call_id: '1', name: 'patch', input: 'free "text"' },
			call('2', { namespace: 'team' }),
			{ type: 'tool_search_call', call_id: '3', execution: 'client', arguments: { goal: 'x' } },
			{ type: 'custom_tool_call_output', call_id: '1', output: 'done' },
			output('2'),
			{ type: 'tool_search_output', call_id: '3', execution: 'client', tools: [{ type: 'function', name: 'found' }] },
		];
		expect(messages('messages', input).slice(1)).toEqual([
			{
				role: 'assistant',
				content: [
					{ type: 'tool_use', id: '1', name: 'patch', input: { input: 'free "text"' } },
					{ type: 'tool_use', id: '2', name: 'team__f', input: { a: 1 } },
					{ type: 'tool_use', id: '3', name: 'tool_search', input: { goal: 'x' } },
				],
			},
			{
				role: 'user',
				content: [
					{ type: 'tool_result', tool_use_id: '1', content: 'done' },
					useResult('2'),
					{ type: 'tool_result', tool_use_id: '3', content: '{"tools":["found"]}' },
				],
			},
		]);
		expect(messages('chat', input)[1]).toMatchObject({ tool_calls: [{ function: { arguments: '{"input":"free \\"text\\""}' } }, {}, {}] });
	});

	test('images of an output stay in it, or follow the results', () => {
		const parts = [
			{ type: 'input_text', text: 'a' },
			{ type: 'input_image', image_url: 'https://example.com/a.png', detail: 'original' },
		];
		const input = [user, call('1'), output('1', parts)];
		const image = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } };
		expect(messages('messages', input)[2]).toMatchObject({ content: [{ content: [{ type: 'text', text: 'a' }, image] }] });
		expect(messages('chat', input).slice(2)).toEqual([
			{ role: 'tool', tool_call_id: '1', content: 'a' },
			{
				role: 'user',
				content: [
					{ type: 'text', text: 'Result of call 1:' },
					{ type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'high' } },
				],
			},
		]);
	});
});

describe('messages', () => {
	const said = (text: string, more: JsonObject = {}): JsonObject => ({
		type: 'message',
		id: 'msg_1',
		role: 'assistant',
		content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
		...more,
	});

	test('of the assistant in one turn are separate paragraphs before its calls', () => {
		const input = [user, said('One'), call('1'), said('Two'), output('1')];
		expect(messages('chat', input)[1]).toEqual({ role: 'assistant', content: 'One\n\nTwo', tool_calls: [chatCall('1')] });
		expect(messages('messages', input)[1]?.content).toEqual([{ type: 'text', text: 'One' }, { type: 'text', text: '\n\nTwo' }, use('1')]);
	});

	test('lose their phase, with one warning', () => {
		const input = [user, said('One', { phase: 'commentary' }), said('Two', { phase: 'final_answer' }), user];
		for (const provider of providers) expect(warnings(provider, input)).toEqual(['input[1].phase: ignored']);
	});

	test('keep the warning of their phase next to that of another ignored field', () => {
		const update = { type: 'configuration_update', text: { format: { type: 'text' } } };
		for (const provider of providers) {
			expect(warnings(provider, [user, update, said('One', { phase: 'commentary' }), user])).toEqual([
				'input[1].text: ignored',
				'input[2].phase: ignored',
			]);
		}
	});

	test('with a `refusal` are text', () => {
		const input = [user, { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] }, user];
		expect(messages('chat', input)[1]).toEqual({ role: 'assistant', content: 'No.' });
	});

	test('without content are omitted', () => {
		const input = [user, { role: 'assistant', content: [] }, { role: 'developer', content: ' ' }, said(' '), user];
		expect(messages('chat', input)).toEqual([user, user]);
		expect(messages('messages', input)).toHaveLength(1);
	});

	test('of the developer are in place', () => {
		const input = [
			{ role: 'developer', content: 'Be brief' },
			user,
			{ role: 'system', content: [{ type: 'input_text', text: 'Be long' }] },
			user,
		];
		expect(messages('chat', input, { instructions: 'First' }).map(({ role }) => role)).toEqual([
			'system',
			'system',
			'user',
			'system',
			'user',
		]);
		expect(fromResponses('messages', { input, instructions: 'First' }).body.system).toEqual([
			{ type: 'text', text: 'First' },
			{ type: 'text', text: 'Be brief' },
			{ type: 'text', text: 'Be long' },
		]);
		expect(warnings('gemini', input)).toEqual(['input: later system messages moved to the front']);
	});

	test('of the assistant at the end are continued where the model does, in the client’s own terms', () => {
		expect(warnings('chat', [user, said('One')])).toEqual(['input: the last assistant message is answered, not continued']);
		expect(messages('messages', [user, said('One ')]).at(-1)?.content).toEqual([{ type: 'text', text: 'One' }]);
	});

	test('with images and files', () => {
		const data = 'data:application/pdf;base64,JVBERi0=';
		const parts = [
			{ type: 'input_text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } },
			{ type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' },
			{ type: 'input_file', filename: 'a.pdf', file_data: data },
		];
		const input = [{ role: 'user', content: parts }];
		expect(messages('chat', input)[0]?.content).toEqual([
			{ type: 'text', text: 'a' },
			{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' } },
			{ type: 'file', file: { filename: 'a.pdf', file_data: data } },
		]);
		expect(warnings('chat', input)).toEqual(['input[0].content[0].prompt_cache_breakpoint: ignored']);
		expect(messages('messages', input)[0]?.content).toEqual([
			{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } },
			{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
			{ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' }, title: 'a.pdf' },
		]);
		const link = [{ role: 'user', content: [{ type: 'input_file', file_url: 'https://example.com/a.pdf' }] }];
		expect(messages('messages', link)[0]?.content).toMatchObject([{ source: { type: 'url', url: 'https://example.com/a.pdf' } }]);
		expect(rejected('chat', link)).toBe('input[0].content[0].file_url');
	});
});

describe('reasoning', () => {
	const thinking = { type: 'thinking', thinking: 'Hm', signature: 'sig' };
	const redacted = { type: 'redacted_thinking', data: 'xyz' };

	test('of Anthropic returns to it unchanged, before the calls', () => {
		const input = [user, encrypted({ p: 'anthropic', b: [thinking, redacted] }), call('1'), output('1')];
		expect(messages('messages', input)[1]?.content).toEqual([thinking, redacted, use('1')]);
		for (const provider of providers) expect(JSON.stringify(fromResponses(provider, { input }).body)).not.toMatch(/Hm|sig/);
	});

	test('of Gemini returns as signatures, also after the items that they sign', () => {
		const reasoning = encrypted({ p: 'gemini', b: [], s: { 2: 'of call' }, t: 'of text' });
		const items = [{ role: 'assistant', content: 'Calling' }, call('1'), call('2')];
		const parts = [
			{ text: 'Calling', thoughtSignature: 'of text' },
			{ functionCall: { id: '1', name: 'f', args: { a: 1 } } },
			{ functionCall: { id: '2', name: 'f', args: { a: 1 } }, thoughtSignature: 'of call' },
		];
		for (const input of [
			[reasoning, ...items],
			[...items, reasoning],
		]) {
			expect(contents([user, ...input, output('1'), output('2')])[1]).toEqual({ role: 'model', parts });
		}
	});

	test('of a chat provider is not returned, without a warning', () => {
		const input = [user, encrypted({ p: 'chat', b: [], r: 'Hm' }), { role: 'assistant', content: 'Yes' }, user];
		expect(warnings('chat', input)).toEqual([]);
		expect(JSON.stringify(messages('chat', input))).not.toContain('Hm');
	});

	test.each([
		['of OpenAI', { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm' }], encrypted_content: 'gAAAAxyz' }],
		['that does not decrypt', { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm' }], encrypted_content: 'tg1.xyz' }],
		['without encrypted content', { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm' }], content: null }],
	])('%s is dropped with one warning', (_name, item) => {
		const input = [user, item, call('1'), item, output('1')];
		for (const provider of providers) {
			expect(warnings(provider, input)).toEqual(['input[1]: reasoning that the model’s provider cannot read is omitted']);
			expect(JSON.stringify(fromResponses(provider, { input }).body)).not.toMatch(/Hm|gAAAA|tg1|rs_1/);
		}
	});

	test('without anything after it is omitted', () => {
		expect(messages('messages', [user, encrypted({ p: 'anthropic', b: [thinking] }), user])).toHaveLength(1);
	});
});

describe('items that only OpenAI has', () => {
	test.each([
		'web_search_call',
		'file_search_call',
		'code_interpreter_call',
		'image_generation_call',
		'mcp_list_tools',
		'mcp_call',
		'mcp_approval_request',
		'mcp_approval_response',
		'tool_search_call',
	])('%s is omitted with a warning', (type) => {
		const input = [user, { type, id: 'x', call_id: null }, { type, id: 'y', call_id: null }];
		for (const provider of providers) {
			expect(warnings(provider, input)).toEqual(['input[1]: items of tools that another vendor ran are omitted']);
		}
	});

	test.each([
		'compaction',
		'compaction_trigger',
		'program',
		'program_output',
		'computer_call',
		'computer_call_output',
		'local_shell_call',
		'shell_call',
		'shell_call_output',
		'apply_patch_call',
		'nosuch',
	])('%s is rejected', (type) => {
		for (const provider of providers) expect(rejected(provider, [user, { type }])).toBe('input[1].type');
	});

	test('tools in items are offered and not sent as text', () => {
		const input = [
			{ type: 'additional_tools', role: 'developer', tools: [] },
			{ type: 'tool_search_output', tools: [], call_id: null },
			user,
		];
		for (const provider of providers) expect(warnings(provider, input)).toEqual([]);
		expect(messages('chat', input)).toEqual([user]);
	});
});

test.each<[string, readonly unknown[]]>([
	['input[0]', ['text']],
	['input[1]', [user, { type: 'item_reference', id: 'rs_1' }]],
	['input[1]', [user, { type: null, id: 'rs_1' }]],
	['input[1]', [user, { id: 'rs_1' }]],
	['input[0].role', [{ role: 'tool', content: 'a' }]],
	['input[0].content', [{ role: 'user', content: '  ' }]],
	['input[0].content', [{ role: 'user' }]],
	['input[1].content', [user, { role: 'assistant', content: 7 }]],
	['input[0].content[0]', [{ role: 'user', content: ['a'] }]],
	['input[0].content[1].type', [{ role: 'user', content: [{ type: 'input_text', text: 'a' }, { type: 'input_audio' }] }]],
	['input[0].content[0].text', [{ role: 'user', content: [{ type: 'input_text' }] }]],
	['input[0].content[0].image_url', [{ role: 'user', content: [{ type: 'input_image', image_url: 'ftp://a' }] }]],
	['input[0].content[0].image_url', [{ role: 'user', content: [{ type: 'input_image' }] }]],
	['input[0].content[0].file_id', [{ role: 'user', content: [{ type: 'input_image', file_id: 'file_1' }] }]],
	['input[0].content[0].file_id', [{ role: 'user', content: [{ type: 'input_file', file_id: 'file_1' }] }]],
	['input[0].content[0].file_data', [{ role: 'user', content: [{ type: 'input_file', file_data: 'JVBERi0=' }] }]],
	['input[1].content[0].type', [user, { role: 'developer', content: [{ type: 'input_image', image_url: 'https://example.com/a.png' }] }]],
	['input[1].call_id', [user, call('1')]],
	['input[1].call_id', [user, output('1')]],
	['input[2].call_id', [user, call('1'), call('1'), output('1')]],
	['input[1].call_id', [user, { type: 'function_call', name: 'f', arguments: '{}' }]],
	['input[1].name', [user, { type: 'function_call', call_id: '1', arguments: '{}' }, output('1')]],
	['input[1].input', [user, { type: 'custom_tool_call', call_id: '1', name: 'f' }, output('1')]],
	['input[1].arguments', [user, call('1', { arguments: {} }), output('1')]],
	['input[2].output', [user, call('1'), output('1', null)]],
	['input[2].output[0].type', [user, call('1'), output('1', [{ type: 'odd' }])]],
])('%s is rejected in %j', (param, input) => {
	for (const provider of providers) expect(rejected(provider, input)).toBe(param);
});

test('arguments that are not an object are rejected for providers that need one', () => {
	const input = [user, call('1', { arguments: '[1]' }), output('1')];
	expect([rejected('messages', input), rejected('gemini', input)]).toEqual(['input[1].arguments', 'input[1].arguments']);
});
