/**
 * Dialects of clients: OpenAI's chat completions, Anthropic's messages. The first is the default. Append only, because journals of earlier
 * releases number the first two.
 */
export const clientDialectNames = ['chat', 'messages'] as const;

export type ClientDialectName = (typeof clientDialectNames)[number];

/** Dialects of providers: those of clients, Gemini's own, and Gemini's variant of chat completions. */
export type DialectName = ClientDialectName | 'gemini' | 'gemini-openai';
