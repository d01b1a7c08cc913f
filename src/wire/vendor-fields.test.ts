import { describe, expect, it } from 'vitest';
import { runSynchronously } from '../core/cooperative-task.ts';
import type { ClientDialectName } from '../core/dialect-name.ts';
import { clientDialects } from './dialects/dialects.ts';
import { parseBody } from './json/parse-body.ts';
import { removeVendorFieldsSteps } from './vendor-fields.ts';

function sent(format: ClientDialectName, text: string, knownAs: string): string {
	const body = parseBody(Buffer.from(text), new Set(['model']));
	const removing = removeVendorFieldsSteps(body, clientDialects[format].vendorFields, knownAs, new Set(['model']));
	const { body: outgoing, warnings } = runSynchronously(removing);
	const warnsOfLoss = format === 'responses' && outgoing !== body;
	expect(warnings).toEqual(warnsOfLoss ? ['input[1]: reasoning of another vendor dropped'] : []);
	if (outgoing.bytes.equals(body.bytes)) expect(outgoing).toBe(body);
	expect(outgoing.members).toEqual(JSON.parse(outgoing.bytes.toString()));
	const { start, end } = outgoing.ranges.get('model') ?? { start: 0, end: 0 };
	expect(outgoing.bytes.toString('utf8', start, end)).toBe('"m"');
	return outgoing.bytes.toString();
}

const chat = (message: string): string =>
	`{ "model":"m", "messages" : [ {"role":"user","content":"é"},${message} ],"seed":12345678901234567890}`;
const signed = '"extra_content":{"google":{"thought_signature":"c2ln"}}';
const call = '{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}';
const blocks = '"thinking_blocks":[{"type":"thinking","thinking":"t","signature":"s"}]';

describe('a conversation in chat completions', () => {
	it.each([
		[
			'a call’s signature',
			`{"role":"assistant","tool_calls":[ ${call} , ${signed} } , ${call}}]}`,
			`{"role":"assistant","tool_calls":[ ${call} } , ${call}}]}`,
		],
		['a message’s signature', `{${signed} , "role":"assistant","content":"1.0"}`, '{"role":"assistant","content":"1.0"}'],
		['Claude’s thinking', `{"role":"assistant",${blocks},"content":"x"}`, '{"role":"assistant","content":"x"}'],
		['what was thought', '{"role":"assistant","content":"x","reasoning_content":"r"}', '{"role":"assistant","content":"x"}'],
		[
			'all of them, at the end',
			`{"role":"assistant","content":"x", "reasoning_content":"r",${blocks}, ${signed}}`,
			'{"role":"assistant","content":"x"}',
		],
		[
			'what is beside others',
			'{"role":"assistant","content":"x","extra_content":{"mine":1,"google":{"thought_signature":"s"}}}',
			'{"role":"assistant","content":"x","extra_content":{"mine":1}}',
		],
		[
			'what is beside others of its vendor',
			'{"role":"assistant","content":"x","extra_content":{"google":{"thought_signature":"s","thought":true}}}',
			'{"role":"assistant","content":"x","extra_content":{"google":{"thought":true}}}',
		],
	])('loses %s before GPT, and no other byte', (_what, given, retained) => {
		expect(sent('chat', chat(given), 'gpt-5')).toBe(chat(retained));
	});

	it('keeps the fields of the model’s vendor', () => {
		const given = chat(`{"role":"assistant",${blocks},"reasoning_content":"r","tool_calls":[${call},${signed}}]}`);
		expect(sent('chat', given, 'google/gemini-3-pro')).toBe(given.replace(`${blocks},`, ''));
		expect(sent('chat', given, 'anthropic/claude-sonnet-4-5')).toBe(given.replace(`,${signed}`, ''));
		for (const open of ['deepseek-r2', 'gpt-oss-120b', 'eu-deployment']) {
			expect(sent('chat', given, open)).toBe(given.replace(`${blocks},`, '').replace(`,${signed}`, ''));
		}
	});

	it('stays unchanged if other vendors have such a field, or there is none', () => {
		for (const text of [
			chat('{"role":"assistant","content":"\\"extra_content\\" and \\"thinking_blocks\\""}'),
			chat('{"role":"assistant","content":"x","extra_content":{"theirs":1}}'),
			chat('{"role":"assistant","content":"x"}'),
			'{"model":"m","messages":"none","extra_content":1}',
			'{"model":"m","messages":[1,null],"thinking_blocks":1}',
		]) {
			expect(sent('chat', text, 'gpt-5')).toBe(text);
		}
	});
});

