/** Services that judge texts: far less to imitate than a provider, so a wire of their own kind. */
import type { HeaderFields } from '../../src/core/handler.ts';
import type { JsonObject } from '../json-value.ts';

export type EngineWireName = 'moderation' | 'bedrock-guardrail' | 'content-safety' | 'judge';

export const engineWireNames = ['moderation', 'bedrock-guardrail', 'content-safety', 'judge'] as const satisfies readonly EngineWireName[];

export interface EngineWire {
	readonly name: EngineWireName;
	/** Empty when there is none. */
	readKey(headers: HeaderFields): string;
	/** What stands for the model: faults may be named in it. */
	readModel(body: JsonObject, path: string): string;
	/** @returns undefined for a body that the service would refuse. */
	judge(body: JsonObject, model: string): JsonObject | undefined;
	renderError(status: number): JsonObject;
}

export const markedCategories = ['hate', 'violence', 'sexual', 'misconduct', 'attack'] as const;

/** A text is harmful when it says so: `simulate-hate`, `simulate-violence` and so on. */
export function isMarked(text: string, category: (typeof markedCategories)[number]): boolean {
	return text.includes(`simulate-${category}`);
}
