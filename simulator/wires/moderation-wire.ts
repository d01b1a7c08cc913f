/** Wire dialects of external moderation providers, which need a smaller interface than LLM providers. */
import type { HeaderFields } from '../../src/core/handler.ts';
import type { JsonObject } from '../json-value.ts';

export type ModerationWireName = 'moderation' | 'bedrock-guardrail' | 'content-safety' | 'judge';

export const moderationWireNames = [
	'moderation',
	'bedrock-guardrail',
	'content-safety',
	'judge',
] as const satisfies readonly ModerationWireName[];

export interface ModerationWire {
	readonly name: ModerationWireName;
	/** Returns the client's key; empty when there is none. */
	readKey(headers: HeaderFields): string;
	/** Returns the value that takes the place of the model, in which faults can be named. */
	readModel(body: JsonObject, path: string): string;
	/** @returns undefined for a body that the service would reject. */
	judge(body: JsonObject, model: string): JsonObject | undefined;
	renderError(status: number): JsonObject;
}

export const markedCategories = ['hate', 'violence', 'sexual', 'misconduct', 'attack'] as const;

/** Detects the marker of harmful text: `simulate-hate`, `simulate-violence` and so on. */
export function isMarked(text: string, category: (typeof markedCategories)[number]): boolean {
	return text.includes(`simulate-${category}`);
}
