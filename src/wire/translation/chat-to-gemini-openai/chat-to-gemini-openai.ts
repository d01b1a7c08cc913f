import { repairedResponses } from '../../dialects/gemini-openai/response.ts';
import type { Translation } from '../translation.ts';

/** Clients of chat completions, served by what Gemini makes of them: what deviates is repaired. */
export const chatToGeminiOpenai: Translation = {
	caller: 'chat',
	provider: 'gemini-openai',
	...repairedResponses,
};
