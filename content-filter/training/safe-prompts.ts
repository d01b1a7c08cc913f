/** Generates harmless prompts with alarming words, and harmful requests in the same words, from templates, by family. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ContentHead, contentHeads } from '../../src/policy/guardrails/content/content-category.ts';
import type { LabelledRow } from './labelled-rows.ts';

const folder = join(import.meta.dirname, '../../test/suites/safe-prompts');

/** Maximum number of rows from one template, because more would be repetitive. */
const rowsPerTemplate = 14;
const foldCount = 5;
const testFrom = 0.8;

export interface Family {
	readonly name: string;
	readonly lines: readonly string[];
}

/** @param file with lines below headings: `# name of the family`. */
export function readFamilies(file: string): readonly Family[] {
	const families: { name: string; lines: string[] }[] = [];
	for (const line of readFileSync(join(folder, file), 'utf8').split('\n')) {
		if (line.startsWith('# ')) families.push({ name: line.slice(2), lines: [] });
		else if (line !== '') families.at(-1)?.lines.push(line);
	}
	return families;
}

export function readSafePrompts(): LabelledRow[] {
	const absent = Object.fromEntries(contentHeads.map((head) => [head, 0 as const]));
	const heldOut = (file: string, source: string, labelsOf: (name: string) => LabelledRow['labels']): LabelledRow[] =>
		readFamilies(file).flatMap(({ name, lines }) =>
			lines.map((text) => ({ text, labels: labelsOf(name), source: `${source}:${name}`, place: testFrom })),
		);
	return [
		...readFamilies('trained.txt').flatMap((family, index) => expandFamily(family, 'safe-prompts', index, () => absent)),
		...readFamilies('harmful-counterparts.txt').flatMap((family, index) => expandFamily(family, 'harmful-counterparts', index, harmLabels)),
		...agentRows(),
		...heldOut('held-out.txt', 'safe-held-out', () => absent),
		...heldOut('written-after.txt', 'safe-written-after', () => absent),
		...heldOut('written-later.txt', 'safe-written-later', () => absent),
		...heldOut('written-later-harmful.txt', 'harmful-counterparts-written-later', harmLabels),
		...heldOut('frozen.txt', 'safe-frozen', () => absent),
		...heldOut('frozen-other-languages.txt', 'safe-frozen-other-languages', () => absent),
		...heldOut('held-out-harmful.txt', 'harmful-counterparts-held-out', harmLabels),
		...heldOut('frozen-harmful.txt', 'harmful-counterparts-frozen', harmLabels),
	];
}

/** Texts of agents and attacks in the same words. Their other harm is not labelled, so that the other heads learn nothing from them. */
function agentRows(): LabelledRow[] {
	return (['agent-texts', 'agent-attacks'] as const).flatMap((source) => {
		const labels = { prompt_attack: source === 'agent-attacks' ? 1 : 0 } as const;
		const trained = readFamilies(`${source}.txt`).flatMap((family, index) => expandFamily(family, source, index, () => labels));
		const heldOut = readFamilies(`${source}-held-out.txt`).flatMap(({ lines }) => lines);
		return [...trained, ...heldOut.map((text) => ({ text, labels, source: `${source}-held-out`, place: testFrom }))];
	});
}

function harmLabels(name: string): LabelledRow['labels'] {
	return { sexual: 0, prompt_attack: 0, [headOf(name)]: 1 };
}

function headOf(name: string): ContentHead {
	const found = contentHeads.find((head) => name.startsWith(`${head}:`));
	if (found === undefined) throw new Error(`Family "${name}" does not begin with a head of the scorer`);
	return found;
}

/** Expands a family, which belongs to one fold as a whole: cross-validation judges it by a model that saw none of its rows. */
function expandFamily(
	{ name, lines }: Family,
	source: string,
	index: number,
	labelsOf: (name: string) => LabelledRow['labels'],
): LabelledRow[] {
	const place = (((index % foldCount) + 0.5) / foldCount) * testFrom;
	const labels = labelsOf(name);
	return lines.flatMap((line) => expand(line).map((text) => ({ text, labels, source: `${source}:${name}`, place })));
}

/** Expands `{one|another}`, in an order that depends on the line alone. */
function expand(line: string): readonly string[] {
	let state = 1;
	const next = (below: number): number => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
		return Math.floor((state / 2 ** 32) * below);
	};
	const texts = new Set<string>();
	for (let tries = 0; tries < 2 * rowsPerTemplate && texts.size < rowsPerTemplate; tries++) {
		texts.add(
			line.replaceAll(/\{([^{}]*)\}/g, (_whole, inside: string) => {
				const choices = inside.split('|');
				return choices[next(choices.length)] ?? '';
			}),
		);
	}
	return [...texts];
}
