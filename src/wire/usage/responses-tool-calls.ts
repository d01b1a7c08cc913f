import type { HostedTool, ToolCalls } from '../../core/usage.ts';
import { isJsonObject, type JsonObject } from '../json/parse-body.ts';
import type { ToolCallReader } from './tool-call-reader.ts';

/** Tools by the type of their items. */
const toolOf: Readonly<Record<string, HostedTool>> = {
	web_search_call: 'web_search',
	file_search_call: 'file_search',
	code_interpreter_call: 'code_interpreter',
	image_generation_call: 'image_generation',
};

/** Calls of hosted tools in responses of the Responses API, and in their streams, which may be cut or end without a list of items. */
export const responsesToolCalls: ToolCallReader = {
	mark: '"response.output_item.done"',
	callIn({ type, item }) {
		if (type !== 'response.output_item.done' || toolIn(item) === undefined || !isJsonObject(item)) return undefined;
		const { status, action, container_id } = item;
		return { type: item.type, status, action: isJsonObject(action) ? { type: action.type } : action, container_id };
	},
	count: countCalls,
};

/**
 * Counts charged calls. Of a web search only the search itself is charged, not the opening of its pages; `tool_usage` has the charged
 * number, which some servers omit. A container of the code interpreter is charged once.
 */
function countCalls(reported: JsonObject, streamed: readonly JsonObject[]): ToolCalls | undefined {
	const response = isJsonObject(reported.response) ? reported.response : reported;
	const counts: Partial<Record<HostedTool, number>> = {};
	const containers = new Set<unknown>();
	const output: readonly unknown[] = Array.isArray(response.output) && response.output.length > 0 ? response.output : streamed;
	for (const item of output) {
		const tool = toolIn(item);
		if (tool === undefined || !isJsonObject(item) || !isCharged(item)) continue;
		if (tool === 'code_interpreter') {
			if (containers.has(item.container_id)) continue;
			containers.add(item.container_id);
		}
		counts[tool] = (counts[tool] ?? 0) + 1;
	}
	const searches = reportedSearches(response);
	if (searches !== undefined) counts.web_search = searches;
	return Object.values(counts).some((count) => count > 0) ? counts : undefined;
}

function toolIn(item: unknown): HostedTool | undefined {
	return isJsonObject(item) && typeof item.type === 'string' && Object.hasOwn(toolOf, item.type) ? toolOf[item.type] : undefined;
}

function isCharged({ type, action, status }: JsonObject): boolean {
	if (status === 'failed') return false;
	return type !== 'web_search_call' || !isJsonObject(action) || action.type === 'search' || action.type === undefined;
}

function reportedSearches({ tool_usage }: JsonObject): number | undefined {
	const search = isJsonObject(tool_usage) ? tool_usage.web_search : undefined;
	const count = isJsonObject(search) ? search.num_requests : undefined;
	return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 && count <= 1_000_000 ? count : undefined;
}
