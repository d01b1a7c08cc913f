/** Tests that matches across several texts are found, masked and held back as in one text. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { guardrailsWith, piiRules } from '../../../../test/support/guarded-gateway.ts';
import type { RuleAction, SpanDetector } from '../guardrail.ts';
import { compileGuardrails, type GuardrailSettings, type Guardrails } from '../guardrails.ts';
import { TextScan } from '../text-scan.ts';
import type { BufferedSegment, SegmentPiece } from './buffered-segment.ts';
import { readSegmentGroup } from './segment-reading.ts';

function guardrails(action: RuleAction, changes: Partial<GuardrailSettings> = {}): Guardrails {
	const words = { entries: ['projekt falke', 'darkfish'], action };
	const steps = compileGuardrails({ ...guardrailsWith({ pii: piiRules(action), words }), ...changes }, undefined);
	for (;;) {
		const step = steps.next();
		if (step.done === true) return step.value;
	}
}

const blocking = guardrails('block');
const masking = guardrails('mask');
const noting = guardrails('mask', { isEnforced: false });

const secrets = [
	'4111 1111 1111 1111',
	'078-05-1120',
	'jane.doe@example.com',
	'+1 415 555 2671',
	'GB82 WEST 1234 5698 7654 32',
	'AKIAIOSFODNN7EXAMPLE',
	'projekt falke',
	'dаrk\u200bfish',
];

function cutAt(text: string, ...positions: readonly number[]): readonly string[] {
	const ends = [...positions, text.length];
	return ends.map((end, index) => text.slice(index === 0 ? 0 : ends[index - 1], end)).filter((part) => part !== '');
}

/** @returns the delivered parts of a thread; undefined if they are blocked. */
function evaluated(by: Guardrails, parts: readonly string[], segmentGroup = 'a'): readonly string[] | undefined {
	const texts = parts.map((text) => ({ text, isJson: false, segmentGroup }));
	const evaluation = by.evaluate(texts, 'input', 'team');
	evaluation.run(1e9);
	return evaluation.isBlocked ? undefined : parts.map((text, index) => evaluation.maskedText(index) ?? text);
}

