/**
 * Program that reads hostile texts under all guardrails, and prints as JSON how long the longest slice of each blocked the event loop, in
 * milliseconds. Separate from the test runner, which makes hot loops several times slower.
 */
import { readContentWeights } from '../../content-filter/read-weights.ts';
import { createContentScorer } from '../../src/policy/guardrails/content/content-scorer.ts';
import { compileGuardrails, type Guardrails } from '../../src/policy/guardrails/guardrails.ts';
import { workedMs } from './cpu-ms.ts';
import { contentAt, gambling, guardrailsWith, piiRules } from './guarded-gateway.ts';

const units = JSON.parse(process.argv[2] ?? '[]') as string[];
const textLength = 100_000;
/** Characters between two reads of the clock, after which the event loop may continue. */
const sliceCharacters = 1024;
/** Duration below which a slice needs no further round. */
const shortMs = 5;
const maxRounds = 8;

function compileAll(): Guardrails {
	const scorer = createContentScorer(readContentWeights());
	const words = ['aardvark', 'ill will', 'darkfish', ...Array.from({ length: 100 }, (_, index) => `a${index.toString(36)} ill1 o0o`)];
	const steps = compileGuardrails(
		// Monitored only: nothing is blocked, so every text is read to its end.
		guardrailsWith({
			isEnforced: false,
			content: contentAt('medium'),
			pii: piiRules('block'),
			words: { entries: words, action: 'block' },
			patterns: [
				{ name: 'nested', pattern: '((a+)+|(a|aa)+)+b', action: 'block' },
				{ name: 'open', pattern: 'X[^Z]*Z', action: 'block' },
			],
			topics: [gambling],
		}),
		scorer,
	);
	for (;;) {
		const step = steps.next();
		if (step.done === true) return step.value;
	}
}

/** Result for one text. `moreSlices` is the number of slices beyond those that its length requires. */
function maxSliceLength(all: Guardrails, unit: string): { moreSlices: number; maxMs: number } {
	const text = unit.repeat(textLength / unit.length);
	// Minimum over the rounds: slices are deterministic, but garbage collections and other processes are not.
	const min: number[] = [];
	for (let round = 0; round === 0 || (round < maxRounds && Math.max(...min) > shortMs); round++) {
		const evaluation = all.evaluate([{ text, isJson: unit.startsWith('{') }], 'input', 'team');
		for (let index = 0, isDone = false; !isDone; index++) {
			const sliceMs = workedMs(() => {
				isDone = evaluation.run(sliceCharacters);
			});
			min[index] = Math.min(min[index] ?? Number.POSITIVE_INFINITY, sliceMs);
		}
	}
	return { moreSlices: min.length - Math.floor(text.length / sliceCharacters), maxMs: Math.max(...min) };
}

const all = compileAll();
process.stdout.write(JSON.stringify(units.map((unit) => maxSliceLength(all, unit))));
