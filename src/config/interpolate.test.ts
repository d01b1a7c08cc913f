import { describe, expect, it } from 'vitest';
import { workedMs } from '../../test/support/cpu-ms.ts';
import { escapeInterpolation, interpolate } from './interpolate.ts';

const env = { A: 'a', B: 'b', EMPTY: '', BRACES: '${A}' };

describe('interpolate', () => {
	it.each([
		['${A}-${B}', 'a-b'],
		['${EMPTY}', ''],
		['${NONE:-default}', 'default'],
		['${EMPTY:-default}', 'default'],
		['${A:-${NONE}}', 'a'],
		['${A:-${B}}', 'a'],
		['${NONE:-${B}}', 'b'],
		['<${NONE:-x${EMPTY:-${B}}y}>', '<xby>'],
		['${NONE:-$${A}}', '${A}'],
		['${A:?no ${NONE}}', 'a'],
		['$${A} $A } {', '${A} $A } {'],
		['${BRACES}', '${A}'],
	])('%s is %s', (source, text) => {
		expect(interpolate(source, env)).toEqual({ text, problems: [] });
	});

	it.each([
		['${NONE}', 'NONE is not set'],
		['${A:-x', 'starts a variable'],
		['${A-x}', 'starts a variable'],
		['${', 'starts a variable'],
		['${NONE:-${B}', 'starts a variable'],
		['${NONE:-${OTHER}}', 'OTHER is not set'],
		['${EMPTY:?set it to ${B}}', 'EMPTY is required: set it to b'],
		['${NONE:?}', 'NONE is required: it is not set'],
		['${NONE:-'.repeat(17), 'starts a variable'],
	])('%s is a problem: %s', (source, problem) => {
		expect(interpolate(source, env).problems.join()).toContain(problem);
	});

	it('takes time in proportion to the text, however it nests', () => {
		for (const part of ['${A:-', '${', '$${', '}', '${A}']) {
			expect(workedMs(() => interpolate(part.repeat(20_000), env))).toBeLessThan(200);
		}
	});

	it('gives back what was escaped', () => {
		const text = 'a ${A} $${B} ${';
		expect(interpolate(escapeInterpolation(text), env).text).toBe(text);
	});
});
