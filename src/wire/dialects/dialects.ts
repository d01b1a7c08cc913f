import type { ClientDialectName, ConversationDialectName, DialectName } from '../../core/dialect-name.ts';
import { chat } from './chat/chat.ts';
import { completions } from './completions/completions.ts';
import type { ClientConversationDialect, ClientDialect, ConversationDialect, Dialect } from './dialect.ts';
import { embeddings } from './embeddings/embeddings.ts';
import { gemini } from './gemini/gemini.ts';
import { geminiEmbeddings } from './gemini-embeddings/gemini-embeddings.ts';
import { geminiOpenai } from './gemini-openai/gemini-openai.ts';
import { messages } from './messages/messages.ts';
import { responses } from './responses/responses.ts';

/** Dialects of clients whose requests are conversations. */
export const clientConversations: Readonly<Record<ClientDialectName & ConversationDialectName, ClientConversationDialect>> = {
	chat,
	messages,
	responses,
};

/** Dialects of conversations, each of which providers may use. */
export const conversations: Readonly<Record<ConversationDialectName, ConversationDialect>> = {
	...clientConversations,
	gemini,
	'gemini-openai': geminiOpenai,
};

/** Dialects of clients. */
export const clientDialects: Readonly<Record<ClientDialectName, ClientDialect>> = {
	...clientConversations,
	embeddings,
	completions,
};

/** Dialects of providers. */
export const dialects: Readonly<Record<DialectName, Dialect>> = {
	...clientDialects,
	...conversations,
	'gemini-embeddings': geminiEmbeddings,
};

export function isConversation(name: ClientDialectName): name is ClientDialectName & ConversationDialectName;
export function isConversation(name: DialectName): name is ConversationDialectName;
export function isConversation(name: DialectName): boolean {
	return Object.hasOwn(conversations, name);
}
