import type { Translation } from '../translation.ts';
import { ChunkStream } from './chunk-stream.ts';
import { answerWarnings } from './finish-reason.ts';
import { translateAnswer } from './translate-answer.ts';
import { translateError } from './translate-error.ts';
import { translateRequest } from './translate-request.ts';

/** Callers of chat completions, served by Anthropic's messages. */
export const chatToMessages: Translation = {
	caller: 'chat',
	provider: 'messages',
	translateRequest,
	translateAnswer,
	answerWarnings,
	translateError,
	translateStream: (call) => new ChunkStream(call),
};
