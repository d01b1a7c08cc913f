import { translateResponses } from '../../conversation/response-translation.ts';
import { chatWriting } from '../../dialects/chat/response.ts';
import { messagesReading } from '../../dialects/messages/response.ts';
import type { Translation } from '../translation.ts';

/** Clients of chat completions, served by Anthropic's messages. */
export const chatToMessages: Translation = {
	caller: 'chat',
	provider: 'messages',
	...translateResponses(messagesReading, chatWriting),
};
