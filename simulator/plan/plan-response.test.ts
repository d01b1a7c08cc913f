import { describe, expect, test } from 'vitest';
import { readContentWeights } from '../../content-filter/read-weights.ts';
import { createContentScorer } from '../../src/policy/guardrails/content/content-scorer.ts';
import { createSeededRandom } from '../seeded-random.ts';
import { countTokens } from '../token-count.ts';
import { planResponse, type ResponsePreferences } from './plan-response.ts';
import type { PlannedPrompt } from './prompt.ts';
import { stepsOf } from './response-steps.ts';

const input = { input: 10, cacheWrite: 0, cacheWriteLong: 0, cacheRead: 0 };

function promptOf(changes: Partial<PlannedPrompt>): PlannedPrompt {
	return {
		model: 'sim-text',
		segmentCount: 1,
		question: 'Tell me about the harbor',
		toolResults: [],
		tools: [],
		toolChoice: 'none',
		canCallSeveral: true,
		speaksBeforeCalls: false,
		outputSchema: undefined,
		maxOutputTokens: undefined,
		stopSequences: [],
		choices: 1,
		thinkingTokens: 0,
		...changes,
	};
}

const plan = (changes: Partial<PlannedPrompt>, preferences: ResponsePreferences = {}): ReturnType<typeof planResponse> =>
	planResponse(promptOf(changes), input, preferences, createSeededRandom(7));

const weather = { name: 'get_weather', schema: { properties: { city: { type: 'string' } } }, isFreeText: false };
const clock = { name: 'get_time', schema: { properties: { zone: { enum: ['UTC'] } } }, isFreeText: false };

describe('what is said', () => {
	test('the same prompt gets the same text, another one another', () => {
		expect(plan({})).toEqual(plan({}));
		expect(plan({}).choices[0]?.text).toContain('Tell me about the harbor');
		expect(plan({ question: 'Something else' }).choices[0]?.text).not.toBe(plan({}).choices[0]?.text);
	});

	test('responses to everyday questions score low in the content filter, at the end and at every position of a stream', () => {
		const scorer = createContentScorer(readContentWeights());
		const greetings = ['Hello', 'Hi', 'Say hello.', 'How are you?', 'Who are you?'];
		const errands = ['What is 2+2?', 'Write a haiku about the sea.', 'What is the capital of France?', 'Good morning', 'What time is it?'];
		const closings = new Set<string>();
		const worst = { inside: 0, whole: 0 };
		const highest = (scores: object): number => Math.max(...Object.values(scores).map(Number));
		for (const question of [...greetings, ...errands]) {
			const text = plan({ question }).choices[0]?.text ?? '';
			closings.add(text.slice(text.indexOf('\n\n')));
			const reading = scorer.begin();
			for (const letter of text) {
				reading.add(letter);
				worst.inside = Math.max(worst.inside, highest(reading.scores()));
			}
			worst.whole = Math.max(worst.whole, highest(reading.end()));
		}
		expect(worst.inside).toBeLessThan(0.4);
		expect(worst.whole).toBeLessThan(0.3);
		expect(closings.size, 'every sentence was heard').toBe(4);
	});

	test.each([0, 1, 7, 500])('exactly %i tokens when a fault asks for them', (tokens) => {
		const { choices, usage } = plan({}, { outputTokens: tokens });
		expect(countTokens(choices[0]?.text ?? '')).toBe(tokens);
		expect(usage.output).toBe(tokens);
	});

	test('the limit cuts the text, and reasoning counts toward it', () => {
		const cut = plan({ maxOutputTokens: 5 });
		expect(cut).toMatchObject({ choices: [{ stop: 'length' }], usage: { output: 5, reasoning: 0 } });
		expect(cut.choices[0]?.text).toHaveLength(20);
		expect(plan({ maxOutputTokens: 20, thinkingTokens: 32 })).toMatchObject({
			choices: [{ text: '', stop: 'length' }],
			usage: { output: 20, reasoning: 20 },
		});
	});

	test('a limit of exactly the length of the response does not cut it', () => {
		expect(plan({ maxOutputTokens: 12 }, { outputTokens: 12 }).choices[0]?.stop).toBe('end');
		expect(plan({ maxOutputTokens: 11 }, { outputTokens: 12 }).choices[0]?.stop).toBe('length');
	});

	test('the earliest stop sequence ends the text and is not part of it', () => {
		const choice = plan({ question: 'one two STOP three END', stopSequences: ['END', 'STOP'] }).choices[0];
		expect(choice).toMatchObject({ text: 'You wrote: one two ', stop: 'stop_sequence', stopSequence: 'STOP' });
	});

	test('a script is said word for word in its pieces, as far as the limit allows', () => {
		const script = { pieces: ['My number is 078-', '05-1120', ' ok'], cutsFreely: false, thinking: '', calls: [] };
		expect(plan({}, { script }).choices[0]).toMatchObject({ text: 'My number is 078-05-1120 ok', textPieces: script.pieces });
		expect(plan({ maxOutputTokens: 5 }, { script }).choices[0]?.textPieces).toEqual(['My number is 078-', '05-']);
	});
});

