import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nearestName } from '../core/nearest-name.ts';
import { escapeInterpolation, interpolate } from './interpolate.ts';
import { parseConfig } from './load.ts';
import { ConfigError } from './problem.ts';
import { configSchema } from './schema.ts';

const sections = Object.keys(configSchema.shape);

function accepted(text: string): boolean {
	try {
		parseConfig(text, { file: 'tollgate.yaml', env: {} });
		return true;
	} catch (cause) {
		if (!(cause instanceof ConfigError)) throw cause;
		expect(cause.problems.length).toBeGreaterThan(0);
		for (const { line, column } of cause.problems) {
			if (line !== null) expect(line).toBeLessThanOrEqual(text.split(/\r\n|\r|\n/).length + 1);
			if (column !== null) expect(column).toBeGreaterThan(0);
		}
		return false;
	}
}

describe('garbage', () => {
	it('of text is rejected with problems, never with anything else', () => {
		const piece = fc.oneof(
			fc.constantFrom(
				...sections,
				': ',
				':',
				'\n',
				'\n  ',
				'- ',
				'? ',
				'{',
				'}',
				'[',
				']',
				',',
				'&a ',
				'*a',
				'!x ',
				'!!str ',
				'|',
				'>',
				'"',
				"'",
			),
			fc.constantFrom(
				'${',
				'${X}',
				'$${',
				'#',
				'---',
				'...',
				'%YAML 1.1\n---\n',
				'\t',
				'<<',
				'__proto__',
				'null',
				'~',
				'.nan',
				'0x1f',
				'\u0000',
				'\ufeff',
			),
			fc.string({ maxLength: 5, unit: 'binary' }),
		);
		fc.assert(
			fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
				accepted(pieces.join(''));
			}),
			{ numRuns: 700 },
		);
	});

	it('of values under real keys is rejected with problems, never with anything else', () => {
		const key = fc.constantFrom(
			...sections,
			...[
				'listen',
				'clients',
				'registered',
				'provider_a',
				'base_url',
				'api_key',
				'api_key_file',
				'headers',
				'deployments',
				'aliases',
				'kind',
			],
			...[
				'preset',
				'sandbox',
				'unregistered_clients',
				'tier',
				'rules',
				'per_ip',
				'id',
				'secret',
				'constructor',
				'toString',
				'hasOwnProperty',
			],
		);
		const { tree } = fc.letrec((tie) => ({
			tree: fc.oneof(
				{ maxDepth: 4 },
				fc.jsonValue({ maxDepth: 1 }),
				fc.constantFrom('openai', 'provider_a/x', 'http://127.0.0.1', '127.0.0.1:1', '${X:-1}', -1, 0, 1e300),
				fc.dictionary(key, tie('tree'), { maxKeys: 5 }),
				fc.array(tie('tree'), { maxLength: 3 }),
			),
		}));
		fc.assert(
			fc.property(fc.dictionary(key, tree, { maxKeys: 6 }), (value) => {
				accepted(JSON.stringify(value));
			}),
			{ numRuns: 700 },
		);
		expect(({} as Record<string, unknown>)['tier']).toBeUndefined();
	});

	it.each(['[', '{a: ', '- ', '? ', '&a [*a, '])('of %j many times over ends soon', (piece) => {
		expect(accepted(piece.repeat(20_000))).toBe(false);
	});

	it('of twenty thousand keys ends soon', () => {
		expect(accepted(Array.from({ length: 20_000 }, (_, index) => `k${index}: 1`).join('\n'))).toBe(false);
	});
});

describe('interpolate', () => {
	it('gives back what was escaped', () => {
		const text = fc
			.array(fc.oneof(fc.constantFrom('$', '{', '}', '${', '$${', '${A}', ':-'), fc.string({ maxLength: 3 })))
			.map((parts) => parts.join(''));
		fc.assert(
			fc.property(text, (original) => {
				expect(interpolate(escapeInterpolation(original), { A: 'wrong' })).toEqual({ text: original, problems: [] });
			}),
		);
	});

	it('puts in what the variable holds, whatever that is', () => {
		fc.assert(
			fc.property(fc.string(), fc.string(), fc.string(), (before, value, after) => {
				const source = `${escapeInterpolation(before.replaceAll('$', ''))}\${NAME}${escapeInterpolation(after)}`;
				expect(interpolate(source, { NAME: value }).text).toBe(before.replaceAll('$', '') + value + after);
			}),
		);
	});

	it.each([
		['${A:-x}', 'x'],
		['${EMPTY:-x}', 'x'],
		['${EMPTY}', ''],
		['${A:-}', ''],
		['${A:-a:-b}', 'a:-b'],
		['${SET:?needed}', 'v'],
		['a${SET}b${SET}', 'avbv'],
		['$SET', '$SET'],
	])('%s is %j', (source, text) => {
		expect(interpolate(source, { EMPTY: '', SET: 'v' })).toEqual({ text, problems: [] });
	});

	it.each(['${A}', '${EMPTY:?}', '${A:?needed}', '${', '${}', '${1}', '${A', '${A-x}', '${toString}', '${__proto__}'])(
		'%s is a problem',
		(source) => {
			expect(interpolate(source, { EMPTY: '' }).problems).toHaveLength(1);
		},
	);
});

describe('nearestName', () => {
	it.each([
		['max_body_byte', 'max_body_bytes'],
		['maxBodyBytes', 'max_body_bytes'],
		['max-body-bytes', 'max_body_bytes'],
		['lisetn', 'listen'],
		['zzz', undefined],
		['', undefined],
	])('%j: %j', (name, expected) => {
		expect(nearestName(name, ['listen', 'max_body_bytes', 'workers'])).toBe(expected);
	});

	it('finds every known name under one wrong letter', () => {
		fc.assert(
			fc.property(fc.constantFrom(...sections), fc.nat(), fc.constantFrom('q', 'x', ''), (name, seed, letter) => {
				const index = seed % name.length;
				const misspelt = name.slice(0, index) + letter + name.slice(index + 1);
				fc.pre(misspelt.length > 2);
				expect(nearestName(misspelt, [name])).toBe(name);
			}),
		);
	});

	it('takes a long name in its stride', () => {
		expect(nearestName('a'.repeat(1_000_000), sections)).toBeUndefined();
	});
});
