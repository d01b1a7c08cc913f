/** Defines the scorer's categories, the fewer categories that operators configure, and the meaning of a strength. */

/** Heads of the scorer, in the order of the weights. */
export const contentHeads = ['hate', 'harassment', 'violence', 'sexual', 'self_harm', 'misconduct', 'prompt_attack'] as const;

export type ContentHead = (typeof contentHeads)[number];

export const contentCategories = ['hate', 'violence', 'sexual', 'misconduct', 'prompt_attack'] as const;

export type ContentCategory = (typeof contentCategories)[number];

/** Scores from 0 to 1. */
export type ContentScores = Readonly<Record<ContentCategory, number>>;

export type ContentStrength = 'none' | 'low' | 'medium' | 'high';

export interface ContentThresholds {
	/** Minimum score that is logged. */
	readonly log: number;
	/** Minimum score that is blocked under enforcement. */
	readonly block: number;
}

const thresholds: Readonly<Record<Exclude<ContentStrength, 'none'>, ContentThresholds>> = {
	low: { log: 0.65, block: 0.9 },
	medium: { log: 0.5, block: 0.8 },
	high: { log: 0.35, block: 0.65 },
};

/** @returns undefined for `none`: the category is not evaluated. */
export function thresholdsOf(strength: ContentStrength): ContentThresholds | undefined {
	return strength === 'none' ? undefined : thresholds[strength];
}
