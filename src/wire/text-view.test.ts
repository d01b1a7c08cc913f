import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRecordings } from '../../test/support/recordings.ts';
import { clientDialects } from './dialects/dialects.ts';
import type { JsonObject } from './json/parse-body.ts';
import { spliceBody } from './json/splice-body.ts';
import { textEdits } from './text-edits.ts';
import type { TextView } from './text-view.ts';

const [chat, messages] = [clientDialects.chat.textViews, clientDialects.messages.textViews];

/** `role part path text`. */
const shown = ({ texts }: TextView): readonly string[] =>
	texts.map(({ role, part, path, text, isJson }) => `${role} ${part} ${path.join('.')} ${isJson ? 'json ' : ''}${text}`);
const skipped = ({ unreadable }: TextView): readonly string[] => unreadable.map(({ type, path }) => `${type} ${path.join('.')}`);

const drawing = '<svg><text>a (b) é</text></svg>';
const encodedDrawing = Buffer.from(drawing).toString('base64');
const drawings = [
	`data:image/svg+xml;base64,${encodedDrawing}`,
	`data:image/svg+xml;utf8,${drawing}`,
	`data:image/SVG+xml;charset=utf-8,${encodeURIComponent(drawing)}`,
	`data:image/svg+xml;base64,${encodeURIComponent(encodedDrawing)}`,
];

describe('an SVG in a data URL', () => {
	it.each(drawings)('is read and can be masked: %s', (url) => {
		const chatBody = { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] };
		const messagesBody = { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url } }] }] };
		for (const [format, body] of [
			[chat, chatBody],
			[messages, messagesBody],
		] as const) {
			const view = format.request(body);
			expect([view.texts.map(({ text }) => text), view.unreadable.length]).toEqual([[drawing], 1]);
			const bytes = Buffer.from(JSON.stringify(body));
			const [text] = view.texts;
			if (text === undefined) throw new Error('no text');
			const masked = spliceBody(bytes, textEdits(bytes, [[text, drawing.replace('a (b)', '[EMAIL]')]]));
			const again = format.request(JSON.parse(masked.toString()) as JsonObject);
			expect(again.texts.map(({ text: visibleText }) => visibleText)).toEqual(['<svg><text>[EMAIL] é</text></svg>']);
		}
	});

	it('is read in the sources of images and documents as well, and other pictures are not', () => {
		const source = { type: 'base64', media_type: 'image/svg+xml', data: encodedDrawing };
		const png = { type: 'base64', media_type: 'image/png', data: encodedDrawing };
		const content = [
			{ type: 'image', source },
			{ type: 'document', source },
			{ type: 'image', source: png },
		];
		expect(messages.request({ messages: [{ role: 'user', content }] }).texts.map(({ text }) => text)).toEqual([drawing, drawing]);
		const picture = { type: 'image_url', image_url: { url: `data:image/png;base64,${encodedDrawing}` } };
		expect(chat.request({ messages: [{ role: 'user', content: [picture] }] }).texts).toEqual([]);
	});
});

