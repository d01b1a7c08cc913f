import { translateResponses } from '../../conversation/response-translation.ts';
import { geminiReading } from '../../dialects/gemini/response.ts';
import { messagesWriting } from '../../dialects/messages/response.ts';
import type { Translation } from '../translation.ts';

/** Clients of the messages format, served by Gemini's own `generateContent`. */
export const messagesToGemini: Translation = {
	caller: 'messages',
	provider: 'gemini',
	...translateResponses(geminiReading, messagesWriting),
};
