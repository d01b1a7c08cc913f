/**
/**
 * Dialects of clients: OpenAI's chat completions, Anthropic's messages, and OpenAI's Responses API, embeddings and legacy completions. The
 * first is the default. Append only, because journals of earlier releases number the first two.
 */
export const clientDialectNames = ['chat', 'messages', 'responses', 'embeddings', 'completions'] as const;

export type ClientDialectName = (typeof clientDialectNames)[number];

/** Dialects of conversations, which are translated into each other. */
export type ConversationDialectName = 'chat' | 'messages' | 'responses' | 'gemini' | 'gemini-openai';

/** Dialects of providers: those of clients, Gemini's own, and Gemini's variant of chat completions. */
export type DialectName = ClientDialectName | ConversationDialectName | 'gemini-embeddings';
