import { Rejection } from '../../../core/rejection.ts';
import { greatestCap } from '../../usage/request-facts.ts';
import { embeddingsUsage } from '../../usage/usage-reader.ts';
import { ChatCapEnding } from '../chat/cap-ending.ts';
import { openaiEvents } from '../chat/events.ts';
import type { ClientDialect } from '../dialect.ts';
import { checkFields, type FieldKind, type FieldTable, integerOf, modelName } from '../field-checks.ts';
import { checkPrompts, filledText, promptContent, textsOf } from '../prompts.ts';
import { withoutConversation } from '../without-conversation.ts';
import { fittingSteps } from './encoding.ts';
import { embeddingsTextViews } from './texts.ts';

const input: FieldKind = { expected: 'a string, or an array of strings or token ids', accepts: () => true };

const required: FieldTable = { model: modelName, input };

const optional: FieldTable = {
	encoding_format: { expected: '`float` or `base64`', accepts: (value) => value === 'float' || value === 'base64' },
	dimensions: integerOf(1, greatestCap),
	stream: { expected: '`false`, because embeddings have no streams', accepts: (value) => value === false },
};

/** Kinds of providers whose models have OpenAI's tokens. */
const kindsWithTokenIds: ReadonlySet<string> = new Set(['openai', 'azure-openai']);

/** OpenAI's embeddings. */
export const embeddings: ClientDialect = {
	...openaiEvents,
	...withoutConversation,
	name: 'embeddings',
	validate(body) {
		checkFields(body, required, optional);
		checkPrompts(body.input, 'input', filledText);
	},
	requireServable(members, kind) {
		if (!kindsWithTokenIds.has(kind)) requireTexts(members.input);
	},
	fitResponse: fittingSteps,
	textViews: embeddingsTextViews,
	usage: embeddingsUsage,
	editedMembers: [],
	requestedOutput: () => ({ capTokens: 0, choices: 1 }),
	writeCap: () => [],
	cacheWrites: () => 'none',
	surcharges: {},
	followToCap: (request) => new ChatCapEnding(request, 0, {}),
	inputContent: ({ input: given }) => promptContent(given),
};

/** @throws `Rejection` `field_invalid` for token ids. */
export function requireTexts(given: unknown): readonly string[] {
	const texts = textsOf(given);
	if (texts !== undefined) return texts;
	throw new Rejection('field_invalid', {
		param: 'input',
		message: '`input` has token ids, which only models of OpenAI and Azure OpenAI take: send strings, or use such a model',
	});
}
