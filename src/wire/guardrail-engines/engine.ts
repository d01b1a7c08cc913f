/** What engines that judge texts elsewhere have in common: what they are asked, what they tell, what they charge for. */

/** What an engine's own names are mapped to. The first five are the content policy's; `other` is a name that maps to none. */
export const engineCategories = ['hate', 'violence', 'sexual', 'misconduct', 'prompt_attack', 'pii', 'topic', 'words', 'other'] as const;

export type EngineCategory = (typeof engineCategories)[number];

export type EngineStage = 'input' | 'output';

export interface EngineFinding {
	readonly category: EngineCategory;
	/** The engine's own name for it. Never any of the text. */
	readonly label: string;
	/** From 0 to 1; 1 where the engine only says that it is so. */
	readonly score: number;
}

/** What a judgement is charged by. */
export interface EngineUsage {
	readonly inputTokens: number;
	readonly outputTokens: number;
	/** Text units or records, of engines that charge by those. */
	readonly units: number;
}

export interface EngineAnswer {
	readonly findings: readonly EngineFinding[];
	readonly usage: EngineUsage;
}

export interface EngineRequest {
	/** Path with query below the engine's address. */
	readonly target: string;
	readonly body: string;
}

/** How one engine is spoken to. */
export interface EngineProtocol {
	/** Requests that together judge the texts, each within what the engine takes. */
	requestsFor(texts: readonly string[], stage: EngineStage): readonly EngineRequest[];
	/** Of every request, beside its type and length; empty where requests are signed. */
	readonly headers: Readonly<Record<string, string>>;
	/** @param body a parsed answer with status 200. @returns undefined when it is not what this engine says. */
	read(body: unknown): EngineAnswer | undefined;
}

/** Texts in groups that each fit a request: cut where they are too long, together where they are short. */
export function groupTexts(texts: readonly string[], mostCharacters: number, mostTexts: number): readonly (readonly string[])[] {
	const groups: string[][] = [];
	let room = 0;
	for (const text of texts) {
		for (let at = 0; at < text.length; at += mostCharacters) {
			const piece = text.slice(at, at + mostCharacters);
			const group = groups.at(-1);
			if (group === undefined || piece.length >= room || group.length === mostTexts) {
				groups.push([piece]);
				room = mostCharacters - piece.length;
			} else {
				group.push(piece);
				room -= piece.length + 1;
			}
		}
	}
	return groups;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The members of a list that are objects; none for what is no list. */
export function objectsOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
	return Array.isArray(value) ? value.filter(isObject) : [];
}

export function textOf(value: unknown): string {
	return typeof value === 'string' ? value : '';
}

export function countOf(value: unknown): number {
	return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}
