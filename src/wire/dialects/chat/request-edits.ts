import { isJsonObject, type JsonBody, type JsonObject } from '../../json/parse-body.ts';
import { scanMembers } from '../../json/scan-members.ts';
import type { Edit } from '../../json/splice-body.ts';
import { dropWarning, type Repair, type RepairTarget } from '../../repair-parameters.ts';
import type { ValuePath } from '../../text-view.ts';
import { claudeName, geminiName, signaturesIn, signaturesOfEach, vendorFieldsInMessages } from '../../vendor-fields.ts';
import { type ChatModel, chatModel } from './model.ts';

const option: ReadonlySet<string> = new Set(['include_usage']);
const nothing: readonly Edit[] = [];
const closeBrace = 0x7d;
const openBrace = 0x7b;

/**
 * Returns the edits that make a stream report usage. There are none for a non-streaming request, one that already asks, or one whose
 * options the provider will reject. In these cases the usage reaches the client.
 * @param body with the range of `stream_options` located.
 */
export function requestUsage({ bytes, members, ranges }: JsonBody): readonly Edit[] {
	if (members.stream !== true) return nothing;
	const options = members.stream_options;
	const range = ranges.get('stream_options');
	if (range === undefined) {
		// The last brace closes the body, which has at least the member `stream`.
		const end = bytes.lastIndexOf(closeBrace);
		return options === undefined ? [{ start: end, end, text: ',"stream_options":{"include_usage":true}' }] : [];
	}
	if (options === null) return [{ ...range, text: '{"include_usage":true}' }];
	if (!isJsonObject(options)) return [];
	const requested = options.include_usage;
	if (requested === undefined) {
		const start = bytes.indexOf(openBrace, range.start) + 1;
		return [{ start, end: start, text: `"include_usage":true${Object.keys(options).length === 0 ? '' : ','}` }];
	}
	if (requested !== false && requested !== null) return [];
	const found = scanMembers(bytes.subarray(range.start, range.end), option);
	const value = found.ranges.get('include_usage');
	if (value === undefined || found.repeated !== undefined) return [{ ...range, text: JSON.stringify({ ...options, include_usage: true }) }];
	return [{ start: range.start + value.start, end: range.start + value.end, text: 'true' }];
}

/** Models that OpenAI serves itself. Its open models are served by others, who report reasoning. */
const openaiName = /^(?:ft:)?(?:gpt-(?!oss)|chatgpt-|o\d)/;

export const chatVendorFields = vendorFieldsInMessages(
	({ extra_content, thinking_blocks, reasoning_content, tool_calls }) =>
		extra_content !== undefined ||
		thinking_blocks !== undefined ||
		reasoning_content !== undefined ||
		(Array.isArray(tool_calls) && tool_calls.some((call) => isJsonObject(call) && call.extra_content !== undefined)),
	vendorSpecificForChat,
);

function vendorSpecificForChat(message: JsonObject, knownAs: string): readonly ValuePath[] {
	const calls: readonly unknown[] = Array.isArray(message.tool_calls) ? message.tool_calls : [];
	return [
		...(geminiName.test(knownAs) ? [] : [...signaturesIn(message, []), ...signaturesOfEach(calls, ['tool_calls'])]),
		...(message.thinking_blocks !== undefined && !claudeName.test(knownAs) ? [['thinking_blocks']] : []),
		...(message.reasoning_content !== undefined && openaiName.test(knownAs) ? [['reasoning_content']] : []),
	];
}

export function repairChat(members: JsonObject, { knownAs, isListed, said }: RepairTarget): Repair | undefined {
	const { max_tokens, max_completion_tokens, temperature, top_p, reasoning_effort } = members;
	const hasCap = isGiven(max_tokens);
	if (!hasCap && temperature === undefined && top_p === undefined) return undefined;
	const named = isListed() ? chatModel(knownAs) : undefined;
	const rejectsCap = hasCap && (said.tokenParam ?? named?.tokenParam) === 'max_completion_tokens';
	const dropped = rejectedSampling(members, reasoning_effort, named, said);
	if (!rejectsCap && dropped.length === 0) return undefined;
	const hasBoth = rejectsCap && isGiven(max_completion_tokens);
	const renamesCap = rejectsCap && !hasBoth;
	const removed = [...dropped];
	if (hasBoth) removed.push('max_tokens');
	// A null under the new name would become a second member of that name.
	if (renamesCap && max_completion_tokens !== undefined) removed.push('max_completion_tokens');
	return {
		removed,
		renamed: renamesCap ? ['max_tokens', 'max_completion_tokens'] : undefined,
		warnings: [
			...(renamesCap ? ['max_tokens: sent as max_completion_tokens, the name that the model accepts'] : []),
			...(hasBoth ? ['max_tokens: dropped because max_completion_tokens is set'] : []),
			...dropped.map(dropWarning),
		],
	};
}

/** Returns the sampling settings that the model rejects. @param named capabilities by the model's name. */
export function rejectedSampling(
	members: JsonObject,
	effort: unknown,
	named: ChatModel | undefined,
	said: RepairTarget['said'],
): readonly string[] {
	// Newer reasoning models take sampling settings when reasoning is off.
	const samples = effort === 'none' && named?.efforts.includes('none') === true;
	const rejectsSampling = said.sampling === undefined ? named?.takesSampling === false && !samples : said.sampling === 'none';
	return rejectsSampling ? ['temperature', 'top_p'].filter((name) => isOtherThanOne(members[name])) : [];
}

function isGiven(value: unknown): boolean {
	return value !== undefined && value !== null;
}

/** A value that is not a number is the client's mistake; the provider's own error names it. */
function isOtherThanOne(value: unknown): boolean {
	return typeof value === 'number' && value !== 1;
}
