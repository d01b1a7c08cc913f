import { chatCompletions } from './chat-completions/chat-completions.ts';
import type { Format } from './format.ts';
import { messages } from './messages/messages.ts';

/** Every format that callers may speak. */
export const formats: readonly Format[] = [chatCompletions, messages];
