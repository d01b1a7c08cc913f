import { type TextViews, ViewBuilder } from '../../text-view.ts';
import { viewPrompts } from '../prompts.ts';

/** Members that contain no text, or are read by name. */
const knownMembers: ReadonlySet<string> = new Set(
	'input model encoding_format dimensions user input_type task_type output_dimension output_dtype truncation stream'.split(' '),
);

const noTexts = (): ViewBuilder => new ViewBuilder();

/** Texts of embeddings for guardrails. Responses have only numbers. */
export const embeddingsTextViews: TextViews = {
	eventNames: [],
	request(body) {
		const view = new ViewBuilder();
		viewPrompts(view, 'input', body);
		view.others(body, knownMembers, 'user', []);
		return view;
	},
	response: noTexts,
	event: noTexts,
};
