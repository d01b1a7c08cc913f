import { openaiPrefix } from '../../conversation/extensions.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { dropWarning, type Repair, type RepairTarget } from '../../repair-parameters.ts';
import type { ValuePath } from '../../text-view.ts';
import { claudeName, geminiName, signaturesOfEach, vendorFieldsInMessages } from '../../vendor-fields.ts';
import { claudeModel, lastSamplingVersion } from './model.ts';

export const messagesVendorFields = vendorFieldsInMessages(
	({ content }) =>
		Array.isArray(content) &&
		content.some((block) => isJsonObject(block) && ['extra_content', 'signature', 'data'].some((name) => block[name] !== undefined)),
	vendorSpecificForMessages,
);

/** Thinking that is unsigned, or encrypted by OpenAI, is not Claude's; other vendors that use its format may sign nothing. */
function vendorSpecificForMessages({ content }: JsonObject, knownAs: string): readonly ValuePath[] {
	if (!Array.isArray(content)) return [];
	const blocks: readonly unknown[] = content;
	const foreign = claudeName.test(knownAs) ? blocks.flatMap((block, index) => (isForeignThinking(block) ? [index] : [])) : [];
	// A message without content is rejected as well.
	if (foreign.length > 0 && foreign.length === blocks.length) return [[]];
	return [
		...(geminiName.test(knownAs) ? [] : signaturesOfEach(blocks, ['content'])),
		...foreign.map((index): ValuePath => ['content', index]),
	];
}

function isForeignThinking(block: unknown): boolean {
	if (!isJsonObject(block)) return false;
	const { type, signature, data } = block;
	if (type === 'thinking' && signature === '') return true;
	const encrypted = type === 'thinking' ? signature : type === 'redacted_thinking' ? data : undefined;
	return typeof encrypted === 'string' && encrypted.startsWith(openaiPrefix);
}

export function repairMessages(members: JsonObject, { knownAs, isListed, said, anthropicVersion }: RepairTarget): Repair | undefined {
	const given = ['temperature', 'top_p', 'top_k'].filter((name) => typeof members[name] === 'number');
	if (given.length === 0) return undefined;
	const named = isListed() ? claudeModel(knownAs) : undefined;
	const rejectsSampling = said.sampling === undefined ? named?.takesSampling === false : said.sampling === 'none';
	if (!rejectsSampling) return undefined;
	// Dates compare as text. The next version rejects the fields themselves, whatever their value.
	const rejectsDefaults = (anthropicVersion() ?? lastSamplingVersion) > lastSamplingVersion;
	const removed = rejectsDefaults ? given : given.filter((name) => !isClaudeDefault(name, Number(members[name])));
	return removed.length === 0 ? undefined : { removed, warnings: removed.map(dropWarning) };
}

function isClaudeDefault(name: string, value: number): boolean {
	return name === 'temperature' ? value === 1 : name === 'top_p' && value >= 0.99;
}
