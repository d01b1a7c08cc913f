/** The dialects that clients may speak: OpenAI's chat completions, Anthropic's messages. */
export type ClientDialectName = 'chat' | 'messages';

/** Those that providers speak: what clients speak too, Gemini's own, and what Gemini makes of chat completions. */
export type DialectName = ClientDialectName | 'gemini' | 'gemini-openai';
