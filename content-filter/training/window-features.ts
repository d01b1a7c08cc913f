/** Lists the features that the scorer adds up, so that training learns their weights. Cuts windows exactly as the scorer does. */
import { blockWords, nearWords } from '../../src/policy/guardrails/content/content-scorer.ts';
import { bucketCount, pairBucket, wordBucket } from '../../src/policy/guardrails/content/content-weights.ts';
import { WordReader } from '../../src/policy/guardrails/content/word-reader.ts';
import { eachWord, type LexiconClasses } from './labelled-rows.ts';

/** Feature numbers: buckets first, then the lexicon's classes, then pairs of classes. */
export interface Window {
	readonly features: Int32Array;
	readonly wordCount: number;
}

export function featureCount(classCount: number): number {
	return bucketCount + classCount + classCount ** 2;
}

export function readWindows(text: string, { names, classes }: LexiconClasses): Window[] {
	const classCount = names.length;
	const blocks: { features: number[]; wordCount: number }[] = [{ features: [], wordCount: 0 }];
	const near: number[] = [];
	let previous = 0;
	const reader = new WordReader(
		eachWord((hash) => {
			const block = blocks.at(-1);
			if (block === undefined) return;
			block.features.push(wordBucket(hash), pairBucket(previous, hash));
			previous = hash;
			const own = classes.get(hash) ?? 0;
			const nearby = near.reduce((all, one) => all | one, 0);
			for (let later = 0; later < classCount; later++) {
				if ((own & (1 << later)) === 0) continue;
				block.features.push(bucketCount + later);
				for (let earlier = 0; earlier < classCount; earlier++) {
					if (earlier !== later && (nearby & (1 << earlier)) !== 0) {
						block.features.push(bucketCount + classCount + earlier * classCount + later);
					}
				}
			}
			near.unshift(own);
			near.length = Math.min(near.length, nearWords);
			if (++block.wordCount === blockWords) blocks.push({ features: [], wordCount: 0 });
		}),
	);
	reader.read(text);
	reader.end();
	const windows = blocks.slice(1).map((block, index) => {
		const earlier = blocks[index] ?? block;
		return {
			features: Int32Array.from([...earlier.features, ...block.features]),
			wordCount: earlier.wordCount + block.wordCount,
		};
	});
	const [only] = blocks;
	if (windows.length > 0 || only === undefined) return windows;
	return [{ features: Int32Array.from(only.features), wordCount: only.wordCount }];
}
