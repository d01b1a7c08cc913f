import { describe, expect, it } from 'vitest';
import { type JsonObject, parseBody } from '../json/parse-body.ts';
import { spliceBody } from '../json/splice-body.ts';
import { type RequestedOutput, requestedOutput, writeCap } from './request-facts.ts';

const capMembers = ['max_completion_tokens', 'max_tokens'] as const;

it.each([
	[{ max_tokens: 5 }, { capTokens: 5, choices: 1 }],
	[
		{ max_completion_tokens: 5, n: 3 },
		{ capTokens: 5, choices: 3 },
	],
	[
		{ max_completion_tokens: 5, max_tokens: 9 },
		{ capTokens: 9, choices: 1 },
	],
	[
		{ max_completion_tokens: null, max_tokens: 0 },
		{ capTokens: 0, choices: 1 },
	],
	[
		{ max_tokens: null, n: null },
		{ capTokens: undefined, choices: 1 },
	],
	[{}, { capTokens: undefined, choices: 1 }],
	[
		{ max_tokens: 1e308, n: 1e308 },
		{ capTokens: 2_147_483_647, choices: 128 },
	],
	[
		{ max_tokens: Number.POSITIVE_INFINITY, n: Number.NaN },
		{ capTokens: 2_147_483_647, choices: 1 },
	],
	[
		{ max_tokens: 1.5, n: -1 },
		{ capTokens: 2, choices: 1 },
	],
] as [JsonObject, RequestedOutput][])('%j asks for %j', (members, expected) => {
	expect(requestedOutput(members, capMembers, members.n)).toEqual(expected);
});

describe('a cap is written', () => {
	function capped(json: string): string {
		const body = parseBody(Buffer.from(json), new Set(['max_tokens', 'max_completion_tokens']));
		return spliceBody(body.bytes, writeCap(body, 100, capMembers)).toString();
	}

	it.each([
		['where there was none', '{"model":"m"} ', '{"model":"m","max_completion_tokens":100} '],
		['over a higher one', '{"max_tokens": 1000, "model":"m"}', '{"max_tokens": 100, "model":"m"}'],
		['over null, where the provider reads it', '{"max_completion_tokens":null}', '{"max_completion_tokens":100}'],
		['beside a null that it does not read', '{"max_tokens":null}', '{"max_tokens":null,"max_completion_tokens":100}'],
		['over one of two nulls', '{"max_tokens":null,"max_completion_tokens":null}', '{"max_tokens":null,"max_completion_tokens":100}'],
		['over the one that is given', '{"max_tokens":1e3,"max_completion_tokens":null}', '{"max_tokens":100,"max_completion_tokens":null}'],
		['over both', '{"max_tokens":1e3,"max_completion_tokens":2000}', '{"max_tokens":100,"max_completion_tokens":100}'],
	])('%s', (_name, json, expected) => {
		expect(capped(json)).toBe(expected);
	});
});
