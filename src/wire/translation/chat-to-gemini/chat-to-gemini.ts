import { translateResponses } from '../../conversation/response-translation.ts';
import { chatWriting } from '../../dialects/chat/response.ts';
import { geminiReading } from '../../dialects/gemini/response.ts';
import type { Translation } from '../translation.ts';

/** Clients of chat completions, served by Gemini's own `generateContent`. */
export const chatToGemini: Translation = {
	caller: 'chat',
	provider: 'gemini',
	...translateResponses(geminiReading, chatWriting),
};
