import { expect, it } from 'vitest';
import type { WordMatch } from './walk.ts';
import { WordList } from './word-list.ts';

function build(entries: readonly string[]): WordList {
	const steps = WordList.build(entries);
	for (;;) {
		const step = steps.next();
		if (step.done === true) return step.value;
	}
}

function find(list: WordList, text: string, isOpen: boolean): { live: number; matches: readonly WordMatch[] } {
	const matches: WordMatch[] = [];
	const live = list.find(text, isOpen, matches);
	return { live, matches };
}

/** Converts letters and digits to full-width ones, which take the slow path. */
function widen(text: string): string {
	return text.replaceAll(/[a-z0-9]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0));
}

it('finds the same in words that are skipped by their first letters as in letters that are read one by one', () => {
	let seed = 11;
	const random = (below: number): number => {
		seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
		return Math.floor((seed / 0x80000000) * below);
	};
	const write = (letters: string, length: number): string => Array.from({ length }, () => letters[random(letters.length)]).join('');
	let found = 0;
	for (let round = 0; round < 60; round++) {
		const entries = Array.from({ length: 1 + random(round % 10 === 0 ? 6000 : 20) }, () =>
			write(round % 2 === 0 ? 'abs5 ' : 'abcdefgs5 ', 1 + random(9)),
		);
		const list = build(entries);
		const part = (): string => [write('abs5.@ ', random(12)), entries[random(entries.length)], write(' .', random(11))][random(3)] ?? '';
		for (let index = 0; index < 10; index++) {
			const text = Array.from({ length: index === 0 ? 400 : random(20) }, part).join('');
			const isOpen = random(2) === 0;
			const plain = find(list, text, isOpen);
			expect(plain, `${JSON.stringify(entries.slice(0, 20))} in ${JSON.stringify(text)}`).toEqual(find(list, widen(text), isOpen));
			found += plain.matches.length;
		}
	}
	expect(found).toBeGreaterThan(500);
});
