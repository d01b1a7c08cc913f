/** Types shared by external moderation providers: their requests, their findings and their billing units. */

/**
 * Categories to which a provider's own names are mapped. The first five are those of the content policy; `other` is a name without a
 * mapping.
 */
export const moderationCategories = [
	'hate',
	'violence',
	'sexual',
	'misconduct',
	'prompt_attack',
	'pii',
	'topic',
	'words',
	'other',
] as const;

export type ModerationCategory = (typeof moderationCategories)[number];

export type ModerationStage = 'input' | 'output';

export interface ModerationFinding {
	readonly category: ModerationCategory;
	/** The provider's own name of the finding. Never contains any of the text. */
	readonly label: string;
	/** From 0 to 1; 1 if the provider reports no score. */
	readonly score: number;
}

/** Billing units of one evaluation. */
export interface ModerationUsage {
	readonly inputTokens: number;
	readonly outputTokens: number;
	/** Text units or records, for providers that charge by them. */
	readonly units: number;
}

export interface ModerationResponse {
	readonly findings: readonly ModerationFinding[];
	readonly usage: ModerationUsage;
}

export interface ModerationRequest {
	/** Path and query below the provider's base URL. */
	readonly target: string;
	readonly body: string;
}

/** Protocol of one external moderation provider. */
export interface ModerationProtocol {
	/** Returns requests that together cover the texts, each within the provider's limits. */
	requestsFor(texts: readonly string[], stage: ModerationStage): readonly ModerationRequest[];
	/** Header fields of every request, besides its type and length; empty if requests are signed. */
	readonly headers: Readonly<Record<string, string>>;
	/** @param body a parsed response of status 200. @returns undefined if it does not match the provider's format. */
	read(body: unknown): ModerationResponse | undefined;
}

/** Groups texts so that each group fits a request: long texts are split, short ones combined. */
export function groupTexts(texts: readonly string[], maxCharacters: number, maxTexts: number): readonly (readonly string[])[] {
	const groups: string[][] = [];
	let remainingCharacters = 0;
	for (const text of texts) {
		for (let at = 0; at < text.length; at += maxCharacters) {
			const piece = text.slice(at, at + maxCharacters);
			const group = groups.at(-1);
			if (group === undefined || piece.length >= remainingCharacters || group.length === maxTexts) {
				groups.push([piece]);
				remainingCharacters = maxCharacters - piece.length;
			} else {
				group.push(piece);
				remainingCharacters -= piece.length + 1;
			}
		}
	}
	return groups;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the members of a list that are objects; none for other values. */
export function objectsOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
	return Array.isArray(value) ? value.filter(isObject) : [];
}

export function textOf(value: unknown): string {
	return typeof value === 'string' ? value : '';
}

export function countOf(value: unknown): number {
	return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}
