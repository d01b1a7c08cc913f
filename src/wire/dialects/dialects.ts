import type { ClientDialectName, DialectName } from '../../core/dialect-name.ts';
import { chat } from './chat/chat.ts';
import type { ClientDialect, Dialect } from './dialect.ts';
import { gemini } from './gemini/gemini.ts';
import { geminiOpenai } from './gemini-openai/gemini-openai.ts';
import { messages } from './messages/messages.ts';

/** Dialects of clients. */
export const clientDialects: Readonly<Record<ClientDialectName, ClientDialect>> = { chat, messages };

/** Dialects of providers. */
export const dialects: Readonly<Record<DialectName, Dialect>> = { ...clientDialects, gemini, 'gemini-openai': geminiOpenai };
