import { Rejection } from '../../../core/rejection.ts';
import type { RequestWarnings, TranslationTarget } from '../../conversation/request-translation.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { requireTexts } from '../embeddings/embeddings.ts';

/** Google's maximum number of texts in one request. */
const maxTexts = 100;

/** Members that are read by name, or have no meaning for Google. */
const knownMembers: ReadonlySet<string> = new Set('input model encoding_format dimensions user input_type task_type stream'.split(' '));

/** Google's names for the values of `input_type` of other vendors. */
const taskTypes: ReadonlyMap<unknown, string> = new Map([
	['query', 'RETRIEVAL_QUERY'],
	['search_query', 'RETRIEVAL_QUERY'],
	['document', 'RETRIEVAL_DOCUMENT'],
	['search_document', 'RETRIEVAL_DOCUMENT'],
]);

/** Writes embeddings as a batch of Gemini's own. @throws `Rejection` `field_invalid`. */
export function adaptEmbeddings(request: JsonObject, { model }: TranslationTarget, warnings: RequestWarnings): JsonObject {
	const texts = requireTexts(request.input);
	if (texts.length > maxTexts) {
		throw new Rejection('field_invalid', {
			param: 'input',
			message: `\`input\` has ${texts.length} entries, and Gemini takes at most ${maxTexts} in one request: send them in several requests`,
		});
	}
	for (const name in request) {
		if (!knownMembers.has(name) && request[name] !== null) warnings.add(name, 'ignored');
	}
	const settings = { ...taskTypeOf(request, warnings), ...dimensionsOf(request) };
	return { requests: texts.map((text) => ({ model: `models/${model}`, content: { parts: [{ text }] }, ...settings })) };
}

function taskTypeOf({ task_type, input_type }: JsonObject, warnings: RequestWarnings): JsonObject {
	if (typeof task_type === 'string') return { taskType: task_type };
	if (task_type !== undefined && task_type !== null) warnings.add('task_type', 'ignored');
	if (input_type === undefined || input_type === null) return {};
	const taskType = taskTypes.get(input_type);
	if (taskType !== undefined) return { taskType };
	warnings.add('input_type', 'ignored');
	return {};
}

function dimensionsOf({ dimensions }: JsonObject): JsonObject {
	return typeof dimensions === 'number' ? { outputDimensionality: dimensions } : {};
}
