import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { guardrailsWith, piiRules } from '../../../test/support/guarded-gateway.ts';
import type { RuleAction } from './guardrail.ts';
import { compileGuardrails, type GuardrailSettings, type Guardrails } from './guardrails.ts';

const settings = guardrailsWith({ pii: piiRules('block'), words: { entries: ['projekt falke', 'darkfish', 'bomb'], action: 'block' } });

function compile(changes: Partial<GuardrailSettings> = {}): Guardrails {
	const steps = compileGuardrails({ ...settings, ...changes }, undefined);
	for (;;) {
		const step = steps.next();
		if (step.done === true) return step.value;
	}
}

const everything = (action: RuleAction): Partial<GuardrailSettings> => ({
	pii: piiRules(action),
	words: { ...settings.words, action },
});
const blocking = compile();
const masking = compile(everything('mask'));

/** Returns the delivered text, for any chunking; undefined if it was blocked. */
function stream(guardrails: Guardrails, pieces: readonly string[], isJson = false): { visible: string; isBlocked: boolean } {
	const window = guardrails.createHeldBackWindow(isJson, 'team');
	const text = pieces.join('');
	let visible = '';
	let released = 0;
	const release = (): void => {
		const until = window.releasable;
		if (window.isBlocked || until <= released) return;
		visible += window.visible(text.slice(released, until), released);
		released = until;
	};
	for (const piece of pieces) {
		window.push(piece);
		release();
	}
	window.end();
	release();
	return { visible, isBlocked: window.isBlocked };
}

function cutAt(text: string, ...positions: readonly number[]): readonly string[] {
	const ends = [...positions.toSorted((one, other) => one - other), text.length];
	return ends.map((end, index) => text.slice(index === 0 ? 0 : ends[index - 1], end));
}

const secrets = [
	'4111 1111 1111 1111',
	'4111111111111111',
	'078-05-1120',
	'jane.doe@example.com',
	'+1 415 555 2671',
	'(415) 555-2671',
	'GB82 WEST 1234 5698 7654 32',
	'jane.doe@example.com (at) example [dot] com',
	'192.168.17.20',
	'2001:db8::8a2e:370:7334',
	'AKIAIOSFODNN7EXAMPLE',
	'projekt falke',
	'd a r k f i s h',
	'd\u200ba\u200brk\u200bfish',
	'daaaarkfish',
	'ｂｏｍｂ',
	'４１１１１１１１１１１１１１１１',
	'ɓ0мb',
];

