import { translateResponses } from '../../conversation/response-translation.ts';
import { chatReading } from '../../dialects/chat/response.ts';
import { messagesWriting } from '../../dialects/messages/response.ts';
import type { Translation } from '../translation.ts';

/** Clients of the messages format, served by OpenAI, Azure OpenAI and servers that speak their format. */
export const messagesToChat: Translation = {
	caller: 'messages',
	provider: 'chat',
	...translateResponses(chatReading, messagesWriting),
};
