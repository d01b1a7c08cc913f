/** Readers must not depend on a completely parsed body, because large bodies will be parsed in parts. */
import { describe, expect, test } from 'vitest';
import { readChatRequest } from '../dialects/chat/request-reader.ts';
import { readMessagesRequest } from '../dialects/messages/request-reader.ts';
import { parseExactly } from '../json/exact-json.ts';
import type { JsonObject } from '../json/parse-body.ts';
import type { Capability, ContentPart, Conversation, Turn } from './conversation.ts';
import { isTrue, type JsonView, numberIn, objectIn, requireObject, requireText, viewOf, visibleTextIn } from './json-view.ts';
import { noReasoningEncryption } from './reasoning-encryption.ts';
import { type RequestReader, RequestWarnings } from './request-translation.ts';

const body = parseExactly('{"a":[{"b":"x"}],"n":1,"big":12345678901234567890,"none":null,"yes":true,"blank":" "}') as JsonObject;

describe('a view of a parsed body', () => {
	const view = viewOf(body);

	test('provides the path of each value as rejections name it', () => {
		expect(view.path).toBe('');
		expect(view.member('a').items()[0]?.member('b').path).toBe('a[0].b');
		expect(view.member('nothing').member('here').path).toBe('nothing.here');
	});

	test('distinguishes kinds; an integer beyond the precision of a double is a number and not an object', () => {
		const kinds = ['a', 'n', 'big', 'none', 'yes', 'blank', 'absent'].map((name) => view.member(name).kind);
		expect(kinds).toEqual(['array', 'number', 'number', 'null', 'boolean', 'string', 'absent']);
		expect([numberIn(view.member('n')), numberIn(view.member('big')), objectIn(view.member('big'))]).toEqual([1, undefined, undefined]);
		expect([view.member('none').isGiven, view.member('absent').isGiven, view.member('yes').isGiven]).toEqual([false, false, true]);
		expect([isTrue(view.member('yes')), isTrue(view.member('n'))]).toEqual([true, false]);
		expect([visibleTextIn(view.member('blank')), view.member('blank').prefix(1), view.member('n').prefix(1)]).toEqual([undefined, ' ', '']);
		expect(view.names()).toEqual(Object.keys(body));
	});

	test('rejects a value of the wrong type with its path', () => {
		expect(() => requireText(view.member('a').member('b'))).toThrow('`a.b` must be a string');
		expect(() => requireObject(view.member('n'))).toThrow('`n` must be an object');
	});
});

/** A view with counters of the strings and containers that are decoded completely. */
class WatchedView implements JsonView {
	readonly #inner: JsonView;
	readonly #decoded: string[];

	constructor(inner: JsonView, decoded: string[]) {
		this.#inner = inner;
		this.#decoded = decoded;
	}

	get path(): string {
		return this.#inner.path;
	}

	get kind(): JsonView['kind'] {
		return this.#inner.kind;
	}

	get isGiven(): boolean {
		return this.#inner.isGiven;
	}

	member(name: string): JsonView {
		return new WatchedView(this.#inner.member(name), this.#decoded);
	}

	has(name: string): boolean {
		return this.#inner.has(name);
	}

	textOf(name: string): string | undefined {
		return this.member(name).text();
	}

	names(): readonly string[] {
		return this.#inner.names();
	}

	items(): readonly JsonView[] {
		return this.#inner.items().map((item) => new WatchedView(item, this.#decoded));
	}

	prefix(length: number): string {
		return this.#inner.prefix(length);
	}

	text(): string | undefined {
		const text = this.#inner.text();
		if (text !== undefined) this.#decoded.push(this.path);
		return text;
	}

	value(): unknown {
		if (this.kind === 'object' || this.kind === 'array' || this.kind === 'string') this.#decoded.push(this.path);
		return this.#inner.value();
	}
}

const base64 = 'A'.repeat(4000);
const requests: readonly (readonly [string, RequestReader, JsonObject, readonly string[]])[] = [
	[
		'chat completions',
		readChatRequest,
		{
			model: 'm',
			messages: [
				{
					role: 'user',
					content: [
						{ type: 'image_url', image_url: { url: `data:image/png;base64,${base64}` } },
						{ type: 'file', file: { file_data: `data:application/pdf;base64,${base64}` } },
						{ type: 'input_audio', input_audio: { format: 'wav', data: base64 } },
					],
				},
			],
		},
		['[0].image_url.url', '[1].file.file_data', '[2].input_audio.data'],
	],
	[
		'messages',
		readMessagesRequest,
		{
			model: 'm',
			max_tokens: 5,
			messages: [
				{
					role: 'user',
					content: [
						{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64 } },
						{ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: base64 } },
					],
				},
			],
		},
		['[0].source.data', '[1].source.data'],
	],
];

describe.each(requests)('the reader of %s', (_name, read, request, attachments) => {
	const takes: ReadonlySet<Capability> = new Set(['audio']);
	const paths = attachments.map((path) => `messages[0].content${path}`);

	function partsOf(conversation: Conversation): readonly ContentPart[] {
		const turns: Turn[] = [];
		conversation.readTurns((turn) => turns.push(turn));
		return turns.flatMap((turn) => (turn.role === 'user' ? turn.parts : []));
	}

	test('decodes no attachment before it is written, and no complete message or part', () => {
		const decoded: string[] = [];
		const parts = partsOf(read(new WatchedView(viewOf(request), decoded), takes, new RequestWarnings(), noReasoningEncryption));
		expect(parts).toHaveLength(attachments.length);
		expect(decoded.filter((path) => paths.includes(path))).toEqual([]);
		expect(decoded.filter((path) => /^messages(\[0\](\.content(\[\d\])?)?)?$/.test(path))).toEqual([]);
		for (const part of parts) {
			const data = part.type === 'audio' ? part : 'source' in part && part.source.kind === 'data' ? part.source : undefined;
			expect(data?.base64()).toBe(base64);
		}
		expect(decoded.filter((path) => paths.includes(path))).toEqual(paths);
	});
});
