/** Choices determined by a seed. */
import { seededNumbers } from '../mutations.ts';

export interface Choice {
	below(count: number): number;
	chance(share: number): boolean;
	of<Item>(items: readonly Item[]): Item;
}

export function makeChoice(seed: number): Choice {
	const next = seededNumbers(seed);
	// Skips the first numbers, which are similar for adjacent seeds.
	for (let round = 0; round < 20; round++) next();
	const below = (count: number): number => Math.floor(next() * count);
	return { below, chance: (share) => next() < share, of: (items) => items[below(items.length)] as (typeof items)[number] };
}
