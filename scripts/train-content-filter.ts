/**
 * Trains the content filter's weights and publishes their figures: `node scripts/train-content-filter.ts FOLDER`, where FOLDER
 * holds `train.jsonl.gz` and `lexicon.json`. One core, under two minutes, the same bytes in each run.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { contentHeads } from '../src/policy/guardrails/content/content-category.ts';
import { createContentScorer } from '../src/policy/guardrails/content/content-scorer.ts';
import { calibrate, type ScoredRow } from './content-filter/calibrate.ts';
import { describePage } from './content-filter/describe-page.ts';
import { judgeRows, promisesOf } from './content-filter/figures.ts';
import { type Example, type FitOptions, type Fitted, fit } from './content-filter/fit.ts';
import { type LabelledRow, readLexicon, readRows } from './content-filter/labelled-rows.ts';
import { makeOrdinaryForms } from './content-filter/ordinary-forms.ts';
import { readOrdinaryPackages } from './content-filter/ordinary-packages.ts';
import { quantise, uncalibrated } from './content-filter/quantise.ts';
import { featureCount, readWindows } from './content-filter/window-features.ts';

const options: FitOptions = { seed: 20_261_121, epochs: 8, learningRate: 0.3, decay: 1e-3, leastRows: 2 };

/** Rows from this place on are never trained on; every figure is of them. */
const testFrom = 0.8;
/** Thresholds are chosen on the other rows, each judged by a model that was trained without its fold. */
const foldCount = 4;

const root = join(import.meta.dirname, '..');
const [folder, packages] = process.argv.slice(2);
if (folder === undefined || packages === undefined) throw new Error('usage: node scripts/train-content-filter.ts FOLDER PACKAGES');

const lexicon = readLexicon(folder);
const rows = [...readRows(folder), ...readOrdinaryPackages(packages), ...makeOrdinaryForms()];
const features = featureCount(lexicon.names.length);
const seen = rows.filter(({ place }) => place < testFrom).map((row): Example => ({ ...row, windows: readWindows(row.text, lexicon) }));

const scored = Array.from({ length: foldCount }, (_, fold) => {
	const isInFold = ({ place }: LabelledRow): boolean => Math.floor(place * 1000) % foldCount === fold;
	const model = train(seen.filter((example) => !isInFold(example)));
	return scoreRows(model, seen.filter(isInFold));
}).flat();

const weights = quantise(train(seen), lexicon, calibrate(scored));
const judged = judgeRows(
	createContentScorer(weights),
	rows.filter(({ place }) => place >= testFrom),
);
writeFileSync(join(root, 'src/policy/guardrails/content/weights.bin'), weights);
writeFileSync(
	join(root, 'docs/reference/content-filter-figures.md'),
	describePage(judged, {
		trainedRows: seen.length,
		weightBytes: weights.length,
		options: JSON.stringify(options),
		digests: ['train.jsonl.gz', 'lexicon.json'].map((name) => [name, sha256(readFileSync(join(folder, name)))] as const),
		weightsDigest: sha256(weights),
	}),
);
for (const { what, value, bound, isKept } of promisesOf(judged)) {
	process.stdout.write(`${isKept ? 'ok  ' : 'MISS'} ${(value * 100).toFixed(2)} % ${what} ${bound}\n`);
}

function train(examples: readonly Example[]): Fitted {
	return fit(examples, features, options);
}

/** Logits by the scorer itself, whose weights are bytes. */
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
