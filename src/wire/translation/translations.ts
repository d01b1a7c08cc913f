import type { FormatName } from '../../core/format-name.ts';
import type { WireName } from '../wire-name.ts';
import { chatToGemini } from './chat-to-gemini/chat-to-gemini.ts';
import { chatToGeminiOpenai } from './chat-to-gemini-openai/chat-to-gemini-openai.ts';
import { chatToMessages } from './chat-to-messages/chat-to-messages.ts';
import { messagesToChat } from './messages-to-chat/messages-to-chat.ts';
import { messagesToGemini } from './messages-to-gemini/messages-to-gemini.ts';
import { messagesToGeminiOpenai } from './messages-to-gemini-openai/messages-to-gemini-openai.ts';
import type { Translation } from './translation.ts';

export const translations: readonly Translation[] = [
	chatToMessages,
	chatToGemini,
	chatToGeminiOpenai,
	messagesToChat,
	messagesToGemini,
	messagesToGeminiOpenai,
];

/** @returns undefined where both speak the same. */
export function translationOf(caller: FormatName, provider: WireName): Translation | undefined {
	return translations.find((one) => one.caller === caller && one.provider === provider);
}
