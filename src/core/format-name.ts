/** The formats that callers may speak: OpenAI's chat completions, Anthropic's messages. */
export type FormatName = 'chat' | 'messages';
