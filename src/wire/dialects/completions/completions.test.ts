import { describe, expect, it } from 'vitest';
import { Rejection } from '../../../core/rejection.ts';
import { EventBatch } from '../../events/event-batch.ts';
import { completions } from './completions.ts';

function verdict(body: Record<string, unknown>): string {
	try {
		completions.validate({ model: 'm', prompt: 'hi', ...body });
	} catch (cause) {
		if (cause instanceof Rejection) return `${cause.code} ${cause.param}`;
		throw cause;
	}
	return 'accepted';
}

it.each([
	[{ prompt: 5 }, 'field_invalid prompt'],
	[{ prompt: [] }, 'field_invalid prompt'],
	[{ prompt: ['a', 1] }, 'field_invalid prompt[1]'],
	[{ prompt: [[1], [true]] }, 'field_invalid prompt[1][0]'],
	[{ suffix: 1 }, 'field_invalid suffix'],
	[{ max_tokens: -1 }, 'field_invalid max_tokens'],
	[{ n: 129 }, 'field_invalid n'],
	[{ best_of: 1e9 }, 'field_invalid best_of'],
	[{ stream: 'yes' }, 'field_invalid stream'],
	[{ prompt: null, suffix: null }, 'accepted'],
	[{ prompt: undefined }, 'accepted'],
	[{ prompt: '' }, 'accepted'],
	[{ prompt: ['', 'a'] }, 'accepted'],
	[{ prompt: [1, 2, 3], max_tokens: 0 }, 'accepted'],
	[{ prompt: [[1, 2], [3]] }, 'accepted'],
])('of %j: %s', (body, expected) => {
	expect(verdict(body)).toBe(expected);
});

it('requests output for each prompt, and for choices that are not returned', () => {
	expect(completions.requestedOutput({ prompt: ['a', 'b'], n: 2, best_of: 5, max_tokens: 9 })).toEqual({
		capTokens: 9,
		choices: 10,
		defaultTokens: 16,
	});
	expect(completions.requestedOutput({ prompt: [1, 2, 3], n: 3 })).toMatchObject({ capTokens: undefined, choices: 3 });
});

it('measures prompts and the suffix', () => {
	expect(completions.inputContent({ prompt: ['ab', 'ü'], suffix: 'c' }).prompt).toEqual({ count: 3, texts: 3, bytes: 5, tokenIds: 0 });
	expect(completions.inputContent({ prompt: [[1, 2], [3]] }).prompt).toMatchObject({ texts: 0, bytes: 0, tokenIds: 3 });
});

describe('texts', () => {
	it('of a request: each prompt and the suffix', () => {
		const { texts, unreadable } = completions.textViews.request({ model: 'm', prompt: ['a', 'b'], suffix: 'c', user: 'u', own: 'd' });
		expect(texts.map(({ text, path }) => `${path.join('.')} ${text}`)).toEqual(['prompt.0 a', 'prompt.1 b', 'suffix c', 'own d']);
		expect(unreadable).toEqual([]);
	});

	it('of token ids cannot be read', () => {
		for (const prompt of [[1, 2], [[1, 2]]]) {
			const { texts, unreadable } = completions.textViews.request({ prompt });
			expect([texts.length, unreadable.map(({ type }) => type)]).toEqual([0, ['token_ids']]);
		}
	});

	it('of a response: each choice, its tokens and their alternatives', () => {
		const logprobs = { tokens: ['a', 'b'], token_logprobs: [0, 0], top_logprobs: [{ a: 0, x: -1 }, { b: 0 }], text_offset: [0, 1] };
		const { texts } = completions.textViews.response({ choices: [{ text: 'ab', index: 0, logprobs, finish_reason: 'stop' }] });
		expect(texts.map(({ text, path }) => `${path.join('.')} ${text.replaceAll('\n', '|')}`)).toEqual([
			'choices.0.text ab',
			'choices.0.logprobs ab',
			'choices.0.logprobs a|x|b',
		]);
	});

	it('of events continue in the blocks of their choices', () => {
		const { texts, ended } = completions.textViews.event({
			choices: [
				{ text: 'a', index: 1, finish_reason: null },
				{ text: 'b', index: 0, finish_reason: 'stop' },
			],
		});
		expect(texts.map(({ block, text }) => `${block} ${text}`)).toEqual(['1/text a', '0/text b']);
		expect(ended).toEqual(['whole/', '0/']);
	});
});

it('ends a stopped stream as if its cap were reached', () => {
	const ending = completions.followToCap({ prompt: ['a', 'b'], stream_options: { include_usage: true } });
	ending.push(
		EventBatch.ofTexts(['data: {"id":"c","object":"text_completion","choices":[{"index":1,"text":"x","finish_reason":"stop"}]}\n\n']),
	);
	const usage = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0, cacheWriteHourTokens: 0, reasoningTokens: 0 };
	const text = ending.end(usage)?.bytes.toString() ?? '';
	expect(text).toContain('"choices":[{"index":0,"text":"","logprobs":null,"finish_reason":"length"}]');
	expect(text).toMatch(/"completion_tokens":2.*\n\ndata: \[DONE\]\n\n$/s);
});
