/**
 * Trains the content filter's weights and publishes their measurements: `node content-filter/training/train.ts FOLDER PACKAGES`. FOLDER contains
 * `train.jsonl.gz` and `lexicon.json`; PACKAGES contains the packages of `ordinary-packages.ts`. Takes two minutes on one core and produces
 * the same bytes in each run.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { contentHeads } from '../../src/policy/guardrails/content/content-category.ts';
import { createContentScorer } from '../../src/policy/guardrails/content/content-scorer.ts';
import { contentWeightsFile } from '../read-weights.ts';
import { calibrate, type ScoredRow } from './calibrate.ts';
import { describePage } from './describe-page.ts';
import { type Example, type FitOptions, type Fitted, fit } from './fit.ts';
import { type LabelledRow, readLexicon, readRows } from './labelled-rows.ts';
import { judgeRows, judgeScored, promisesOf } from './measurements.ts';
import { makeOrdinaryForms } from './ordinary-forms.ts';
import { readOrdinaryPackages } from './ordinary-packages.ts';
import { quantise, uncalibrated } from './quantise.ts';
import { readSafePrompts } from './safe-prompts.ts';
import { featureCount, readWindows } from './window-features.ts';

const options: FitOptions = { seed: 20_261_121, epochs: 8, learningRate: 0.3, decay: 1e-3, minRows: 2 };

/** Start of the held-out range. Neither training nor the choice of thresholds uses these rows. */
const testFrom = 0.8;
/** Number of folds. Thresholds are chosen on the other rows, each judged by a model that was trained without its fold. */
const foldCount = 5;

const root = join(import.meta.dirname, '../..');
const [folder, packages] = process.argv.slice(2);
if (folder === undefined || packages === undefined) throw new Error('usage: node content-filter/training/train.ts FOLDER PACKAGES');

const lexicon = readLexicon(folder);
const rows = [...readRows(folder), ...readOrdinaryPackages(packages), ...makeOrdinaryForms(), ...readSafePrompts()];
const features = featureCount(lexicon.names.length);
const seen = rows.filter(({ place }) => place < testFrom).map((row): Example => ({ ...row, windows: readWindows(row.text, lexicon) }));

const foldOf = ({ place }: LabelledRow): number => Math.floor((place / testFrom) * foldCount);
const folds = Array.from({ length: foldCount }, (_, fold) => {
	const model = train(seen.filter((example) => foldOf(example) !== fold));
	return scoreRows(
		model,
		seen.filter((example) => foldOf(example) === fold),
	);
});
const crossValidated = folds.flatMap((scored, fold) => judgeScored(scored, calibrate(folds.filter((_, index) => index !== fold).flat())));

const weights = quantise(train(seen), lexicon, calibrate(folds.flat()));
const heldOut = judgeRows(
	createContentScorer(weights),
	rows.filter(({ place }) => place >= testFrom),
);
writeFileSync(contentWeightsFile, weights);
writeFileSync(
	join(root, 'docs/reference/content-filter-measurements.md'),
	describePage(heldOut, crossValidated, {
		trainedRows: seen.length,
		weightBytes: weights.length,
		options: JSON.stringify(options),
		digests: ['train.jsonl.gz', 'lexicon.json'].map((name) => [name, sha256(readFileSync(join(folder, name)))] as const),
		weightsDigest: sha256(weights),
	}),
);
for (const [how, judged] of [
	['cross-validated', crossValidated],
	['held out', heldOut],
] as const) {
	for (const { what, value, bound, isRetained } of promisesOf(judged)) {
		process.stdout.write(`${isRetained ? 'ok  ' : 'MISS'} ${how}: ${(value * 100).toFixed(2)} % ${what} ${bound}\n`);
	}
}

function train(examples: readonly Example[]): Fitted {
	return fit(examples, features, options);
}

/** Scores rows with the scorer itself, whose weights are bytes. */
function scoreRows(model: Fitted, some: readonly LabelledRow[]): ScoredRow[] {
	const judgedRows = judgeRows(createContentScorer(quantise(model, lexicon, uncalibrated)), some);
	return judgedRows.map(({ row, byHead }) => ({ row, logits: contentHeads.map((head) => logitOf(byHead[head])) }));
}

function logitOf(score: number): number {
	return Math.log(score / (1 - score));
}

function sha256(bytes: Uint8Array): string {
	return createHash('sha256').update(bytes).digest('hex');
}
