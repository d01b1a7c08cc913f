import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runSynchronously } from '../core/cooperative-task.ts';
import type { ClientDialectName } from '../core/dialect-name.ts';
import { clientDialects } from './dialects/dialects.ts';
import { type JsonObject, parseBody } from './json/parse-body.ts';
import { type RepairTarget, repairingSteps } from './repair-parameters.ts';

const wanted = new Set(['model', 'max_tokens', 'max_completion_tokens']);

interface Repaired {
	readonly text: string;
	readonly warnings: readonly string[];
}

type Target = Partial<RepairTarget> & Pick<RepairTarget, 'knownAs'> & { readonly format?: ClientDialectName };

function repaired(text: string, { format = 'chat', ...target }: Target): Repaired {
	const body = parseBody(Buffer.from(text), wanted);
	const repair = clientDialects[format].repair(body.members, {
		isListed: () => true,
		said: {},
		anthropicVersion: () => undefined,
		...target,
	});
	if (repair === undefined) return { text, warnings: [] };
	const after = runSynchronously(repairingSteps(body, repair, wanted));
	expect(after.members).toEqual(JSON.parse(after.bytes.toString()));
	for (const [name, { start, end }] of after.ranges) {
		expect(JSON.parse(after.bytes.toString('utf8', start, end))).toEqual(after.members[name]);
	}
	return { text: after.bytes.toString(), warnings: repair.warnings };
}

const renamed = 'max_tokens: sent as max_completion_tokens, the name that the model accepts';
const dropped = (name: string): string => `${name}: dropped because the model accepts only its default`;

describe('a chat-completions request to a reasoning model', () => {
	it.each(['o1', 'o3', 'o3-mini', 'o4-mini', 'gpt-5', 'gpt-5-mini', 'gpt-5.4', 'gpt-6-sol', 'ft:o4-mini:org::id'])(
		'has its cap renamed and its sampling dropped for %s, and keeps every other byte',
		(knownAs) => {
			const given = '{ "model":"m","max_tokens" : 1.0e2, "temperature":0.20,"seed":12345678901234567890 , "top_p": 0.9 }';
			expect(repaired(given, { knownAs })).toEqual({
				text: '{ "model":"m","max_completion_tokens" : 1.0e2, "seed":12345678901234567890 }',
				warnings: [renamed, dropped('temperature'), dropped('top_p')],
			});
		},
	);

	it('has its cap renamed however its name is written', () => {
		expect(repaired('{"\\u006dax\\u005ftokens":5}', { knownAs: 'o3' }).text).toBe('{"max_completion_tokens":5}');
	});

	it('loses the older of two caps', () => {
		expect(repaired('{"max_tokens":5,"max_completion_tokens":7,"n":1}', { knownAs: 'o3' })).toEqual({
			text: '{"max_completion_tokens":7,"n":1}',
			warnings: ['max_tokens: dropped because max_completion_tokens is set'],
		});
	});

	it.each([
		['{"max_tokens":5,"max_completion_tokens":null}', '{"max_completion_tokens":5}'],
		['{"max_completion_tokens":null , "max_tokens":5}', '{"max_completion_tokens":5}'],
	])('does not get two caps with one name: %s', (given, sent) => {
		expect(repaired(given, { knownAs: 'gpt-5' }).text).toBe(sent);
	});

	it.each([
		'{"max_completion_tokens":5}',
		'{"max_tokens":null,"temperature":null,"top_p":null}',
		'{"temperature":1,"top_p":1.0}',
		'{"temperature":"warm"}',
		'{"messages":[{"max_tokens":5,"temperature":0.2}]}',
	])('is unchanged if the model takes it, or if its provider explains it better: %s', (given) => {
		expect(repaired(given, { knownAs: 'gpt-5' })).toEqual({ text: given, warnings: [] });
	});

	it('keeps its sampling if it turns reasoning off at a model that supports it', () => {
		const given = '{"temperature":0.2,"reasoning_effort":"none"}';
		expect(repaired(given, { knownAs: 'gpt-5.2' }).text).toBe(given);
		expect(repaired(given, { knownAs: 'gpt-5' }).text).toBe('{"reasoning_effort":"none"}');
	});
});

const capped = '{"max_tokens":5,"temperature":0.2}';

describe('a model that no vendor lists', () => {
	it.each(['gpt-5-internal', 'o9', 'llama-5', 'gpt-5'])('is forwarded unchanged: %s', (knownAs) => {
		expect(repaired(capped, { knownAs, isListed: () => false })).toEqual({ text: capped, warnings: [] });
	});

	it('receives the fields that its operator configured', () => {
		const own = { knownAs: 'own', isListed: () => false };
		expect(repaired(capped, { ...own, said: { tokenParam: 'max_completion_tokens' } }).text).toBe(
			'{"max_completion_tokens":5,"temperature":0.2}',
		);
		expect(repaired(capped, { ...own, said: { sampling: 'none' } }).text).toBe('{"max_tokens":5}');
		expect(repaired(capped, { ...own, format: 'messages', said: { sampling: 'none' } }).text).toBe('{"max_tokens":5}');
	});

	it('follows its operator’s facts before its name', () => {
		const said = { tokenParam: 'max_tokens', sampling: 'full' } as const;
		expect(repaired(capped, { knownAs: 'gpt-5', said }).text).toBe(capped);
		expect(repaired(capped, { knownAs: 'claude-opus-4-8', format: 'messages', said }).text).toBe(capped);
	});
});