describe('screening', () => {
	it.each(secrets)('finds %j over two and three parts, and puts one label in its place', (secret) => {
		const text = `it is: ${secret}, and 12 more`;
		for (let first = 1; first < text.length; first++) {
			for (const parts of [cutAt(text, first), cutAt(text, first, Math.min(text.length, first + 3))]) {
				expect([parts, evaluated(blocking, parts)]).toEqual([parts, undefined]);
				expect(evaluated(masking, parts)?.join('')).toMatch(/^it is: \[[A-Z_]+\], and 12 more$/);
			}
		}
	});

	it('finds what stands in one part alone, whatever the next begins with', () => {
		for (const secret of secrets) {
			for (const parts of [
				['a', secret, '5and'],
				[`see ${secret}`, 'x'],
				['x', secret],
				['7', `${secret} it is`],
			]) {
				expect([parts, evaluated(blocking, parts)]).toEqual([parts, undefined]);
			}
		}
	});

	it('finds what only a break between the parts makes a word of its own', () => {
		expect(evaluated(blocking, ['d a r k f i s', 'h and more'])).toBeUndefined();
		expect(evaluated(blocking, ['a dark', 'fish', 'and more'])).toEqual(['a dark', 'fish', 'and more']);
	});

	it('evaluates neither other threads nor texts without one', () => {
		expect(evaluated(blocking, ['dark', 'fish'], '')).toEqual(['dark', 'fish']);
		const texts = ['dark', 'fish'].map((text) => ({ text, isJson: false, segmentGroup: text }));
		const evaluation = blocking.evaluate(texts, 'input', 'team');
		evaluation.run(1e9);
		expect(evaluation.findings).toEqual([]);
	});

	it('finds what long parts end and begin with, and no more is read of them twice', () => {
		const long = 'It was a long day. '.repeat(3000);
		expect(evaluated(blocking, [`${long}dark`, `fish ${long}`])).toBeUndefined();
		expect(evaluated(masking, [`${long}see dark`, `fish ${long}`, 'end'])).toEqual([`${long}see [WORD]`, ` ${long}`, 'end']);
		const evaluation = blocking.evaluate(
			[long, long, long].map((text) => ({ text, isJson: false, segmentGroup: 'a' })),
			'input',
			'team',
		);
		let read = 0;
		while (!evaluation.run(1)) read++;
		// Texts in pieces of 1,024, once alone, and their ends in some more.
		expect(read).toBeLessThan((3 * long.length) / 1024 + 60);
	});

	it('finds what is found in the texts by themselves or read as one, in both ways of reading, and nothing else', () => {
		const filler = fc.constantFrom(
			' ',
			' '.repeat(300),
			'. '.repeat(200),
			'It was a long day. '.repeat(40),
			'漢字'.repeat(100),
			'😀'.repeat(70),
			'7 '.repeat(30),
			'x'.repeat(150),
			'jane.doe.'.repeat(20),
		);
		const piece = fc.oneof(
			filler,
			fc.constantFrom(...secrets),
			fc.constantFrom('SSN', ': ', '078 05 1120', '4', '111', '1', '@', 'a', '-'),
		);
		const whole = fc.array(piece, { minLength: 1, maxLength: 8 }).map((pieces) => pieces.join(''));
		const part = fc.tuple(whole, fc.array(fc.nat(), { maxLength: 6 })).map(([text, positions]) => {
			const ends = positions.map((position) => position % (text.length + 1)).toSorted((one, other) => one - other);
			return cutAt(text, ...ends);
		});
		fc.assert(
			fc.property(part, (parts) => {
				const isBlocked = [...parts, parts.join(''), parts.join('\n')].some((text) => evaluated(blocking, [text]) === undefined);
				expect(evaluated(blocking, parts) === undefined).toBe(isBlocked);
			}),
			{ numRuns: 1000 },
		);
	});

	it('does not extend a match beyond the text that is read twice', () => {
		for (let length = 90; length < 140; length++) {
			const parts = ['see', `${'y '.repeat(70).slice(0, length)} 411111111111111122223333`];
			expect(evaluated(blocking, parts)).toEqual(parts);
		}
	});

	it('judges what words on both sides of a cut say together', () => {
		const topics = [
			{ name: 'gambling', description: '', examples: ['free roulette wheel tricks'], keywords: [], action: 'block' as const },
		];
		const judging = guardrails('none', { topics });
		const long = 'It was a very long day and all went well. '.repeat(100);
		for (const parts of [
			['free roulette', 'wheel tricks'],
			['free roul', 'ette wheel tricks'],
			[`${long} free roulette`, `wheel tricks ${long}`],
			[`${long} free roul`, `ette wheel tricks ${long}`],
			'free roulette wheel tricks'.split(''),
			[`${long} free `, 'roulette ', `wheel ${long}`],
			[long, 'free', 'roulette', 'wheel', long],
		]) {
			expect([parts, evaluated(judging, parts)]).toEqual([parts, undefined]);
		}
		expect(evaluated(judging, [`free ${long}`, `${long} roulette wheel tricks`.slice(0, -20), long])).toBeDefined();
	});

	it.each(['\ufe0f', '，', '。', '\u3000', '\u200b ', "'", '漢', '\ue000', '😀'])(
		'judges words on both sides of a cut however many of %j stand between them',
		(padding) => {
			const topics = [
				{ name: 'gambling', description: '', examples: ['free roulette wheel tricks'], keywords: [], action: 'block' as const },
			];
			const judging = guardrails('none', { topics });
			const between = padding.repeat(60);
			for (const parts of [
				[`free roulette ${between}`, 'wheel tricks'],
				['free roulette', `${between} wheel tricks`],
			]) {
				expect([parts, evaluated(judging, parts)]).toEqual([parts, undefined]);
			}
		},
	);

	it.each([1, 40, 129, 257, 400, 520, 1100, 4000])(
		'reads texts of %i characters less than twice again, whatever is undecided of them',
		(length) => {
			let read = 0;
			const detector: SpanDetector = {
				find(text, isOpen) {
					read += text.length;
					return isOpen ? Math.max(0, text.length - 256) : text.length;
				},
			};
			const texts = Array.from({ length: 50_000 / length }, () => ({ text: 'x'.repeat(length) }));
			const indexes = [...texts.keys()];
			const openEnds = new Map(indexes.map((index) => [index, length > 512 ? length - 256 : 0]));
			const parts = {
				createScan: (isJson: boolean, context: string) => new TextScan([detector], isJson, context),
				beginClassifying: () => [],
			};
			for (const _ of readSegmentGroup({ texts, indexes, openEnds }, parts, { takeSpans() {}, takeClassification() {} }));
			// Joined texts without and with separators, which are read too.
			expect(read).toBeLessThan(2 * 2.5 * texts.length * (length + 1));
		},
	);

	it('reports each finding once, also without enforcement', () => {
		const of = (parts: readonly string[]): readonly string[] => {
			const evaluation = noting.evaluate(
				parts.map((text) => ({ text, isJson: false, segmentGroup: 'a' })),
				'input',
				'team',
			);
			evaluation.run(1e9);
			return evaluation.findings.map(({ category, action, index }) => `${category} ${action} ${index}`);
		};
		expect(of(['the darkfish, ', 'jane@example.com ', 'and so on'])).toEqual(['listed NONE 0', 'email NONE 1']);
		expect(of(['x', 'the dark', 'fish and 4111 1111', ' 1111 1111'])).toEqual(['listed NONE 1', 'card NONE 2']);
	});
});

