/** All translations from one dialect to another, as tests and benchmarks execute them. */
import type { ConversationDialectName } from '../../src/core/dialect-name.ts';
import type { ResponseTranslation } from '../../src/wire/conversation/translation.ts';
import { clientConversations, conversations } from '../../src/wire/dialects/dialects.ts';
import { responseTranslation } from '../../src/wire/translate.ts';

/** Samples of a dialect for tests and benchmarks. */
interface DialectSamples {
	/** Folder of `test/fixtures/recorded`. */
	readonly recordings: string;
	readonly models: readonly [older: string, newer: string];
}

export const samples: Readonly<Record<ConversationDialectName, DialectSamples>> = {
	chat: { recordings: 'openai', models: ['gpt-4o', 'gpt-5.6'] },
	messages: { recordings: 'anthropic', models: ['claude-haiku-4-5', 'claude-opus-5'] },
	gemini: { recordings: 'gemini', models: ['gemini-2.5-pro', 'gemini-3-pro-preview'] },
	'gemini-openai': { recordings: 'openai', models: ['gemini-2.5-pro', 'gemini-3-pro-preview'] },
};

export interface Translation extends ResponseTranslation {
	readonly caller: keyof typeof clientConversations;
	readonly provider: ConversationDialectName;
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

export const translations: readonly Translation[] = Object.values(clientConversations).flatMap(({ name: caller }) =>
	Object.values(conversations)
		.filter(({ name }) => caller !== name)
		.map(({ name }) => translationOf(caller, name)),
);
