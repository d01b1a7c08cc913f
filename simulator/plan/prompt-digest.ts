/** Digest of a prompt without its text, for the cache and for planning the response. */
import { isObject, type JsonObject } from '../json-value.ts';
import { unitsPerToken } from '../token-count.ts';
import type { OfferedTool, PlannedPrompt, Prompt } from './prompt.ts';

export interface PromptDigest {
	readonly tokens: number;
	/** Prefixes that end where the client marked the prompt for caching. */
	readonly marks: readonly PromptMark[];
	/** Hashes of the prefixes of 128, 256, ... tokens, up to 262,144. */
	readonly steps: readonly number[];
}

export interface PromptMark {
	readonly hash: number;
	readonly tokens: number;
	readonly seconds: number;
}

export const stepTokens = 128;
const maxSteps = 2048;

/** Maximum length of the question to search for tools and place names. */
const questionUnits = 32_768;
const resultUnits = 1024;
const maxResults = 128;
const noteUnits = 100;

export function digestPrompt(segments: Prompt['segments']): PromptDigest {
	const marks: PromptMark[] = [];
	const steps: number[] = [];
	const stepUnits = stepTokens * unitsPerToken;
	let hash = 0x811c9dc5;
	let units = 0;
	let tokens = 0;
	const add = (unit: number): void => {
		// FNV-1a over UTF-16 units.
		hash = Math.imul(hash ^ unit, 0x01000193);
		units++;
		if (units % stepUnits === 0 && steps.length < maxSteps) steps.push(hash >>> 0);
	};
	for (const { text, tokens: added, cacheSeconds } of segments) {
		for (let index = 0; index < text.length; index++) add(text.charCodeAt(index));
		add(0);
		tokens += added;
		if (cacheSeconds !== undefined) marks.push({ hash: hash >>> 0, tokens, seconds: cacheSeconds });
	}
	return { tokens, marks, steps };
}

export function planOf({ segments, question, toolResults, tools, outputSchema, ...rest }: Prompt): PlannedPrompt {
	return {
		...rest,
		segmentCount: segments.length,
		question:
			question.length <= questionUnits ? question : `${question.slice(0, questionUnits / 2)}\n${question.slice(-questionUnits / 2)}`,
		toolResults: toolResults.slice(0, maxResults).map((text) => text.slice(0, resultUnits)),
		tools: tools.map((tool): OfferedTool => ({ ...tool, schema: withoutNotes(tool.schema) as JsonObject })),
		outputSchema: outputSchema === undefined ? undefined : (withoutNotes(outputSchema) as JsonObject),
	};
}

const notes = new Set(['description', 'title', '$comment', 'examples', 'example', 'default']);

/** Removes descriptions, which can be long, from a schema. */
function withoutNotes(node: unknown): unknown {
	if (Array.isArray(node)) return node.map(withoutNotes);
	if (!isObject(node)) return node;
	const retained = Object.entries(node).filter(
		([name, value]) => !(notes.has(name) && typeof value === 'string' && value.length > noteUnits),
	);
	return Object.fromEntries(retained.map(([name, value]) => [name, withoutNotes(value)]));
}

const outlineUnits = 65_536;

/** Keeps the small members of a request and those in `whole`, and of the others only that they are set. */
export function outlineOf(body: JsonObject, whole: readonly string[] = []): JsonObject {
	return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, whole.includes(name) || isSmall(value) ? value : []]));
}

function isSmall(value: unknown): boolean {
	let left = outlineUnits;
	const spend = (node: unknown): boolean => {
		left -= typeof node === 'string' ? node.length : 8;
		if (left < 0) return false;
		if (typeof node !== 'object' || node === null) return true;
		for (const [name, inner] of Object.entries(node)) {
			left -= name.length;
			if (!spend(inner)) return false;
		}
		return true;
	};
	return spend(value);
}
