import type { FormatName } from '../core/format-name.ts';

/** What providers speak: the formats that callers speak too, Gemini's own, and what Gemini makes of chat completions. */
export type WireName = FormatName | 'gemini' | 'gemini-openai';
