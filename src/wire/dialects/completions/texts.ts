import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { itemsOf, objectsOf, type TextViews, type ValuePath, ViewBuilder } from '../../text-view.ts';
import { viewPrompts } from '../prompts.ts';

/** Members of a request that no model reads, or that are read by name. */
const knownMembers: ReadonlySet<string> = new Set(
	'prompt suffix model stream stream_options user max_tokens n best_of echo logprobs logit_bias seed stop metadata'.split(' '),
);

/** Members of responses and events that no model wrote, or that are read by name. */
const knownResponseMembers: ReadonlySet<string> = new Set(
	'id object created model choices usage system_fingerprint service_tier error prompt_filter_results'.split(' '),
);

const knownChoiceMembers: ReadonlySet<string> = new Set('index text logprobs finish_reason stop_reason content_filter_results'.split(' '));

/** Prefix of names of blocks that end within one event. */
const whole = 'whole/';

/** Texts of legacy completions for guardrails. */
export const completionsTextViews: TextViews = {
	eventNames: ['completion', 'error', 'message'],
	request(body) {
		const view = new ViewBuilder();
		viewPrompts(view, 'prompt', body);
		view.string('user', 'text', ['suffix'], body.suffix);
		view.others(body, knownMembers, 'user', []);
		return view;
	},
	response(body) {
		const view = new ViewBuilder();
		viewBody(view, body);
		return view;
	},
	event(event) {
		const view = new ViewBuilder();
		viewBody(view, event);
		const finished = objectsOf(event.choices).filter(([, { finish_reason }]) => typeof finish_reason === 'string');
		view.ended = [whole, ...finished.map(([index, choice]) => choiceName(choice, index))];
		return view;
	},
};

function viewBody(view: ViewBuilder, body: JsonObject): void {
	for (const [index, choice] of objectsOf(body.choices)) viewChoice(view, choice, choiceName(choice, index), ['choices', index]);
	view.block = `${whole}error`;
	view.string('assistant', 'other', ['error'], body.error);
	viewOthers(view, body, knownResponseMembers, '', []);
}

function choiceName({ index }: JsonObject, position: number): string {
	return `${typeof index === 'number' ? index : position}/`;
}

function viewChoice(view: ViewBuilder, choice: JsonObject, name: string, path: ValuePath): void {
	view.block = `${name}text`;
	view.string('assistant', 'text', [...path, 'text'], choice.text);
	if (isJsonObject(choice.logprobs)) viewLogprobs(view, choice.logprobs, name, [...path, 'logprobs']);
	viewOthers(view, choice, knownChoiceMembers, name, path);
}

/** Views the tokens of the text, which continue with it, and their alternatives. */
function viewLogprobs(view: ViewBuilder, { tokens, top_logprobs }: JsonObject, name: string, path: ValuePath): void {
	view.block = `${name}logprobs`;
	view.copies('assistant', path, itemsOf(tokens).filter(isText).join(''));
	view.block = `${whole}${name}logprobs`;
	view.copies(
		'assistant',
		path,
		objectsOf(top_logprobs)
			.flatMap(([, others]) => Object.keys(others))
			.join('\n'),
	);
}

function isText(value: unknown): value is string {
	return typeof value === 'string';
}

/** Views unknown members: strings may continue in later events, other values are complete. */
function viewOthers(view: ViewBuilder, members: JsonObject, known: ReadonlySet<string>, name: string, path: ValuePath): void {
	for (const member of Object.keys(members)) {
		if (known.has(member)) continue;
		view.block = `${isText(members[member]) ? '' : whole}${name}other/${member}`;
		view.others({ [member]: members[member] }, known, 'assistant', path);
	}
}
