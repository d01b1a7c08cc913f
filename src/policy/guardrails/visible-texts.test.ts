/** Tests that disguises that readers do not see are resolved, for any chunking. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { guardrailsWith, piiRules } from '../../../test/support/guarded-gateway.ts';
import { compileGuardrails, type Guardrails } from './guardrails.ts';
import { TextScan } from './text-scan.ts';
import { buildWordDetector } from './words/word-list.ts';

function done<Result>(steps: Generator<unknown, Result>): Result {
	for (;;) {
		const step = steps.next();
		if (step.done === true) return step.value;
	}
}

const guardrails: Guardrails = done(
	compileGuardrails(
		guardrailsWith({
			pii: piiRules('block'),
			words: { entries: ['darkfish', 'therapist'], action: 'block' },
			patterns: [{ name: 'ticket', pattern: 'TCK-[0-9]{6}', action: 'block' }],
		}),
		undefined,
	),
);

function isBlocked(text: string): boolean {
	const evaluation = guardrails.evaluate([{ text, isJson: false, segmentGroup: '' }], 'input', 'team');
	while (!evaluation.run(10_000));
	return evaluation.isBlocked;
}

const bidi = (text: string): string => `\u202e${Array.from(text).toReversed().join('')}\u202c`;
const percent = (text: string, times: number): string =>
	Array.from(text, (letter) => `%${'25'.repeat(times - 1)}${letter.charCodeAt(0).toString(16)}`).join('');
const svg = (text: string): string => `<svg xmlns="http://www.w3.org/2000/svg"><text x="1">${text}</text></svg>`;

const secrets = ['darkfish', '4111 1111 1111 1111', 'TCK-123456', 'jane@example.com'];

const disguises: Readonly<Record<string, (text: string) => string>> = {
	'an inline tag': (text) => `${text.slice(0, 4)}<b>${text.slice(4)}</b>`,
	'an empty element': (text) => `${text.slice(0, 4)}<span class="x" data-y='z'></span>${text.slice(4)}`,
	'a tag after each letter': (text) => Array.from(text, (letter) => `<i>${letter}</i>`).join(''),
	'a comment': (text) => `${text.slice(0, 3)}<!-- nothing > here -->${text.slice(3)}`,
	'comments after each letter': (text) => Array.from(text).join('<!---->'),
	'an unknown tag': (text) => `${text.slice(0, 4)}<x-y z>${text.slice(4)}`,
	'a tag with a sign in quotes': (text) => `${text.slice(0, 4)}<b title="a>b" y='<'>${text.slice(4)}</b>`,
	'a long attribute': (text) => `${text.slice(0, 4)}<b class="${'a'.repeat(600)}">${text.slice(4)}</b>`,
	'empty comments': (text) => `${text.slice(0, 2)}<!>${text.slice(2, 4)}<!-->${text.slice(4, 5)}<!--->${text.slice(5)}`,
	'a comment that ends in --!>': (text) => `${text.slice(0, 4)}<!-- <b> - --!>${text.slice(4)}`,
	'a closing tag without a name': (text) => `${text.slice(0, 2)}</>${text.slice(2, 4)}</ x>${text.slice(4)}`,
	'CDATA sections': (text) => `<![CDATA[${text.slice(0, 4)}]]><![CDATA[${text.slice(4)}]]>`,
	'an escaped tag': (text) => `${text.slice(0, 4)}&lt;b&gt;${text.slice(4)}`,
	'a percent-encoded tag': (text) => `${text.slice(0, 4)}%253Cb%253E${text.slice(4)}`,
	'a percent-encoded zero-width space': (text) => `${text.slice(0, 4)}%E2%80%8B${text.slice(4)}`,
	'a named zero-width space': (text) => `${text.slice(0, 4)}&ZeroWidthSpace;&lrm;${text.slice(4)}`,
	'an escaped override': (text) => `&#x202e;${Array.from(text).toReversed().join('')}&#x202c;`,
	'an element that is written from right to left': (text) => `<bdo dir="rtl">${Array.from(text).toReversed().join('')}</bdo>`,
	'isolates around halves': (text) => `\u2066${text.slice(0, 4)}\u2069\u2068${text.slice(4)}\u2069`,
	'an SVG in base64 in lines': (text) =>
		`![](data:image/svg+xml;base64,${Buffer.from(svg(text)).toString('base64').replaceAll(/.{40}/g, '$&\r\n')})`,
	'an SVG behind an escaped colon': (text) => `![](data%3Aimage/svg%2Bxml;base64,${Buffer.from(svg(text)).toString('base64')})`,
	'a page in base64': (text) => `![](data:text/html;base64,${Buffer.from(`<p>${text}</p>`).toString('base64')})`,
	'a right-to-left override': bidi,
	'overrides of halves': (text) => bidi(text.slice(0, 4)) + bidi(text.slice(4)),
	'an override to the end of the line': (text) => `\u202e${Array.from(text).toReversed().join('')}`,
	'an override and a tag': (text) => bidi(text).replace(/^(.{4})/, '$1<b></b>'),
	'an SVG in base64': (text) => `![](data:image/svg+xml;base64,${Buffer.from(svg(text)).toString('base64')})`,
	'an SVG that is percent-encoded': (text) => `![](data:image/svg+xml;utf8,${encodeURIComponent(svg(text)).replaceAll(/[()]/g, '')})`,
	'an SVG of pieces': (text) => {
		const pieces = svg(`<tspan>${text.slice(0, 4)}</tspan><tspan>${text.slice(4)}</tspan>`);
		return `<img src="data:image/svg+xml;charset=utf-8;base64,${Buffer.from(pieces).toString('base64')}">`;
	},
};

/** Text before the first character of a secret: tags, comments, override signs, the beginning of a picture. */
const harmlessHead = /^(?:(?:<[^>,]*>?)*,?|\u202e|\u2066|&[#\w]*;?|!\[?\]?(?:\([^,]*,?)?)$/;

/** Operators' patterns match characters literally, including invisible ones. */
const invisible = new Set(['a percent-encoded zero-width space', 'a named zero-width space', 'isolates around halves']);

describe.each(Object.entries(disguises))('%s', (name, disguise) => {
	const hidden = secrets.filter((secret) => !invisible.has(name) || !secret.startsWith('TCK'));

	it.each(hidden)('does not hide %j', (secret) => {
		expect(isBlocked(`So it is: ${disguise(secret)}\nand on.`)).toBe(true);
	});

	it.each(hidden)('gives nothing of %j away in a stream, however it is cut', (secret) => {
		const before = 'So it is: ';
		const text = `${before}${disguise(secret)}\nand on.`;
		fc.assert(
			fc.property(fc.array(fc.nat(text.length), { maxLength: 12 }), (cuts) => {
				const window = guardrails.createHeldBackWindow(false, 'team');
				let from = 0;
				let remaining = 0;
				for (const to of [...cuts.toSorted((one, other) => one - other), text.length]) {
					window.push(text.slice(from, to));
					from = to;
					remaining = Math.max(remaining, window.releasable);
				}
				window.end();
				expect(window.isBlocked).toBe(true);
				expect(text.slice(before.length, remaining)).toMatch(harmlessHead);
			}),
			{ numRuns: 200 },
		);
	});
});

describe('escapes', () => {
	it.each([
		['references without semicolons', (letter: string) => `&#${letter.codePointAt(0)}`],
		['padded references', (letter: string) => `&#0000${letter.codePointAt(0)};`],
		['padded hexadecimal references', (letter: string) => `&#x000${letter.codePointAt(0)?.toString(16)};`],
		['escapes in braces', (letter: string) => `\\u{${letter.codePointAt(0)?.toString(16)}}`],
		['%u', (letter: string) => `%u00${letter.codePointAt(0)?.toString(16)}`],
		[
			'percent-encoded full-width letters',
			(letter: string) => encodeURIComponent(String.fromCodePoint((letter.codePointAt(0) ?? 0) + 0xfee0)),
		],
	])('%s do not hide words or personal data', (_name, escape) => {
		for (const secret of ['darkfish', '4111111111111111', 'jane@example.com', '078-05-1120']) {
			expect([secret, isBlocked(`It is ${Array.from(secret, escape).join('')} now`)]).toEqual([secret, true]);
		}
	});
});

describe('percent-encoding', () => {
	it.each([1, 2, 3, 4, 8])('%d times does not hide words or personal data', (times) => {
		for (const secret of ['darkfish', '4111111111111111', 'jane@example.com']) {
			expect([secret, isBlocked(`It is ${percent(secret, times)} now`)]).toEqual([secret, true]);
		}
	});

	it('of references to characters does not either', () => {
		for (const times of [1, 2, 3]) {
			const written = Array.from('darkfish', (letter) => `&${'amp;'.repeat(times)}#${letter.charCodeAt(0)};`).join('');
			expect([times, isBlocked(`It is ${written} now`)]).toEqual([times, true]);
		}
	});
});

describe('markup', () => {
	it.each([
		'<td>the</td><td>rapist</td>',
		'the<br>rapist',
		'if (dark <b && c> of fish) return;',
		'dark < 5, and fish > dark',
		'Array<dark> of fish',
		'We say <b>dark</b> and <i>fish</i>.',
		'\u202btext for right to left\u202c dark and \u2067fish\u2069',
	])('%j holds no listed word', (text) => {
		expect(isBlocked(text)).toBe(false);
	});

	it('is read too: attributes, comments and names of tags', () => {
		for (const text of ['<a title="darkfish">x</a>', '<!-- darkfish -->', 'a <darkfish> b']) {
			expect([text, isBlocked(text)]).toEqual([text, true]);
		}
	});

	it('goes with the word it stands in when that is masked', () => {
		const masking = done(compileGuardrails(guardrailsWith({ words: { entries: ['darkfish'], action: 'mask' } }), undefined));
		const evaluation = masking.evaluate(
			[{ text: 'a dark<b>fish</b> or d<!-- x -->arkfish!', isJson: false, segmentGroup: '' }],
			'input',
			'team',
		);
		while (!evaluation.run(10_000));
		expect(evaluation.maskedText(0)).toBe('a [WORD]</b> or [WORD]!');
	});

	it('finds the same in JSON', () => {
		const scan = new TextScan([done(buildWordDetector(['darkfish']))], true);
		expect(scan.end('{"q":"a dark\\u003cb\\u003efi\\u0073h"}')).toEqual([
			expect.objectContaining({ start: 8, end: 34, isInString: true, isMaskable: true }),
		]);
	});
});