describe('a conversation in messages', () => {
	const use = '{"type":"tool_use","id":"t1","name":"f","input":{"n":12345678901234567890}';
	const unsigned = '{"type":"thinking","thinking":"t","signature":""}';
	const real = '{"type":"thinking","thinking":"t","signature":"EqQ"}';
	const turn = (...content: string[]): string => chat(`{"role":"assistant","content":[${content.join(', ')}]}`);

	it('loses OpenAI’s encrypted reasoning before Claude', () => {
		const thinking = '{"type":"thinking","thinking":"t","signature":"oai1.e30"}';
		const redacted = '{"type":"redacted_thinking","data":"oai1.e30"}';
		expect(sent('messages', turn(thinking, redacted, `${use}}`), 'claude-opus-4-8')).toBe(turn(`${use}}`));
		expect(sent('messages', turn(redacted, `${use}}`), 'claude-opus-4-8')).toBe(turn(`${use}}`));
	});

	it('loses another vendor’s signature before Claude, and unsigned thinking', () => {
		expect(sent('messages', turn(real, `${use},${signed}}`), 'claude-opus-4-8')).toBe(turn(real, `${use}}`));
		expect(sent('messages', turn(unsigned, `${use},${signed}}`), 'claude-opus-4-8')).toBe(turn(`${use}}`));
		expect(sent('messages', turn(`${use}}`, unsigned), 'claude-opus-4-8')).toBe(turn(`${use}}`));
	});

	it('loses a turn without other content', () => {
		const given = `{"model":"m","messages":[{"role":"user","content":"a"}, {"role":"assistant","content":[${unsigned}]}, {"role":"user","content":"b"}]}`;
		expect(sent('messages', given, 'claude-opus-4-8')).toBe(
			'{"model":"m","messages":[{"role":"user","content":"a"}, {"role":"user","content":"b"}]}',
		);
	});

	it('keeps unsigned thinking for vendors that sign nothing', () => {
		expect(sent('messages', turn(unsigned, `${use},${signed}}`), 'glm-5')).toBe(turn(unsigned, `${use}}`));
	});

	it('stays unchanged if Claude wrote all of it', () => {
		const text = turn(real, '{"type":"redacted_thinking","data":"x"}', '{"type":"text","text":"\\"signature\\":\\"\\""}');
		expect(sent('messages', text, 'claude-opus-4-8')).toBe(text);
	});
});

describe('a conversation of the Responses API', () => {
	const ours = '{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"tg1.AAAA"}';
	const theirs = '{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"gAAAA"}';
	const called = (id: string): string => `{${id}"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}`;
	const output = '{"type":"function_call_output","id":"fco_1","call_id":"c1","output":"x"}';
	const answer = (id: string): string => `{"type":"message",${id}"role":"assistant","content":[]}`;
	const conversation = (...items: string[]): string =>
		`{ "model":"m", "input" : [ ${['{"role":"user","content":"é"}', ...items].join(' , ')} ],"n":12345678901234567890}`;

	it('loses reasoning that the gateway encrypted, and the ids of its turn', () => {
		const given = conversation(ours, answer('"id":"msg_1",'), called('"id":"fc_1",'), ours, output, theirs, answer('"id":"msg_2",'));
		expect(sent('responses', given, 'gpt-5')).toBe(conversation(answer(''), called(''), output, theirs, answer('"id":"msg_2",')));
	});

	it('stays unchanged if OpenAI wrote all of it', () => {
		const given = conversation(theirs, called('"id":"fc_1",'), output, '{"role":"user","content":"tg1."}');
		expect(sent('responses', given, 'gpt-5')).toBe(given);
		for (const text of ['{"model":"m","input":"tg1."}', '{"model":"m","input":[1,null]}']) {
			expect(sent('responses', text, 'gpt-5')).toBe(text);
		}
	});
});