describe('text views', () => {
	it('chat completions: shows every text of a request with its path', () => {
		const view = chat.request({
			model: 'm',
			messages: [
				{ role: 'system', content: 's' },
				{
					role: 'user',
					name: 'ann',
					content: [
						{ type: 'text', text: 't' },
						{ type: 'image_url', image_url: {} },
						{ type: 'hologram', says: 'x' },
					],
				},
				{
					role: 'assistant',
					content: null,
					refusal: 'r',
					reasoning_content: 'why',
					tool_calls: [{ function: { name: 'f', arguments: '{"a":1}' } }, { custom: { name: 'g', input: 'raw' } }],
				},
				{ role: 'tool', tool_call_id: 'c', content: 'result' },
			],
			tools: [{ function: { name: 'f', description: 'd' } }],
			response_format: { type: 'json_schema' },
			user: 'u',
			metadata: { a: 'b' },
			vendor_prompt: 'v',
		});
		expect(shown(view)).toEqual([
			'system text messages.0.content s',
			'user text messages.1.content.0.text t',
			'user other messages.1.content.2 json {"type":"hologram","says":"x"}',
			'user name messages.1.name ann',
			'assistant refusal messages.2.refusal r',
			'assistant reasoning messages.2.reasoning_content why',
			'assistant name messages.2.tool_calls.0.function.name f',
			'assistant tool_arguments messages.2.tool_calls.0.function.arguments json {"a":1}',
			'assistant name messages.2.tool_calls.1.custom.name g',
			'assistant tool_arguments messages.2.tool_calls.1.custom.input raw',
			'tool tool_result messages.3.content result',
			'system tool_definition tools.0 json {"function":{"name":"f","description":"d"}}',
			'user other response_format json {"type":"json_schema"}',
			'user other vendor_prompt v',
		]);
		expect(skipped(view)).toEqual(['image_url messages.1.content.1', 'hologram messages.1.content.2']);
	});

	it('messages: shows every text of a request with its path', () => {
		const view = messages.request({
			model: 'm',
			system: [{ type: 'text', text: 's' }],
			messages: [
				{
					role: 'user',
					content: [
						{ type: 'document', title: 't', source: { type: 'text', data: 'd' } },
						{ type: 'document', source: { type: 'base64', data: 'AAAA' } },
						{
							type: 'tool_result',
							content: [
								{ type: 'text', text: 'r' },
								{ type: 'image', source: {} },
							],
						},
						{ type: 'search_result', title: 'st', source: 'ss', content: [{ type: 'text', text: 'sc' }] },
					],
				},
				{
					role: 'assistant',
					content: [
						{ type: 'thinking', thinking: 'h', signature: 'x' },
						{ type: 'redacted_thinking', data: 'x' },
						{ type: 'tool_use', name: 'f', input: { to: 'a' } },
						{ type: 'web_search_tool_result', content: [{ title: 'w' }] },
					],
				},
			],
			tools: [{ name: 'f' }],
			metadata: { user_id: 'u' },
		});
		expect(shown(view)).toEqual([
			'system text system.0.text s',
			'user document messages.0.content.0.title t',
			'user document messages.0.content.0.source.data d',
			'tool tool_result messages.0.content.2.content.0.text r',
			'user document messages.0.content.3.title st',
			'user document messages.0.content.3.source ss',
			'user document messages.0.content.3.content.0.text sc',
			'assistant reasoning messages.1.content.0.thinking h',
			'assistant name messages.1.content.2.name f',
			'assistant tool_arguments messages.1.content.2.input json {"to":"a"}',
			'tool tool_result messages.1.content.3 json {"type":"web_search_tool_result","content":[{"title":"w"}]}',
			'system tool_definition tools.0 json {"name":"f"}',
		]);
		expect(skipped(view)).toEqual(['document messages.0.content.1', 'image messages.0.content.2.content.1']);
	});

	it('tells instructions and tool definitions from what others wrote', () => {
		const data = `data:text/plain;base64,${Buffer.from('file').toString('base64')}`;
		const tool = { type: 'function', name: 'f' };
		const instructions = ({ texts }: TextView): readonly string[] =>
			texts.filter(({ isInstruction }) => isInstruction).map(({ text }) => text);
		const chatView = chat.request({
			messages: [
				{ role: 'system', content: 'a' },
				{
					role: 'developer',
					name: 'n',
					content: [
						{ type: 'text', text: 'b' },
						{ type: 'file', file: { file_data: data } },
					],
				},
				{ role: 'user', content: 'c' },
				{ role: 'assistant', content: 'd' },
				{ role: 'tool', content: 'e' },
				{ role: 'System', content: 'f' },
			],
			tools: [tool],
			tool_choice: tool,
			vendor_prompt: 'v',
		});
		expect(instructions(chatView)).toEqual(['a', 'b', JSON.stringify(tool), JSON.stringify(tool)]);
		const document = { type: 'document', source: { type: 'text', data: 'file' } };
		const messagesView = messages.request({
			system: [{ type: 'text', text: 'a' }, document],
			messages: [
				{ role: 'user', content: ['b', { type: 'tool_result', content: 'c' }, document] },
				{ role: 'system', content: 'd' },
			],
			tools: [tool],
		});
		expect(instructions(messagesView)).toEqual(['a', 'd', JSON.stringify(tool)]);
		const responsesView = clientDialects.responses.textViews.request({
			instructions: 'a',
			input: [
				{ role: 'developer', content: [{ type: 'input_text', text: 'b' }] },
				{ role: 'user', content: 'c' },
				{ type: 'function_call_output', output: 'd' },
				{ type: 'mcp_list_tools', server_label: 's', tools: [{ name: 'remote' }] },
				{ type: 'additional_tools', tools: [{ name: 'own' }] },
			],
			tools: [tool],
		});
		expect(instructions(responsesView)).toEqual(['a', 'b', '{"name":"own"}', JSON.stringify(tool)]);
		const output = { output: [{ type: 'mcp_list_tools', tools: [{ name: 'remote' }] }] };
		expect(instructions(clientDialects.responses.textViews.response(output))).toEqual([]);
	});

	it('reports which texts of a request are joined: those of one turn, of the instructions, of one result', () => {
		const part = (text: string): object => ({ type: 'text', text });
		const threads = ({ texts }: TextView): readonly string[] =>
			[...Map.groupBy(texts, ({ segmentGroup }) => segmentGroup)].map(
				([segmentGroup, some]) => `${segmentGroup}: ${some.map(({ text }) => text).join(' ')}`,
			);
		expect(
			threads(
				chat.request({
					messages: [
						{ role: 'developer', content: 'a' },
						{ role: 'user', content: [part('b'), { type: 'image_url', image_url: {} }, part('c')] },
						{ role: 'user', name: 'n', content: 'd' },
						{ role: 'system', content: 'e' },
						{ role: 'assistant', content: [part('f'), { type: 'refusal', refusal: 'g' }], reasoning: 'h' },
						{ role: 'tool', content: [part('i'), part('j')] },
						{ role: 'tool', content: 'k' },
					],
				}),
			),
		).toEqual(['system: a e', 'messages.1: b c d', ': n h', 'messages.4: f g', 'messages.5: i j', 'messages.6: k']);
		expect(
			threads(
				messages.request({
					system: [part('a'), part('b')],
					messages: [
						{ role: 'user', content: [part('c'), { type: 'tool_result', content: [part('d'), part('e')] }, part('f')] },
						{ role: 'user', content: 'g' },
						{ role: 'assistant', content: [{ type: 'thinking', thinking: 'h' }, part('i'), { type: 'tool_use', name: 'n' }, part('j')] },
					],
				}),
			),
		).toEqual(['system: a b', 'messages.0: c f g', 'messages.0.content.1.content: d e', 'messages.2/thought: h', 'messages.2: i j', ': n']);
	});

	it('shows data that becomes text in transit: files of text, and their names', () => {
		const base64 = Buffer.from('grüße\nund so').toString('base64');
		const file = (file_data: string): JsonObject => ({
			messages: [{ role: 'user', content: [{ type: 'file', file: { filename: 'notes', file_data } }] }],
		});
		const written = file(`data:Text/Plain;charset=utf-8;base64,${base64}`);
		const view = chat.request(written);
		expect([shown(view), skipped(view)]).toEqual([
			['user document messages.0.content.0.file.filename notes', 'user document messages.0.content.0.file.file_data grüße\nund so'],
			[],
		]);
		const bytes = Buffer.from(JSON.stringify(written));
		const edited = spliceBody(bytes, textEdits(bytes, [[view.texts[1] as (typeof view.texts)[number], '[X] so']]));
		expect(edited.toString()).toBe(bytes.toString().replace(base64, Buffer.from('[X] so').toString('base64')));
		for (const other of ['data:application/pdf;base64,QUJD', 'QUJD', '']) {
			const unread = chat.request(file(other));
			expect([shown(unread).length, skipped(unread)]).toEqual([1, ['file messages.0.content.0.file']]);
		}
		const document = { type: 'document', source: { type: 'base64', media_type: 'text/csv', data: base64 } };
		expect(shown(messages.request({ messages: [{ role: 'user', content: [document] }] }))).toEqual([
			'user document messages.0.content.0.source.data grüße\nund so',
		]);
	});

	it('shows members that should be strings and are not, and unknown ones', () => {
		const of = (view: TextView): readonly string[] => shown(view).map((line) => line.replace(/^(\S+ ){2}/, ''));
		const odd = { role: 'user', name: ['n'], content: [{ type: 'text', text: ['t'], note: 'p' }], reasoning: { r: 1 } };
		expect(of(chat.request({ messages: [odd], web_search_options: { city: 'c' }, tool_choice: { name: 'f' } }))).toEqual([
			'messages.0.content.0.text json ["t"]',
			'messages.0.content.0.note p',
			'messages.0.reasoning json {"r":1}',
			'messages.0.name json ["n"]',
			'tool_choice json {"name":"f"}',
			'web_search_options json {"city":"c"}',
		]);
		const result = { type: 'tool_result', content: { type: 'text', text: 'r' }, note: 'b' };
		expect(
			of(messages.request({ messages: [{ role: 'user', content: [result], note: 'm' }], context_management: { edits: ['i'] } })),
		).toEqual([
			'messages.0.content.0.content json {"type":"text","text":"r"}',
			'messages.0.content.0.note b',
			'messages.0.note m',
			'context_management json {"edits":["i"]}',
		]);
	});

	it('shows finish reasons of responses, their tokens, and unknown members', () => {
		const stop_details = { type: 'refusal', explanation: 'because' };
		expect(shown(messages.response({ content: [], stop_details, note: 'n' }))).toEqual([
			'assistant refusal stop_details.explanation because',
			'assistant other note n',
		]);
		const end = { type: 'message_delta', delta: { stop_reason: 'refusal', stop_details }, usage: {}, note: 'n' };
		expect(shown(messages.event(end))).toEqual(['assistant refusal delta.stop_details.explanation because', 'assistant other note n']);
		const token = (piece: string): object => ({ token: piece, top_logprobs: [{ token: `${piece}!` }, { token: 'x' }] });
		const choice = { index: 1, text: 't', logprobs: { content: [token('a'), token('b')] }, note: 'c' };
		const expected = [
			'assistant text choices.0.text t',
			'assistant other choices.0.logprobs ab',
			'assistant other choices.0.logprobs a!\nx\nb!\nx',
			'assistant other choices.0.note c',
			'assistant other output_text o',
		];
		const body = { id: 'i', choices: [choice], output_text: 'o', obfuscation: 'q' };
		expect([shown(chat.response(body)), shown(chat.event(body))]).toEqual([expected, expected]);
		expect(shown(chat.event({ choices: [{ message: { content: [{ type: 'text', text: 'm' }] } }] }))).toEqual([
			'assistant text choices.0.message.content.0.text m',
		]);
	});

	it.each(['openai', 'anthropic'])('misses no long text of the recorded requests and responses of %s', (provider) => {
		const views = provider === 'anthropic' ? messages : chat;
		const recordings = readRecordings(provider);
		expect(recordings.length).toBeGreaterThan(3);
		for (const { request, response } of recordings) {
			if (request !== undefined) expectAllVisible(request.body, views.request(request.body));
			if (response.status !== 200 || response.json === undefined) continue;
			expectAllVisible(response.json as JsonObject, views.response(response.json as JsonObject));
		}
	});
});

