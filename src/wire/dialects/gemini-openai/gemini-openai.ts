import { errorTranslation, type ResponseTranslation, TranslatedStream } from '../../conversation/translation.ts';
import { chat } from '../chat/chat.ts';
import { writeError } from '../chat/errors.ts';
import { chatReading } from '../chat/response-reader.ts';
import type { ConversationDialect } from '../dialect.ts';
import { readError } from '../gemini/errors.ts';
import { adaptChatRequest, geminiOpenaiRequestWriter } from './request-writer.ts';
import { repairBody, StreamRepair } from './response-repair.ts';

/** For clients of chat completions: deviations are repaired, everything else passes unchanged. */
const repairedResponses: ResponseTranslation = {
	translateResponse: repairBody,
	translateError: errorTranslation(readError, writeError),
	translateStream(call) {
		const repair = new StreamRepair(call);
		return new TranslatedStream(repair, repair);
	},
};

/** Gemini's variant of chat completions. */
export const geminiOpenai: ConversationDialect = {
	...chat,
	name: 'gemini-openai',
	requestWriter: geminiOpenaiRequestWriter,
	/** Errors are Google's own. */
	responses: { ...chatReading, readError },
	variant: { of: 'chat', adapt: adaptChatRequest, responses: repairedResponses },
};
