/** Parts and tools of requests, counted by the rules of a dialect: not what they say, but what their size depends on. */
import type { InputContent } from '../../core/cost-factors.ts';
import { isJsonObject, type JsonObject } from '../json/parse-body.ts';

export interface PartRules {
	/** Types of parts that are all text, or tool calls. Any other is taken for an attachment. */
	readonly texts: ReadonlySet<unknown>;
	/** The type of parts that hold parts. */
	readonly nested?: string;
	/** Members of a part that hold the data or the address of an attachment. */
	readonly holders: readonly string[];
}

/** Of attachments, with their data. */
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

/** Base64 and addresses are ASCII. */
function dataBytes(holder: unknown): number {
	if (!isJsonObject(holder)) return 0;
	let bytes = 0;
	for (const data of [holder.data, holder.url, holder.file_data]) if (typeof data === 'string') bytes += data.length;
	return bytes;
}

/** Tools with a type of the provider's that the client runs. Servers of chat completions may pass them on to their vendor. */
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

/** The contents of a request's turns. */
export function contentsOf(turns: unknown): readonly unknown[] {
	return Array.isArray(turns) ? turns.map((turn: unknown) => (isJsonObject(turn) ? turn.content : undefined)) : [];
}
