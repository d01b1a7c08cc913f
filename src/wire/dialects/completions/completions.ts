import type { JsonObject } from '../../json/parse-body.ts';
import { greatestCap, maxChoices, requestedOutput, writeCap } from '../../usage/request-facts.ts';
import { completionsUsage } from '../../usage/usage-reader.ts';
import { ChatCapEnding } from '../chat/cap-ending.ts';
import { openaiEvents } from '../chat/events.ts';
import type { ClientDialect } from '../dialect.ts';
import { boolean, checkFields, type FieldTable, integerOf, modelName, number, object } from '../field-checks.ts';
import { surcharges } from '../messages/request-facts.ts';
import { checkPrompts, countPrompts, promptContent } from '../prompts.ts';
import { withoutConversation } from '../without-conversation.ts';
import { completionsTextViews } from './texts.ts';

const required: FieldTable = { model: modelName };

const optional: FieldTable = {
	max_tokens: integerOf(0, greatestCap),
	n: integerOf(1, maxChoices),
	best_of: integerOf(0, maxChoices),
	suffix: { expected: 'a string', accepts: (value) => typeof value === 'string' },
	stream: boolean,
	stream_options: object,
	temperature: number,
	top_p: number,
	frequency_penalty: number,
	presence_penalty: number,
};

const capMembers = ['max_tokens'] as const;

/** Output of a request without `max_tokens`. */
const defaultMaxTokens = 16;

/** OpenAI's legacy completions. */
export const completions: ClientDialect = {
	...openaiEvents,
	...withoutConversation,
	name: 'completions',
	validate(body) {
		checkFields(body, required, optional);
		if (body.prompt !== undefined && body.prompt !== null) checkPrompts(body.prompt, 'prompt');
	},
	textViews: completionsTextViews,
	usage: completionsUsage,
	editedMembers: ['stream_options', ...capMembers],
	/** Choices that are generated and not returned cost as much. */
	requestedOutput(body) {
		const { capTokens, choices } = requestedOutput(body, capMembers, Math.max(numberOr1(body.n), numberOr1(body.best_of)));
		return { capTokens, choices: choices * countPrompts(body.prompt), defaultTokens: defaultMaxTokens };
	},
	writeCap: (body, tokens) => writeCap(body, tokens, capMembers),
	// Servers write to their cache automatically; the model's price decides the cost.
	cacheWrites: () => 'short',
	surcharges,
	followToCap: (request) => new ChatCapEnding(request, numberOr1(request.n) * countPrompts(request.prompt), { text: '' }),
	inputContent: ({ prompt, suffix }) => promptContent(prompt, suffix),
};

function numberOr1(value: JsonObject[string]): number {
	return typeof value === 'number' ? value : 1;
}
