import { failureWarnings } from '../gemini/finish.ts';
import type { Translation } from '../translation.ts';
import { ContentStream } from './content-stream.ts';
import { translateAnswer } from './translate-answer.ts';
import { translateError } from './translate-error.ts';
import { translateRequest } from './translate-request.ts';

/** Callers of the messages format, served by Gemini's own `generateContent`. */
export const messagesToGemini: Translation = {
	caller: 'messages',
	provider: 'gemini',
	translateRequest,
	translateAnswer,
	answerWarnings: (body) => failureWarnings(body, 'stop_reason'),
	translateError,
	translateStream: (call) => new ContentStream(call),
};
