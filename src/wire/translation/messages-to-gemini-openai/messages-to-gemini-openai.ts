import { translateResponses } from '../../conversation/response-translation.ts';
import { geminiOpenaiReading } from '../../dialects/gemini-openai/response.ts';
import { messagesWriting } from '../../dialects/messages/response.ts';
import type { Translation } from '../translation.ts';

/** Clients of the messages format, served by what Gemini makes of chat completions. */
export const messagesToGeminiOpenai: Translation = {
	caller: 'messages',
	provider: 'gemini-openai',
	...translateResponses(geminiOpenaiReading, messagesWriting),
};
