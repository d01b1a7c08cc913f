/** Labels that replace masked text. */
import type { Finding, Policy } from './guardrail.ts';

export interface Mask {
	readonly start: number;
	readonly end: number;
	readonly text: string;
}

/** @param isBare the span is JSON outside of a string, where only a string of its own keeps the JSON valid. */
export function maskOf({ policy, category, start, end }: Finding, isBare: boolean): Mask {
	const label = labelOf(policy, category);
	return { start, end, text: isBare ? `"${label}"` : label };
}

function labelOf(policy: Policy, category: string): string {
	const name = policy === 'words' ? 'word' : category;
	return `[${name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}]`;
}

/** Adds a mask; overlapping masks become one, with the label of the first. */
export function addMask(masks: Mask[], mask: Mask): void {
	const last = masks.at(-1);
	if (last === undefined || mask.start >= last.end) masks.push(mask);
	else if (mask.end > last.end) masks[masks.length - 1] = { ...last, end: mask.end };
}

/** @param masks in any order. @returns merged masks in order. */
export function orderMasks(masks: readonly Mask[]): readonly Mask[] {
	const ordered: Mask[] = [];
	for (const mask of masks.toSorted((one, other) => one.start - other.start || other.end - one.end)) addMask(ordered, mask);
	return ordered;
}

/**
 * @param text a part of the whole text, beginning at its `offset`.
 * @param masks of the whole text, in order.
 * @returns the delivered part: the parts together read as the masked whole.
 */
export function applyMasks(text: string, offset: number, masks: readonly Mask[]): string {
	let visible = '';
	let at = 0;
	for (const mask of masks) {
		const start = mask.start - offset;
		const end = mask.end - offset;
		if (end <= at) continue;
		if (start >= text.length) break;
		if (start >= at) visible += text.slice(at, start) + mask.text;
		at = Math.min(end, text.length);
	}
	return at === 0 && visible === '' ? text : visible + text.slice(at);
}