/** Returns the delivered text of blocks that arrive in pieces; undefined if it was blocked. */
function streamed(
	by: Guardrails,
	blocks: readonly (readonly string[])[],
): { visible: readonly string[]; isBlocked: boolean; segment: BufferedSegment } {
	const segment = by.bufferSegment(false, 'team');
	const waiting: { piece: SegmentPiece; block: number }[] = [];
	const visible = blocks.map(() => '');
	const release = (): void => {
		while (waiting[0] !== undefined && !segment.isBlocked && segment.canLeave(waiting[0].piece)) {
			const { piece, block } = waiting[0];
			visible[block] += segment.visible(piece);
			waiting.shift();
		}
	};
	for (const [block, pieces] of blocks.entries()) {
		for (const text of pieces) {
			waiting.push({ piece: segment.push(`${block}`, text), block });
			release();
		}
	}
	segment.end();
	release();
	return { visible, isBlocked: segment.isBlocked, segment };
}

describe('a held thread', () => {
	it.each(secrets)('delivers no character of %j over two and three blocks, or one label', (secret) => {
		const before = 'Größe 漢字 it is: ';
		const text = `${before}${secret}, and 12 more`;
		for (let first = 1; first < text.length; first++) {
			for (const size of [3, 99]) {
				const blocks = cutAt(text, first, Math.min(text.length, first + 5)).map(
					(block) => block.match(new RegExp(`.{1,${size}}`, 'gsu')) ?? [],
				);
				const { visible, isBlocked } = streamed(blocking, blocks);
				expect([blocks, isBlocked, before.startsWith(visible.join(''))]).toEqual([blocks, true, true]);
				expect(streamed(masking, blocks).visible.join('')).toMatch(/^Größe 漢字 it is: \[[A-Z_]+\], and 12 more$/);
			}
		}
	});

	it('shows every block as the screening of the whole does', () => {
		const part = fc.constantFrom(
			...secrets,
			' ',
			', ',
			'and ',
			'dark',
			'fish',
			'12',
			'-',
			'7',
			'x',
			'漢',
			'. ',
			'call me on ',
			'4111 1111 ',
		);
		const block = fc.array(part, { minLength: 1, maxLength: 6 });
		fc.assert(
			fc.property(fc.array(block, { minLength: 1, maxLength: 5 }), (blocks) => {
				const whole = evaluated(
					masking,
					blocks.map((pieces) => pieces.join('')),
				);
				expect(streamed(masking, blocks).visible).toEqual(whole);
				expect(streamed(blocking, blocks).isBlocked).toBe(
					evaluated(
						blocking,
						blocks.map((pieces) => pieces.join('')),
					) === undefined,
				);
			}),
			{ numRuns: 200 },
		);
	});

	it('holds back at the end of a block only text that may continue, after any length', () => {
		const segment = blocking.bufferSegment(false, 'team');
		const pieces = 'All of this is fine, isn’t it? '
			.repeat(500)
			.match(/.{1,7}/gs)
			?.map((text) => segment.push('0', text));
		const last = segment.push('0', 'and dark');
		expect([pieces?.every((piece) => segment.canLeave(piece)), segment.canLeave(last)]).toEqual([true, false]);
		segment.push('1', 'ish, it is and so on');
		expect([segment.isBlocked, segment.canLeave(last)]).toEqual([false, true]);
		segment.push('2', 'the darkfish, and so on');
		expect(segment.isBlocked).toBe(true);
	});

	it('holds back what is found only with a break between two blocks', () => {
		const breaking = guardrails('none', { patterns: [{ name: 'two lines', pattern: 'dark\\nfish', action: 'block' }] });
		const { visible, isBlocked } = streamed(breaking, [['see dark'], ['fi', 'sh']]);
		expect([isBlocked, visible]).toEqual([true, ['', '']]);
	});

	it('reports each finding once', () => {
		const { segment } = streamed(masking, [['mail jane@example.com'], [' or 4111 1111 ', '1111 '], ['1111, the dark'], ['fish']]);
		expect(segment.findings.map(({ category, start }) => `${category} ${start}`)).toEqual(['email 5', 'card 25', 'listed 50']);
	});

	it('judges sentences that continue in another block', () => {
		const topics = [{ name: 'gambling', description: 'Betting', examples: [], keywords: ['roulette'], action: 'block' as const }];
		const judging = guardrails('none', { topics });
		for (const blocks of [
			[['All is well. We play rou'], ['lette tonight.']],
			[['All is well. We play roulette'], ['tonight.']],
		]) {
			const { visible, isBlocked } = streamed(judging, blocks);
			expect([isBlocked, visible.join('')]).toEqual([true, '']);
		}
		expect(streamed(judging, [['All is well'], [' and so on']])).toMatchObject({
			isBlocked: false,
			visible: ['All is well', ' and so on'],
		});
	});
});
