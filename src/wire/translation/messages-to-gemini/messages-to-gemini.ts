import { translateResponses } from '../../conversation/response-translation.ts';
import { geminiReading } from '../../dialects/gemini/response.ts';
import { messagesWriting } from '../../dialects/messages/response.ts';
import type { Translation } from '../translation.ts';
import { translateRequest } from './translate-request.ts';

/** Clients of the messages format, served by Gemini's own `generateContent`. */
export const messagesToGemini: Translation = {
	caller: 'messages',
	provider: 'gemini',
	translateRequest,
	...translateResponses(geminiReading, messagesWriting),
};
