import type { JsonObject } from '../../json/parse-body.ts';
import { translateError } from '../chat-to-gemini/translate-error.ts';
import { geminiModelOf } from '../gemini/gemini-model.ts';
import { markUnsigned } from '../gemini/mark-unsigned.ts';
import { RequestWarnings } from '../request-warnings.ts';
import type { TranslatedRequest, Translation, TranslationTarget } from '../translation.ts';
import { repairAnswer } from './repair-answer.ts';
import { RepairedStream } from './repaired-stream.ts';

/** Callers of chat completions, served by what Gemini makes of them: what deviates is repaired. */
export const chatToGeminiOpenai: Translation = {
	caller: 'chat',
	provider: 'gemini-openai',
	translateRequest,
	translateAnswer: repairAnswer,
	translateError,
	translateStream: (call) => new RepairedStream(call),
};

function translateRequest(request: JsonObject, target: TranslationTarget): TranslatedRequest {
	const warnings = new RequestWarnings();
	const { messages } = request;
	const isToBeSigned = geminiModelOf(target).needsSignatures && Array.isArray(messages);
	const body = { ...request, model: target.model, ...(isToBeSigned && { messages: markUnsigned(messages, warnings) }) };
	return { body, warnings: warnings.list() };
}
