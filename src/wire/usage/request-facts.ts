import type { InputContent } from '../../core/cost-factors.ts';
import { isJsonObject, type JsonBody, type JsonObject } from '../json/parse-body.ts';
import type { Edit } from '../json/splice-body.ts';

/** Rules of a dialect for counting parts and tools of requests: the counts concern size, not content. */
export interface PartRules {
	/** Types of parts that contain only text, or tool calls. Any other counts as an attachment. */
	readonly texts: ReadonlySet<unknown>;
	/** The type of parts that contain parts. */
	readonly nested?: string;
	/** Members of a part that contain the data or the URL of an attachment. */
	readonly holders: readonly string[];
}

/** Number of attachments, and size of their data. */
export type Attached = Pick<InputContent, 'attachments' | 'attachedBytes'>;

export function attachedTo(contents: readonly unknown[], rules: PartRules): Attached {
	const found = { attachments: 0, attachedBytes: 0 };
	for (const content of contents) countParts(content, rules, found);
	return found;
}

function countParts(content: unknown, rules: PartRules, found: { attachments: number; attachedBytes: number }): void {
	if (!Array.isArray(content)) return;
	for (const part of content as readonly unknown[]) {
		if (!isJsonObject(part) || rules.texts.has(part.type)) continue;
		if (part.type !== undefined && part.type === rules.nested) {
			countParts(part.content, rules, found);
			continue;
		}
		found.attachments++;
		for (const name of rules.holders) found.attachedBytes += dataBytes(part[name]);
	}
}

/** Base64 and URLs are ASCII. */
function dataBytes(holder: unknown): number {
	if (!isJsonObject(holder)) return 0;
	let bytes = 0;
	for (const data of [holder.data, holder.url, holder.file_data]) if (typeof data === 'string') bytes += data.length;
	return bytes;
}

/** Tools with a type of the provider that the client runs. Servers of chat completions may forward them to their vendor. */
const clientRun = /^(?:bash|text_editor|memory|computer|browser)_/;

export function countTools({ tools, mcp_servers }: JsonObject): Pick<InputContent, 'hasTools' | 'definedTools' | 'serverTools'> {
	let definedTools = 0;
	let serverTools = Array.isArray(mcp_servers) ? 1 : 0;
	const list: readonly unknown[] = Array.isArray(tools) ? tools : [];
	for (const tool of list) {
		const type = isJsonObject(tool) ? tool.type : undefined;
		if (typeof type !== 'string' || type === 'function' || type === 'custom') continue;
		if (clientRun.test(type)) definedTools++;
		else serverTools++;
	}
	return { hasTools: list.length > 0, definedTools, serverTools };
}

/** Returns the contents of a request's turns. */
export function contentsOf(turns: unknown): readonly unknown[] {
	return Array.isArray(turns) ? turns.map((turn: unknown) => (isJsonObject(turn) ? turn.content : undefined)) : [];
}

/** OpenAI's maximum number of choices, which no provider exceeds. */
export const maxChoices = 128;
/** Greater numbers are not caps: providers count in 32 bits, and costs must stay computable. */
export const greatestCap = 2 ** 31 - 1;

/** Maximum output that a request in either format asks for. */
export interface RequestedOutput {
	/** Cap of one choice; the greater of two, because providers differ in which they use. Undefined without a cap. */
	readonly capTokens: number | undefined;
	readonly choices: number;
	/** Maximum output of a choice by default, in formats with one default for all models. */
	readonly defaultTokens?: number;
}

/**
 * @param capMembers the members of `request` that cap a choice's output.
 * @param choices number of choices, for dialects that have them.
 */
export function requestedOutput(request: JsonObject, capMembers: readonly string[], choices?: unknown): RequestedOutput {
	let capTokens: number | undefined;
	for (const name of capMembers) {
		const cap = integer(request[name], greatestCap);
		if (cap !== undefined && cap > (capTokens ?? -1)) capTokens = cap;
	}
	return { capTokens, choices: Math.max(1, integer(choices, maxChoices) ?? 1) };
}

/** Values out of bounds are rejected when requests are read; one that gets here must still not become an amount. */
function integer(value: unknown, max: number): number | undefined {
	if (typeof value !== 'number' || Number.isNaN(value)) return undefined;
	return Math.min(Math.max(0, Math.ceil(value)), max);
}

/**
 * Changes or adds the cap of a request. A member that is null does not count as a cap.
 * @param body with the ranges of the members located.
 * @param capMembers the members that cap; the first is the one that the provider reads, added if the request has none.
 */
export function writeCap(
	{ bytes, members, ranges }: JsonBody,
	tokens: number,
	capMembers: readonly [string, ...string[]],
): readonly Edit[] {
	const text = String(tokens);
	const edits = capMembers.flatMap((name) => {
		const range = ranges.get(name);
		return range === undefined || members[name] === null ? [] : [{ ...range, text }];
	});
	if (edits.length > 0) return edits;
	const [name] = capMembers;
	const range = ranges.get(name);
	if (range !== undefined) return [{ ...range, text }];
	const end = bytes.lastIndexOf(0x7d);
	return [{ start: end, end, text: `,"${name}":${text}` }];
}

/** True if a setting asks for thinking, false if it turns it off; undefined without a setting. @param off the value that turns it off. */
export function requestsThinkingBy(setting: unknown, off: string | number): boolean | undefined {
	return typeof setting === 'string' || typeof setting === 'number' ? setting !== off : undefined;
}
