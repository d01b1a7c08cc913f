import { describe, expect, it } from 'vitest';
import type { CacheWrites } from '../../../core/cost-factors.ts';
import { dialects } from '../dialects.ts';

const marked = (ttl: string): string => `{"messages":[{"content":[{"type":"text","text":"hi","cache_control":${ttl}}]}]}`;

describe('the cache writes that a request may cause', () => {
	it.each<[string, CacheWrites, string]>([
		['without a mark', 'none', '{"messages":[{"role":"user","content":"hi \\n \\u00e9 \\u003c \\u0060"}]}'],
		['with a mark', 'short', marked('{"type":"ephemeral"}')],
		['with a mark for five minutes', 'short', marked('{"type":"ephemeral","ttl":"5m"}')],
		['with a mark for an hour', 'hour', marked('{"type":"ephemeral","ttl":"1h"}')],
		['with a mark in escapes', 'hour', marked('{"type":"ephemeral"}').replace('cache_', '\\u0063ache_')],
		['with an hour in escapes', 'hour', marked('{"type":"ephemeral","ttl":"1h"}').replace('1h', '1\\u0068')],
		['with more escapes than are read', 'hour', `{"messages":[{"content":"${'\\u001b'.repeat(10_001)}"}]}`],
	])('of messages %s: %s', (_name, expected, body) => {
		expect(dialects.messages.cacheWrites(Buffer.from(body))).toBe(expected);
	});

	it('of chat completions are short ones whatever the request says, and there are none for Gemini', () => {
		const body = Buffer.from(marked('{"ttl":"1h"}'));
		expect([dialects.chat.cacheWrites(Buffer.from('{}')), dialects.chat.cacheWrites(body), dialects.gemini.cacheWrites(body)]).toEqual([
			'short',
			'short',
			'none',
		]);
	});
});
