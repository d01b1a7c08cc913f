/**
 * The dialects that clients may speak: OpenAI's chat completions, Anthropic's messages. The first is the default where none is named.
 * Append only: journals of earlier releases number the first two.
 */
export const clientDialectNames = ['chat', 'messages'] as const;

export type ClientDialectName = (typeof clientDialectNames)[number];

/** Those that providers speak: what clients speak too, Gemini's own, and what Gemini makes of chat completions. */
export type DialectName = ClientDialectName | 'gemini' | 'gemini-openai';
