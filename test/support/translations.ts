/** All translations from one dialect to another, as tests and benchmarks execute them. */
import type { ClientDialectName, DialectName } from '../../src/core/dialect-name.ts';
import type { ResponseTranslation } from '../../src/wire/conversation/translation.ts';
import { clientDialects, dialects, isConversation } from '../../src/wire/dialects/dialects.ts';
import { responseTranslation } from '../../src/wire/translate.ts';

/** Samples of a dialect for tests and benchmarks. */
interface DialectSamples {
	/** Folder of `test/fixtures/recorded`. */
	readonly recordings: string;
	readonly models: readonly [older: string, newer: string];
}

export const samples: Readonly<Record<DialectName, DialectSamples>> = {
	chat: { recordings: 'openai', models: ['gpt-4o', 'gpt-5.6'] },
	messages: { recordings: 'anthropic', models: ['claude-haiku-4-5', 'claude-opus-5'] },
	gemini: { recordings: 'gemini', models: ['gemini-2.5-pro', 'gemini-3-pro-preview'] },
	'gemini-openai': { recordings: 'openai', models: ['gemini-2.5-pro', 'gemini-3-pro-preview'] },
	responses: { recordings: 'responses', models: ['gpt-4o', 'gpt-5.6'] },
	embeddings: { recordings: 'embeddings', models: ['text-embedding-ada-002', 'text-embedding-3-small'] },
	'gemini-embeddings': { recordings: 'embeddings', models: ['gemini-embedding-001', 'gemini-embedding-2'] },
	completions: { recordings: 'openai', models: ['davinci-002', 'gpt-3.5-turbo-instruct'] },
};

export interface Translation extends ResponseTranslation {
	readonly caller: ClientDialectName;
	readonly provider: DialectName;
}

function translationOf(caller: Translation['caller'], provider: Translation['provider']): Translation {
	return { caller, provider, ...responseTranslation(caller, provider) };
}

export const chatToMessages = translationOf('chat', 'messages');
export const chatToGemini = translationOf('chat', 'gemini');
export const chatToGeminiOpenai = translationOf('chat', 'gemini-openai');
export const messagesToChat = translationOf('messages', 'chat');
export const messagesToGemini = translationOf('messages', 'gemini');
export const messagesToGeminiOpenai = translationOf('messages', 'gemini-openai');

export const translations: readonly Translation[] = Object.values(clientDialects).flatMap(({ name: caller }) =>
	Object.values(dialects)
		.filter(({ name, variant }) => caller !== name && (variant?.of === caller || (isConversation(caller) && isConversation(name))))
		.map(({ name }) => translationOf(caller, name)),
);
