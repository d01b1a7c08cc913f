import { chat } from '../chat/chat.ts';
import type { Dialect } from '../dialect.ts';
import { geminiOpenaiRequestWriter } from './request-writer.ts';
import { geminiOpenaiReading, repairedResponses } from './response.ts';

/** What Gemini makes of chat completions. */
export const geminiOpenai: Dialect = {
	...chat,
	name: 'gemini-openai',
	requestWriter: geminiOpenaiRequestWriter,
	responses: geminiOpenaiReading,
	repairs: { of: 'chat', responses: repairedResponses },
};
