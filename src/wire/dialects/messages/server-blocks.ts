import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';

const longestInput = 500;

/** What a block of a tool that the other vendor ran itself says, in a line of text; empty when there is nothing to say. */
export function describeServerBlock(block: JsonObject): string {
	const { type, name, input, content } = block;
	if (type === 'server_tool_use' || type === 'mcp_tool_use') {
		return `\n[Called ${typeof name === 'string' ? name : 'a tool'} with ${(JSON.stringify(input) ?? '{}').slice(0, longestInput)}]\n`;
	}
	if (typeof type !== 'string' || !type.endsWith('_tool_result')) return '';
	return `\n${[`[Result of ${type.slice(0, -'_tool_result'.length)}]`, ...linesOf(content)].join('\n')}\n`;
}

/** Titles with addresses, texts and outputs; what is encrypted for its own vendor is nobody's to read. */
function linesOf(content: unknown): string[] {
	if (typeof content === 'string') return [content];
	if (Array.isArray(content)) return content.flatMap(linesOf);
	if (!isJsonObject(content)) return [];
	const { title, url, text, stdout, stderr, error_code, content: inner } = content;
	const said = [title, url, text, stdout, stderr, error_code].filter((value) => typeof value === 'string' && value !== '');
	return [...(said.length === 0 ? [] : [said.join(' ')]), ...linesOf(inner)];
}
