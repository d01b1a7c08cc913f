/** What the scorer tells apart, the fewer categories that operators set a strength for, and what a strength means. */

/** The scorer's own heads, in the order in which the weights hold them. */
export const contentHeads = ['hate', 'harassment', 'violence', 'sexual', 'self_harm', 'misconduct', 'prompt_attack'] as const;

export type ContentHead = (typeof contentHeads)[number];

/** The content policy's categories. */
export const contentCategories = ['hate', 'violence', 'sexual', 'misconduct', 'prompt_attack'] as const;

export type ContentCategory = (typeof contentCategories)[number];

/** From 0 to 1. */
export type ContentScores = Readonly<Record<ContentCategory, number>>;

export type ContentStrength = 'none' | 'low' | 'medium' | 'high';

export interface ContentThresholds {
	/** A score from here on is logged. */
	readonly log: number;
	/** A score from here on blocks under enforcement. */
	readonly block: number;
}

const thresholds: Readonly<Record<Exclude<ContentStrength, 'none'>, ContentThresholds>> = {
	low: { log: 0.65, block: 0.9 },
	medium: { log: 0.5, block: 0.8 },
	high: { log: 0.35, block: 0.65 },
};

/** @returns undefined for `none`: the category is not judged. */
export function thresholdsOf(strength: ContentStrength): ContentThresholds | undefined {
	return strength === 'none' ? undefined : thresholds[strength];
}
