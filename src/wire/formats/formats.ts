import { chatCompletions } from '../dialects/chat/chat.ts';
import { messages } from '../dialects/messages/messages.ts';
import type { Format } from './format.ts';

/** Every format that callers may speak. */
export const formats: readonly Format[] = [chatCompletions, messages];
