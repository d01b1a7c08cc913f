import { chatCompletions } from '../dialects/chat/chat.ts';
import { geminiContent } from '../dialects/gemini/gemini.ts';
import { messages } from '../dialects/messages/messages.ts';
import type { WireName } from '../wire-name.ts';
import type { ProviderFormat } from './format.ts';

export const providerFormats: Readonly<Record<WireName, ProviderFormat>> = {
	chat: chatCompletions,
	messages,
	gemini: geminiContent,
	'gemini-openai': chatCompletions,
};