describe('createHeldBackWindow', () => {
	it.each(secrets)('delivers no character of %j however it is cut into three, and all before it', (secret) => {
		const before = 'Größe 漢字 it is: ';
		const text = `${before}${secret}, and 12 more`;
		for (let first = 0; first <= text.length; first++) {
			for (let second = first; second <= text.length; second += 3) {
				const { visible, isBlocked } = stream(blocking, cutAt(text, first, second));
				expect(isBlocked).toBe(true);
				expect(before.startsWith(visible)).toBe(true);
			}
		}
	});

	it.each(secrets)('puts a label in place of %j however it is cut', (secret) => {
		const text = `it is: ${secret}, and 12 more`;
		const whole = stream(masking, [text]).visible;
		expect(whole).toMatch(/^it is: \[[A-Z_]+\], and 12 more$/);
		for (let first = 0; first <= text.length; first++) {
			for (let second = first; second <= text.length; second += 2) {
				expect(stream(masking, cutAt(text, first, second)).visible).toBe(whole);
			}
		}
	});

	it('finds what JSON escapes hide, however the escapes are cut', () => {
		for (const written of ['jane\\u0040example.com', '4111\\u0020111111111111', 'pro\\u006aekt\\tfalke']) {
			const text = `{"to":"${written}","n":1}`;
			for (let first = 0; first <= text.length; first++) {
				for (let second = first; second <= text.length; second++) {
					const pieces = cutAt(text, first, second);
					expect('{"to":"'.startsWith(stream(blocking, pieces, true).visible)).toBe(true);
					expect(JSON.parse(stream(masking, pieces, true).visible)).toEqual({ to: expect.stringMatching(/^\[[A-Z]+\]$/) as unknown, n: 1 });
				}
			}
		}
	});

	it('keeps JSON whole where a number is masked', () => {
		expect(stream(masking, ['{"card":41111111', '11111111,"x":2}'], true).visible).toBe('{"card":"[CARD]","x":2}');
	});

	it('delivers clean text unchanged, whatever it is and however it is cut', () => {
		const piece = fc.oneof(
			fc.string({ unit: 'binary', maxLength: 30 }),
			fc.constantFrom(' ', 'the ', '12', '3.', '@', 'bo', 'm', 'dark', 'a@b', '+1 (', '&#9', '\\u00', '\ud83d', '4111 ', ':', '.\n'),
		);
		fc.assert(
			fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
				const { visible, isBlocked } = stream(blocking, pieces);
				if (!isBlocked) expect(visible).toBe(pieces.join(''));
			}),
			{ numRuns: 500 },
		);
	});

	it('finds the same in a stream as in the whole', () => {
		const part = fc.constantFrom(
			...secrets,
			' ',
			', ',
			'and ',
			'boo',
			'the dark',
			'12',
			'-',
			'7',
			'x',
			'漢',
			'\n',
			'. ',
			'call me on ',
			'0',
		);
		fc.assert(
			fc.property(fc.array(part, { maxLength: 12 }), fc.array(fc.nat(200), { maxLength: 6 }), (parts, cuts) => {
				const text = parts.join('');
				const pieces = cutAt(text, ...cuts.filter((cut) => cut < text.length));
				expect(stream(masking, pieces).visible).toBe(stream(masking, [text]).visible);
			}),
			{ numRuns: 1000 },
		);
	});

	it('delivers nothing once it is blocked, not even decided text', () => {
		const window = blocking.createHeldBackWindow(false, 'team');
		window.push('All of this is fine. But the darkfish, and so on and on. ');
		expect([window.isBlocked, window.releasable]).toEqual([true, 0]);
		window.end();
		expect(window.releasable).toBe(0);
	});

	it('waits for a word or two, not for a window', () => {
		const window = blocking.createHeldBackWindow(false, 'team');
		window.push('The quick brown fox jumps over the lazy cat');
		expect(window.releasable).toBeGreaterThanOrEqual('The quick brown fox jumps over the lazy'.length);
	});
});

describe('monitor mode', () => {
	const trying = compile({ ...everything('block'), pii: piiRules('mask'), monitored: ['pii.card', 'words.listed'] });
	const found = (guardrails: Guardrails, text: string): string[] => {
		const evaluation = guardrails.evaluate(
			[{ text, isJson: false, role: 'user', part: 'text', path: [], segmentGroup: '' } as never],
			'input',
			'team',
		);
		while (!evaluation.run(1000));
		return evaluation.findings.map(({ category, action, monitored }) => `${category} ${action} ${monitored}`);
	};

	it('of one rule assesses what enforcement would do, and leaves the other rules enforced', () => {
		expect(found(trying, 'darkfish 4111 1111 1111 1111 jane.doe@example.com')).toEqual(
			expect.arrayContaining(['listed NONE BLOCK', 'card NONE MASK', 'email MASK undefined']),
		);
	});

	it('without enforcement is the mode of all rules; a rule that logs would do nothing', () => {
		expect(found(compile({ isEnforced: false }), 'darkfish')).toEqual(['listed NONE BLOCK']);
		expect(found(compile(everything('log')), 'darkfish')).toEqual(['listed NONE undefined']);
	});

	it('holds back no text of a stream', () => {
		const window = compile({ pii: piiRules('none'), monitored: ['words.listed'] }).createHeldBackWindow(false, 'team');
		window.push('projekt');
		expect(window.releasable).toBe(7);
		window.push(' falke');
		expect([window.releasable, window.isBlocked]).toEqual([13, false]);
		window.end();
		expect(window.findings).toMatchObject([{ category: 'listed', action: 'NONE', monitored: 'BLOCK' }]);
	});
});
