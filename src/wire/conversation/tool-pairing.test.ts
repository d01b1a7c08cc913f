import { describe, expect, test } from 'vitest';
import type { Capability, ToolCall, ToolResult } from './conversation.ts';
import { inOrderOfCalls, type PairingWords, resultParts, ToolPairing } from './tool-pairing.ts';

const words: PairingWords = {
	unsupported: 'is unasked',
	repeatedResult: 'is repeated',
	pendingCalls: 'is unanswered',
	unsupportedMember: '.id',
	repeatedCall: 'is used',
};

const anywhere: ReadonlySet<Capability> = new Set(['instructionsAnywhere']);
const discarded: ReadonlySet<Capability> = new Set();

function call(id: string): ToolCall {
	const given = { text: () => '{}', object: () => ({}) };
	return { type: 'call', at: { path: `calls.${id}` }, id, name: `tool_${id}`, arguments: given, signature: undefined };
}

function opened(...ids: readonly string[]): ToolPairing {
	const pairing = new ToolPairing(words);
	for (const id of ids) pairing.open(call(id));
	return pairing;
}

function response(pairing: ToolPairing, id: string): void {
	const at = { path: `results.${id}` };
	pairing.response({ type: 'result', at, call: pairing.callOf(id, at), content: id, isError: false });
}

const rejection = (param: string, rest: string): Error =>
	expect.objectContaining({ code: 'field_invalid', param, message: `\`${param}\` ${rest}` }) as Error;

describe('calls and results', () => {
	test('results stay in the order of the client, and are available in the order of their calls', () => {
		const pairing = opened('a', 'b', 'c');
		for (const id of ['c', 'a', 'b']) response(pairing, id);
		const turn = pairing.close();
		const idsOf = (results: readonly ToolResult[] = []): readonly string[] => results.map((one) => one.call.id);
		expect(idsOf(turn?.results)).toEqual(['c', 'a', 'b']);
		expect(turn === undefined ? [] : idsOf(inOrderOfCalls(turn))).toEqual(['a', 'b', 'c']);
		expect(pairing.close()).toBeUndefined();
	});

	test('a call without a result is rejected with its own path, the first one', () => {
		const pairing = opened('a', 'b', 'c');
		response(pairing, 'a');
		expect(() => pairing.close()).toThrow(rejection('calls.b.id', 'is unanswered'));
	});

	test('a result without an open call is rejected, and so is a second one', () => {
		const pairing = opened('a');
		expect(() => response(pairing, 'x')).toThrow(rejection('results.x', 'is unasked'));
		response(pairing, 'a');
		expect(() => response(pairing, 'a')).toThrow(rejection('results.a', 'is repeated'));
		pairing.close();
		expect(() => response(pairing, 'a')).toThrow(rejection('results.a', 'is unasked'));
	});

	test('two open calls of one id are rejected; after its result, the id is free', () => {
		const pairing = opened('a');
		expect(() => pairing.open(call('a'))).toThrow(rejection('calls.a.id', 'is used'));
		response(pairing, 'a');
		pairing.close();
		expect(() => pairing.open(call('a'))).not.toThrow();
	});

	test('instructions leave calls open only where the provider takes them anywhere', () => {
		const pairing = opened('a');
		expect(pairing.closeForInstructions(anywhere)).toBeUndefined();
		expect(() => pairing.closeForInstructions(discarded)).toThrow(rejection('calls.a.id', 'is unanswered'));
		response(pairing, 'a');
		expect(pairing.closeForInstructions(anywhere)?.results).toHaveLength(1);
	});

	test('a result without id belongs to the last call, if that is of its name', () => {
		const pairing = opened('a', 'b');
		expect([pairing.lastCallOf('tool_b'), pairing.lastCallOf('tool_a'), pairing.lastCallOf(undefined)]).toEqual([
			'b',
			undefined,
			undefined,
		]);
		expect(new ToolPairing(words).lastCallOf(undefined)).toBeUndefined();
	});
});

test('a result without visible text has no parts', () => {
	const result: ToolResult = { type: 'result', at: { path: 'r' }, call: call('a'), content: ' \n', isError: false };
	expect(resultParts(result)).toEqual([]);
	expect(resultParts({ ...result, content: 'x' })).toEqual([{ type: 'text', at: result.at, text: 'x' }]);
});