/** Requires all texts that contain a space, which excludes names, ids and data. */
function expectAllVisible(body: JsonObject, view: TextView): void {
	const all = view.texts.map(({ text }) => text).join('\n');
	const visit = (value: unknown, name: string): void => {
		if (typeof value === 'string') {
			if (value.includes(' ') && !/^(?:metadata|description|url|explanation)$/.test(name)) {
				expect([name, value, all.includes(value) || all.includes(JSON.stringify(value).slice(1, -1))]).toEqual([name, value, true]);
			}
		} else if (typeof value === 'object' && value !== null) for (const [key, item] of Object.entries(value)) visit(item, key);
	};
	visit(body, '');
}

describe('textEdits', () => {
	it('changes the one text and keeps every other byte', () => {
		const content = fc.string({ unit: 'binary', minLength: 1 }).map((text) => text.toWellFormed());
		fc.assert(
			fc.property(fc.array(content, { minLength: 1, maxLength: 5 }), fc.nat(4), fc.nat(3), (texts, which, indent) => {
				const index = which % texts.length;
				const body = {
					'é"k': [1.0, true, null, 'x,}'],
					messages: texts.map((text) => ({ role: 'user', content: [{ type: 'text', text }] })),
					z: {},
				};
				const bytes = Buffer.from(JSON.stringify(body, null, indent));
				const viewed = chat.request(body).texts.find(({ path }) => path[1] === index && path[0] === 'messages');
				if (viewed === undefined) throw new Error('the text is not shown');
				const edited = spliceBody(bytes, textEdits(bytes, [[viewed, '[X] "é"']]));
				const expected = structuredClone(body);
				const part = expected.messages[index]?.content[0];
				if (part !== undefined) part.text = '[X] "é"';
				expect(edited.toString()).toBe(JSON.stringify(expected, null, indent));
			}),
		);
	});

	it('changes single strings of a JSON value: white space, long numbers and escapes of the others stay', () => {
		const input = '{ "to" : "jane@x.org",\n\t"n": 12345678901234567890, "e": 1.50, "u": "\\u00e9" }';
		const bytes = Buffer.from(`{"messages": [{"role":"assistant","content":[{"type":"tool_use","name":"f","input": ${input}}]}]}`);
		const viewed = messages.request(JSON.parse(bytes.toString()) as JsonObject).texts.find(({ part }) => part === 'tool_arguments');
		if (viewed === undefined) throw new Error('the input is not shown');
		const edited = spliceBody(bytes, textEdits(bytes, [[viewed, viewed.text.replace('jane@x.org', '[EMAIL]')]]));
		expect(edited.toString()).toBe(bytes.toString().replace('jane@x.org', '[EMAIL]'));
	});
});