describe('which tools are called', () => {
	const tools = [weather, clock];

	test('under auto only those that the question is about, and none after a result', () => {
		expect(plan({ tools, toolChoice: 'auto', question: 'hello' }).choices[0]?.calls).toEqual([]);
		expect(plan({ tools, toolChoice: 'auto', question: 'the weather?' }).choices[0]).toMatchObject({
			calls: [{ name: 'get_weather' }],
			stop: 'calls',
		});
		expect(plan({ tools, toolChoice: 'auto', question: 'the weather?', toolResults: ['3 degrees'] }).choices[0]?.text).toContain(
			'3 degrees',
		);
	});

	test('several at once, unless parallel calls are off', () => {
		const question = 'What are weather and time there?';
		expect(plan({ tools, toolChoice: 'auto', question }).choices[0]?.calls.map((call) => call.name)).toEqual(['get_weather', 'get_time']);
		expect(plan({ tools, toolChoice: 'auto', question, canCallSeveral: false }).choices[0]?.calls).toHaveLength(1);
	});

	test('one tool once for each place that the question names', () => {
		const calls = plan({ tools, toolChoice: 'auto', question: 'What is the weather in San Francisco and Boston?' }).choices[0]?.calls;
		expect(calls?.map((call) => call.input)).toEqual(['{"city":"San Francisco"}', '{"city":"Boston"}']);
		expect(new Set(calls?.map((call) => call.id)).size).toBe(2);
	});

	const agent = [
		'Bash',
		'Read',
		'Write',
		'Edit',
		'Task',
		'TodoWrite',
		'WebSearch',
		'WebFetch',
		'list_files',
		'run_tests',
		'str_replace_editor',
	];
	const requested = (names: readonly string[], question: string): string[] => {
		const offered = names.map((name) => ({ name, schema: {}, isFreeText: false }));
		return plan({ tools: offered, toolChoice: 'auto', question }).choices[0]?.calls.map(({ name }) => name) ?? [];
	};

	test.each([
		'Write a haiku about the sea.',
		'Read this profile already and tell me the task: edit the list of files, then run tests on the web.',
		'Update the user guide, search for the code and fetch the data to do so.',
		'hello',
		'Explain what a bash script is.',
		'What is the weather? Do not use any tools.',
		'What is the forecast, without calling functions?',
	])('none of an agent’s tools for %j, though it holds words of their names', (question) => {
		expect(requested([...agent, 'get_weather', 'forecast'], question)).toEqual([]);
	});

	test.each([
		['Use the Read tool on a.txt', ['Read']],
		['Please call `Bash`', ['Bash']],
		['call list_files now', ['list_files']],
		['TodoWrite is what I want', ['TodoWrite']],
		['invoke str_replace_editor', ['str_replace_editor']],
		['use the websearch tool', ['WebSearch']],
		['unlist_files_2 is nothing', []],
	])('of an agent’s tools those that %j names', (question, names) => {
		expect(requested(agent, question)).toEqual(names);
	});

	test('a tool is meant by a telling word of its name, as a whole word', () => {
		expect(requested(['get_current_weather'], 'What is the weather like in Boston?')).toEqual(['get_current_weather']);
		expect(requested(['lookupInvoices'], 'Where is my invoice?')).toEqual(['lookupInvoices']);
		expect(requested(['getHTTPHeaders'], 'Which header is it?')).toEqual(['getHTTPHeaders']);
		expect(requested(['get_weather'], 'It is weathered.')).toEqual([]);
	});

	test('every result of parallel calls is quoted', () => {
		const results = ['3 degrees', 'sunny', '{"at":"noon"}'];
		const text = plan({ tools, toolChoice: 'auto', question: 'the weather?', toolResults: results }).choices[0]?.text;
		for (const result of results) expect(text).toContain(result);
	});

	test('demanded ones always', () => {
		expect(plan({ tools, toolChoice: 'required', question: 'hello' }).choices[0]?.calls).toHaveLength(1);
		expect(plan({ tools, toolChoice: { name: 'get_time' }, question: 'the weather?' }).choices[0]?.calls).toMatchObject([
			{ name: 'get_time', input: '{"zone":"UTC"}' },
		]);
	});
});

test.each([
	['thinking and text', plan({ thinkingTokens: 40 }), 1],
	['parallel calls', plan({ tools: [weather, clock], toolChoice: 'auto', question: 'weather and time' }), 3],
	['several choices', plan({ choices: 3, thinkingTokens: 8 }), 1],
	['characters outside the basic plane', plan({ question: '😀😀😀a😀😀😀😀😀😀' }), 1],
	['a refusal', plan({}, { declines: 'refusal' }), 2],
])('the steps of %s add up to the bill', (_name, planned, tokensPerPiece) => {
	let total = 0;
	let text = '';
	for (const step of stepsOf(planned, () => tokensPerPiece)) {
		total += step.outputTokens;
		if (step.choice === 0 && step.part.kind === 'text') text += step.text;
		expect(step.text.isWellFormed()).toBe(true);
	}
	expect(total).toBe(planned.usage.output);
	expect(text).toBe(planned.choices[0]?.text);
});