it.each(['gpt-4o', 'gpt-4.1-mini', 'gpt-3.5-turbo', 'chatgpt-4o-latest'])('%s accepts the request', (knownAs) => {
	expect(repaired(capped, { knownAs }).text).toBe(capped);
});

describe('a messages request', () => {
	const messages = { format: 'messages' } as const;
	const given = '{"max_tokens":9,"temperature":0.2 , "top_p":0.5,"top_k":40}';

	it.each(['claude-opus-4-7', 'claude-opus-4-8', 'claude-sonnet-4-6', 'claude-sonnet-5', 'claude-opus-5'])(
		'loses its sampling before %s',
		(knownAs) => {
			expect(repaired(given, { ...messages, knownAs })).toEqual({
				text: '{"max_tokens":9}',
				warnings: ['temperature', 'top_p', 'top_k'].map(dropped),
			});
		},
	);

	it.each(['claude-3-5-haiku-20241022', 'claude-sonnet-4-5', 'claude-haiku-4-5', 'claude-opus-4-6'])('keeps it before %s', (knownAs) => {
		expect(repaired(given, { ...messages, knownAs })).toEqual({ text: given, warnings: [] });
	});

	it('keeps defaults under the version of the API that accepts them, and loses them under the next', () => {
		const defaults = '{"temperature":1,"top_p":0.99,"max_tokens":9}';
		const at = (version: string): string =>
			repaired(defaults, { ...messages, knownAs: 'claude-opus-4-8', anthropicVersion: () => version }).text;
		expect(at('2023-06-01')).toBe(defaults);
		expect(at('2026-10-21')).toBe('{"max_tokens":9}');
	});
});

const space = fc.constantFrom('', ' ', '\n\t', '  ');
const number = fc.constantFrom('0', '1', '1.0', '0.99', '5', '1e0', '0.20', '-0', '12345678901234567890');
const repairable = ['max_tokens', 'max_completion_tokens', 'temperature', 'top_p', 'top_k', 'reasoning_effort'];
const member = fc.oneof(
	fc.tuple(fc.constantFrom(...repairable), fc.oneof(number, fc.constantFrom('null', '"none"', '{}'))),
	fc.tuple(
		fc.string({ unit: 'binary', maxLength: 12 }).filter((name) => !repairable.includes(name)),
		fc.oneof(
			number,
			fc.json(),
			fc.constantFrom('{"temperature":0.2,"max_tokens":5}', '"\\"max_tokens\\":5,"', '[{"top_p":0.1}]', '"temperature"'),
		),
	),
);
const bodies = fc.uniqueArray(fc.tuple(member, space, space, space, space), { selector: ([[name]]) => name, maxLength: 9 });

/** Writes a name as JSON does, or with each of its characters escaped. */
function written(name: string, isEscaped: boolean): string {
	if (!isEscaped) return JSON.stringify(name);
	return `"${Array.from({ length: name.length }, (_none, at) => `\\u${name.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`;
}

it('changes only the members that it names, in any body', () => {
	fc.assert(
		fc.property(
			bodies,
			fc.boolean(),
			fc.constantFrom('chat', 'messages'),
			fc.constantFrom('gpt-5', 'gpt-5.2', 'o3', 'gpt-4o', 'claude-opus-4-8', 'claude-sonnet-4-5', 'unknown'),
			fc.boolean(),
			(members, isEscaped, format, knownAs, isListed) => {
				const pieces = members.map(([[name, value], a, b, c, d]) => ({
					name,
					text: `${a}${written(name, isEscaped)}${b}:${c}${value}${d}`,
				}));
				const given = `{${pieces.map(({ text }) => text).join(',')}}`;
				const { text, warnings } = repaired(given, { format, knownAs, isListed: () => isListed });
				const before = JSON.parse(given) as JsonObject;
				const named = warnings.map((warning) => warning.slice(0, warning.indexOf(':')));
				if (!isListed || warnings.length === 0) {
					expect([text, warnings]).toEqual([given, []]);
					return;
				}
				expect(named.every((name) => ['max_tokens', 'temperature', 'top_p', 'top_k'].includes(name))).toBe(true);
				const after = JSON.parse(text) as JsonObject;
				const gone = new Set(named);
				const isRenamed = named.includes('max_tokens') && (before.max_completion_tokens ?? null) === null;
				if (isRenamed) expect(after.max_completion_tokens).toEqual(before.max_tokens);
				for (const name of gone) expect(after).not.toHaveProperty([name]);
				// In their order, with identical bytes of their values.
				const retained = pieces.filter(({ name }) => !gone.has(name) && !(isRenamed && name === 'max_completion_tokens'));
				let from = 0;
				for (const { text: piece } of retained) {
					const at = text.indexOf(piece.trim(), from);
					expect(at).toBeGreaterThanOrEqual(from);
					from = at + piece.trim().length;
				}
				expect(Object.keys(after)).toHaveLength(retained.length + Number(isRenamed));
			},
		),
		{ numRuns: 3000 },
	);
});
