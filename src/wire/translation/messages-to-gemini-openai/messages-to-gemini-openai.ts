import { translateResponses } from '../../conversation/response-translation.ts';
import { geminiOpenaiReading } from '../../dialects/gemini-openai/response.ts';
import { messagesWriting } from '../../dialects/messages/response.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { geminiModelOf } from '../gemini/gemini-model.ts';
import { markUnsigned } from '../gemini/mark-unsigned.ts';
import { listAt } from '../messages/fields.ts';
import { chatModelOf } from '../messages-to-chat/chat-model.ts';
import { chatRequest } from '../messages-to-chat/translate-request.ts';
import { RequestWarnings } from '../request-warnings.ts';
import type { TranslatedRequest, Translation, TranslationTarget } from '../translation.ts';

/** Callers of the messages format, served by what Gemini makes of chat completions. */
export const messagesToGeminiOpenai: Translation = {
	caller: 'messages',
	provider: 'gemini-openai',
	translateRequest,
	...translateResponses(geminiOpenaiReading, messagesWriting),
};

function translateRequest(members: JsonObject, target: TranslationTarget): TranslatedRequest {
	const warnings = new RequestWarnings();
	const body = chatRequest(members, target, { ...chatModelOf(target), takesSignatures: true }, warnings);
	const messages = geminiModelOf(target).needsSignatures ? markUnsigned(listAt(body.messages), warnings) : body.messages;
	return { body: { ...body, messages }, warnings: warnings.list() };
}
