import { describe, expect, it } from 'vitest';
import { viewOf } from '../../conversation/json-view.ts';
import { RequestWarnings } from '../../conversation/request-translation.ts';
import { offeredTools, readToolChoice, readTools } from './request-tools.ts';

const fn = (name: string): object => ({ type: 'function', name });

describe('offered tools of a Responses request', () => {
	it('are found in tools, namespaces, additional_tools and tool_search_output', () => {
		const offered = offeredTools({
			tools: [
				fn('top'),
				{ type: 'custom', name: 'patch' },
				{ type: 'namespace', name: 'fs', tools: [fn('read'), { type: 'custom', name: 'exec' }] },
				{ type: 'tool_search', execution: 'client' },
				{ type: 'web_search' },
			],
			input: [
				{ type: 'additional_tools', role: 'developer', tools: [{ type: 'namespace', name: 'team', tools: [fn('spawn')] }] },
				{ type: 'tool_search_output', call_id: 'c', tools: [fn('found')] },
			],
		});
		expect(Object.fromEntries(offered)).toEqual({
			top: { kind: 'function', name: 'top' },
			patch: { kind: 'custom', name: 'patch' },
			fs__read: { kind: 'function', name: 'read', namespace: 'fs' },
			fs__exec: { kind: 'custom', name: 'exec', namespace: 'fs' },
			tool_search: { kind: 'tool_search', name: 'tool_search' },
			team__spawn: { kind: 'function', name: 'spawn', namespace: 'team' },
			found: { kind: 'function', name: 'found' },
		});
	});

	it('have flat names of at most 64 characters that stay different', () => {
		const namespace = (name: string): object => ({ type: 'namespace', name, tools: [fn('a'.repeat(40))] });
		const names = [...offeredTools({ tools: [namespace(`${'n'.repeat(40)}1`), namespace(`${'n'.repeat(40)}2`)] }).keys()];
		expect(new Set(names).size).toBe(2);
		for (const name of names) expect(name).toMatch(/^[\w-]{1,64}$/);
	});

	it('can be chosen by a word or an object, and the error names both', () => {
		const request = viewOf({ tools: [fn('f')], tool_choice: 'sometimes' });
		const tools = readTools(request, new RequestWarnings());
		expect(() => readToolChoice(request, tools)).toThrow('`tool_choice` must be `none`, `auto`, `required` or an object');
	});

	it('are none in a request without definitions', () => {
		expect(offeredTools({ input: 'hello' }).size).toBe(0);
		expect(offeredTools({ tools: [null, 'x', { type: 'function' }], input: [null] }).size).toBe(0);
	});
});
