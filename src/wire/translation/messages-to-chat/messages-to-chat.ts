import type { Translation } from '../translation.ts';
import { ChunkStream } from './chunk-stream.ts';
import { translateAnswer } from './translate-answer.ts';
import { translateError } from './translate-error.ts';
import { translateRequest } from './translate-request.ts';

/** Callers of the messages format, served by OpenAI, Azure OpenAI and servers that speak their format. */
export const messagesToChat: Translation = {
	caller: 'messages',
	provider: 'chat',
	translateRequest,
	translateAnswer,
	translateError,
	translateStream: (call) => new ChunkStream(call),
};
