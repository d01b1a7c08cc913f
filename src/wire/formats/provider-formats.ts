import type { WireName } from '../wire-name.ts';
import { chatCompletions } from './chat-completions/chat-completions.ts';
import type { ProviderFormat } from './format.ts';
import { geminiContent } from './gemini/gemini-content.ts';
import { messages } from './messages/messages.ts';

export const providerFormats: Readonly<Record<WireName, ProviderFormat>> = {
	chat: chatCompletions,
	messages,
	gemini: geminiContent,
	'gemini-openai': chatCompletions,
};
