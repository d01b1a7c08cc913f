/** Any legal stream of the Responses API, in any pieces of bytes, for clients of the other dialects and back. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mutate, seededNumbers } from '../../../../test/support/mutations.ts';
import { readRecordings } from '../../../../test/support/recordings.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';
import type { ResponseContext } from '../../conversation/response.ts';
import { type ResponseTranslation, translateResponses } from '../../conversation/translation.ts';
import { EventFramer } from '../../events/event-framer.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { chatReading } from '../chat/response-reader.ts';
import { chatWriting } from '../chat/response-writer.ts';
import { messagesReading } from '../messages/response-reader.ts';
import { messagesWriting } from '../messages/response-writer.ts';
import { responsesReading } from './response-reader.ts';
import { responsesWriting } from './response-writer.ts';

const call: ResponseContext = {
	request: { stream_options: { include_usage: true }, thinking: { type: 'adaptive' } },
	model: 'alias',
	requestId: 'req_1',
	nowSeconds: 1_790_000_000,
	encryption: { encrypt: (text) => text, decrypt: (text) => text },
};
const toChat = translateResponses(responsesReading, chatWriting);
const toMessages = translateResponses(responsesReading, messagesWriting);
const chatBack = translateResponses(chatReading, responsesWriting);
const messagesBack = translateResponses(messagesReading, responsesWriting);

interface Stream {
	readonly bytes: Buffer;
	/** The non-streaming response with the same content. */
	readonly body: JsonObject;
}

type ItemEvents = readonly JsonObject[];

const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 12 });
const args = fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.boolean())).map((value) => JSON.stringify(value));
const pieceSize = fc.integer({ min: 1, max: 6 });

function piecesOf(whole: string, size: number): readonly string[] {
	return whole.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
}

function deltas(type: string, whole: string, size: number, at: JsonObject): JsonObject[] {
	return piecesOf(whole, size).map((delta) => ({ type: `response.${type}.delta`, ...at, delta }));
}

/** Log probability of a token, with an alternative. */
function tokenOf(token: string): JsonObject {
	const alternative = { token: `${token}?`, logprob: -3, bytes: null };
	return { token, logprob: -0.5, bytes: [...Buffer.from(token)], top_logprobs: [alternative] };
}

interface Item {
	readonly final: JsonObject;
	readonly started: JsonObject;
	readonly content: (at: JsonObject) => ItemEvents;
}

/** Ranges of citations as shares of their text. */
const ranges = fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true })), { maxLength: 2 });

function citationsOf(said: string, shares: readonly (readonly [number, number])[]): readonly JsonObject[] {
	const length = Array.from(said).length;
	return shares.map(([from, share], at) => {
		const start_index = Math.floor(from * length);
		const end_index = start_index + Math.floor(share * (length - start_index));
		return { type: 'url_citation', url: `https://example.com/${said.length}/${at}`, title: `Page ${at}`, start_index, end_index };
	});
}

/** Time at which a stream tells annotations and log probabilities: with the text, or only with the whole part. */
const detailsTime = fc.constantFrom('never', 'early', 'late');

const messageItem = fc
	.tuple(
		fc.uuid(),
		fc.array(fc.tuple(fc.boolean(), text, ranges), { maxLength: 3 }),
		pieceSize,
		detailsTime,
		fc.constantFrom(undefined, 'commentary', 'final_answer'),
	)
	.map(([id, parts, size, details, phase]): Item => {
		const content = parts.map(([isRefusal, said, shares]) => {
			if (isRefusal) return { type: 'refusal', refusal: said };
			const logprobs = details === 'never' ? [] : piecesOf(said, size).map(tokenOf);
			return { type: 'output_text', text: said, annotations: details === 'never' ? [] : citationsOf(said, shares), logprobs };
		});
		const shell = { id: `msg_${id}`, type: 'message', role: 'assistant', ...(phase !== undefined && { phase }) };
		return {
			started: { ...shell, status: 'in_progress', content: [] },
			final: { ...shell, status: 'completed', content },
			content: (at) =>
				parts.flatMap(([isRefusal, said], content_index) => {
					const [kind, member] = isRefusal ? ['refusal', 'refusal'] : ['output_text', 'text'];
					const place = { ...at, item_id: shell.id, content_index };
					const part = content[content_index];
					const isEarly = !isRefusal && details === 'early';
					const annotations = isEarly && part !== undefined && 'annotations' in part ? (part.annotations ?? []) : [];
					const fragments = deltas(kind, said, size, place);
					return [
						{ type: 'response.content_part.added', ...place, part: { ...part, [member]: '' } },
						...(isEarly ? fragments.map((one) => ({ ...one, logprobs: [tokenOf(String(one.delta))] })) : fragments),
						...annotations.map((annotation, annotation_index) => ({
							type: 'response.output_text.annotation.added',
							...place,
							annotation_index,
							annotation,
						})),
						{ type: `response.${kind}.done`, ...place, [member]: said },
						{ type: 'response.content_part.done', ...place, part },
					];
				}),
		};
	});

const reasoning = fc
	.tuple(fc.uuid(), fc.array(text, { maxLength: 2 }), fc.option(fc.base64String({ minLength: 4 })), fc.boolean(), pieceSize)
	.map(([id, texts, encrypted_content, isOpen, size]): Item => {
		const shell = { id: `rs_${id}`, type: 'reasoning' };
		const parts = texts.map((one) => ({ type: isOpen ? 'reasoning_text' : 'summary_text', text: one }));
		const lists = isOpen ? { summary: [], content: parts } : { summary: parts, content: null };
		return {
			started: { ...shell, summary: [], encrypted_content: encrypted_content?.slice(1) ?? null },
			final: { ...shell, ...lists, encrypted_content },
			content: (at) =>
				texts.flatMap((one, index) => {
					const place = { ...at, item_id: shell.id, ...(isOpen ? { content_index: index } : { summary_index: index }) };
					const [added, kind] = isOpen ? ['content_part', 'reasoning_text'] : ['reasoning_summary_part', 'reasoning_summary_text'];
					return [
						{ type: `response.${added}.added`, ...place, part: { ...parts[index], text: '' } },
						...deltas(kind, one, size, place),
						{ type: `response.${kind}.done`, ...place, text: one },
						{ type: `response.${added}.done`, ...place, part: parts[index] },
					];
				}),
		};
	});

const toolCall = fc.tuple(fc.uuid(), args, fc.boolean(), fc.boolean(), pieceSize).map(([id, said, isCustom, hasDeltas, size]): Item => {
	const shell = { id: `fc_${id}`, type: isCustom ? 'custom_tool_call' : 'function_call', call_id: `call_${id}`, name: 'look_up' };
	const member = isCustom ? 'input' : 'arguments';
	const kind = isCustom ? 'custom_tool_call_input' : 'function_call_arguments';
	return {
		started: { ...shell, status: 'in_progress', [member]: '' },
		final: { ...shell, status: 'completed', [member]: said },
		content: (at) => {
			const place = { ...at, item_id: shell.id };
			return [...(hasDeltas ? deltas(kind, said, size, place) : []), { type: `response.${kind}.done`, ...place, [member]: said }];
		},
	};
});

const hosted = fc.uuid().map((id): Item => {
	const shell = { id: `ws_${id}`, type: 'web_search_call' };
	return {
		started: { ...shell, status: 'in_progress' },
		final: { ...shell, status: 'completed' },
		content: (at) => [{ type: 'response.web_search_call.searching', ...at, item_id: shell.id }],
	};
});

/** Merges the events of items, which may overlap but begin in order. */
function interleave(lists: readonly ItemEvents[], order: readonly number[]): JsonObject[] {
	const rest = lists.map((list) => [...list]);
	const merged: JsonObject[] = [];
	let startedCount = 0;
	const turns = [...order, ...lists.flatMap((list, at) => list.map(() => at))];
	for (const turn of turns) {
		const at = Math.min(turn % (lists.length || 1), startedCount);
		const event = rest[at]?.shift();
		if (event === undefined) continue;
		if (at === startedCount) startedCount++;
		merged.push(event);
	}
	return merged;
}

const streams = fc
	.record({
		items: fc.array(fc.oneof(messageItem, reasoning, toolCall, hosted), { maxLength: 5 }),
		order: fc.array(fc.nat(4), { maxLength: 60 }),
		gap: fc.integer({ min: 1, max: 2 }),
		reason: fc.constantFrom(undefined, 'max_output_tokens', 'content_filter'),
		hasOutput: fc.boolean(),
		usage: fc.tuple(fc.nat(1000), fc.nat(1000), fc.nat(1000)),
		service_tier: fc.constantFrom('default', 'priority'),
	})
	.map(({ items, order, gap, reason: wanted, hasOutput, usage: [input, cached, output], service_tier }): Stream => {
		const final = items.map((item) => item.final);
		// A response with a `refusal` is complete.
		const reason = JSON.stringify(final).includes('"refusal":') ? undefined : wanted;
		const status = reason === undefined ? 'completed' : 'incomplete';
		const usage = {
			input_tokens: input + cached,
			input_tokens_details: { cached_tokens: cached },
			output_tokens: output,
			output_tokens_details: { reasoning_tokens: 0 },
			total_tokens: input + cached + output,
		};
		const shell = { id: 'resp_1', object: 'response', model: 'gpt-x', created_at: 1 };
		const body = { ...shell, status, incomplete_details: reason === undefined ? null : { reason }, output: final, usage, service_tier };
		const lists = items.map((item, index): ItemEvents => {
			const at = { output_index: index * gap };
			return [
				{ type: 'response.output_item.added', ...at, item: item.started },
				...item.content(at),
				{ type: 'response.output_item.done', ...at, item: item.final },
			];
		});
		const started = { ...shell, status: 'in_progress', output: [], usage: null, service_tier: 'auto' };
		const events = [
			{ type: 'response.created', response: started },
			{ type: 'response.in_progress', response: started },
			...interleave(lists, order),
			{ type: `response.${status}`, response: { ...body, output: hasOutput ? final : [] } },
		];
		const lines = events.map((event, at) => `event: ${String(event.type)}\ndata: ${JSON.stringify({ ...event, sequence_number: at })}\n\n`);
		return { bytes: Buffer.from(lines.join('')), body };
	});

/** Pushes bytes in pieces of the given sizes. */
function translate(translation: ResponseTranslation, bytes: Buffer, sizes: readonly number[]): Buffer {
	const framer = new EventFramer(() => 'none');
	const stream = translation.translateStream(call);
	const written: Buffer[] = [];
	for (let at = 0, turn = 0; at < bytes.length; turn++) {
		const size = sizes[turn % sizes.length] ?? bytes.length;
		const events = framer.push(Buffer.from(bytes.subarray(at, at + size)));
		if (events !== undefined) written.push(stream.push(events).bytes);
		at += size;
	}
	written.push(stream.end().bytes);
	expect(stream).toMatchObject({ isTerminated: true, hasFailed: false });
	return Buffer.concat(written);
}

/** Splits at line feeds only: a text may contain other line ends. */
function dataOf(bytes: Buffer): JsonObject[] {
	const lines = bytes.toString().split('\n');
	return lines.flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice('data: '.length)) as JsonObject] : []));
}

interface Choice {
	readonly message: JsonObject;
	readonly logprobs: unknown;
	readonly finish_reason: unknown;
}

/** Assembles chunks as a client of chat completions does. */
function foldChat(bytes: Buffer): JsonObject {
	const folded: Record<string, unknown> = {};
	const calls: { id?: unknown; function: { name?: unknown; arguments: string } }[] = [];
	const tokens: unknown[] = [];
	let finish: unknown;
	let usage: unknown;
	let tier: unknown;
	for (const chunk of dataOf(bytes)) {
		const [choice] = chunk.choices as readonly { delta: JsonObject; logprobs: JsonObject | null; finish_reason: unknown }[];
		usage = chunk.usage ?? usage;
		tier = chunk.service_tier ?? tier;
		tokens.push(...((choice?.logprobs?.content ?? []) as readonly unknown[]));
		finish = choice?.finish_reason ?? finish;
		const { tool_calls, ...rest } = choice?.delta ?? {};
		for (const [name, value] of Object.entries(rest)) {
			const earlier = folded[name];
			if (name === 'annotations') folded[name] = [...((earlier ?? []) as unknown[]), ...(value as unknown[])];
			else folded[name] = typeof earlier === 'string' && typeof value === 'string' ? earlier + value : (value ?? earlier ?? null);
		}
		for (const { index, ...one } of (tool_calls ?? []) as readonly ({ index: number } & (typeof calls)[number])[]) {
			const known = calls[index];
			if (known === undefined) calls[index] = structuredClone(one);
			else known.function.arguments += one.function.arguments;
		}
	}
	const logprobs = tokens.length === 0 ? null : { content: tokens, refusal: null };
	return { message: { ...folded, ...(calls.length > 0 && { tool_calls: calls }) }, logprobs, finish, usage, tier };
}

/** Assembles events as a client of messages does, and requires blocks one after the other. */
function foldMessages(bytes: Buffer): JsonObject {
	const content: Record<string, unknown>[] = [];
	let isOpen = false;
	let end: JsonObject = {};
	for (const { type, index, content_block, delta, usage } of dataOf(bytes)) {
		if (type === 'content_block_start') {
			expect([isOpen, index]).toEqual([false, content.length]);
			content.push({ ...(content_block as JsonObject) });
		}
		const block = content.at(-1);
		if (type === 'content_block_delta' && block !== undefined) {
			for (const [name, value] of Object.entries(delta as JsonObject)) {
				if (name === 'type') continue;
				const earlier = block[name];
				block[name] = typeof earlier === 'string' ? earlier + String(value) : value;
			}
		}
		if (typeof type === 'string' && type.startsWith('content_block_')) isOpen = type !== 'content_block_stop';
		if (type === 'message_delta') end = { ...(delta as JsonObject), usage };
	}
	const blocks = content.map(({ partial_json, ...block }) =>
		block.type === 'tool_use' ? { ...block, input: JSON.parse(String(partial_json)) as unknown } : block,
	);
	return { content: blocks, ...end };
}

interface Content {
	readonly text: string;
	readonly refusal: string;
	readonly reasoning: string;
	/** Each with the text that it covers. */
	readonly citations: readonly unknown[];
	readonly logprobs: readonly unknown[];
	readonly calls: readonly unknown[];
}

/** Returns what a response contains, wherever it is. A call of a custom tool became a function with one argument. */
function contentOf({ output }: JsonObject): Content {
	const items = output as readonly JsonObject[];
	const parts = items.flatMap(({ content }) => (Array.isArray(content) ? content.filter(isJsonObject) : []));
	const textsOf = (list: readonly JsonObject[], type: string, member: string): string =>
		list.map((part) => (part.type === type ? String(part[member]) : '')).join('');
	const thoughts = items.flatMap(({ summary, content }) =>
		[summary, content].flatMap((list) => (Array.isArray(list) ? list.filter(isJsonObject) : [])),
	);
	return {
		text: textsOf(parts, 'output_text', 'text'),
		refusal: textsOf(parts, 'refusal', 'refusal'),
		reasoning: thoughts
			.map((part) => (/summary_text|reasoning_text/.test(String(part.type)) ? String(part.text) : ''))
			.join('')
			.replaceAll('\n', ''),
		citations: parts.flatMap(({ text: said, annotations }) =>
			((annotations ?? []) as readonly JsonObject[]).map(({ url, title, start_index, end_index }) => [
				[url, title],
				Array.from(String(said)).slice(Number(start_index), Number(end_index)).join(''),
			]),
		),
		logprobs: parts.flatMap(({ logprobs }) => (logprobs ?? []) as readonly unknown[]),
		calls: items.flatMap(({ type, call_id, name, arguments: given, input }) => {
			if (type === 'function_call') return [[call_id, name, JSON.parse(String(given)) as unknown]];
			return type === 'custom_tool_call' ? [[call_id, name, { input }]] : [];
		}),
	};
}

function warningsOf(translation: ResponseTranslation, body: JsonObject): readonly string[] {
	const warnings = new Set<string>();
	translation.translateResponse(body, { ...call, warn: (warning) => warnings.add(warning) });
	// The request of these tests offers no tools.
	return [...warnings].filter((warning) => !warning.startsWith('tools: '));
}

/** Requires the order of events that clients depend on. @returns the last response. */
function checkOrder(bytes: Buffer): JsonObject {
	const events = dataOf(bytes);
	expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_event, at) => at));
	expect(events.slice(0, 2).map(({ type }) => type)).toEqual(['response.created', 'response.in_progress']);
	const ids = new Set(events.flatMap(({ response }) => (isJsonObject(response) ? [response.id] : [])));
	const items: unknown[] = [];
	let open: JsonObject | undefined;
	for (const event of events.slice(2, -1)) {
		if (event.type === 'response.output_item.added') {
			expect(open).toBeUndefined();
			open = event.item as JsonObject;
		}
		expect(event.output_index).toBe(items.length);
		expect(event.item_id ?? open?.id).toBe(open?.id);
		if (event.type !== 'response.output_item.done') continue;
		expect((event.item as JsonObject).id).toBe(open?.id);
		items.push(event.item);
		open = undefined;
	}
	const last = events.at(-1)?.response as JsonObject;
	expect([ids.size, open, last.output]).toEqual([1, undefined, items]);
	return last;
}

const sizes = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 8 });

describe('any legal stream', () => {
	test('becomes the chat completion that the non-streaming response becomes', () => {
		fc.assert(
			fc.property(streams, sizes, ({ bytes, body }, pieces) => {
				const translated = toChat.translateResponse(body, call) as { choices: readonly Choice[]; usage?: unknown; service_tier?: unknown };
				const { choices, usage, service_tier: tier } = translated;
				const [choice] = choices;
				// A stream cannot know yet that no text will come.
				const message = { ...choice?.message, content: choice?.message.content ?? '' };
				expect(foldChat(translate(toChat, bytes, pieces))).toEqual({
					message,
					logprobs: choice?.logprobs,
					finish: choice?.finish_reason,
					usage,
					tier,
				});
			}),
		);
	});

	test('becomes the message that the non-streaming response becomes', () => {
		fc.assert(
			fc.property(streams, sizes, ({ bytes, body }, pieces) => {
				const { content, stop_reason, stop_sequence, stop_details, usage } = toMessages.translateResponse(body, call);
				expect(foldMessages(translate(toMessages, bytes, pieces))).toEqual({ content, stop_reason, stop_sequence, stop_details, usage });
			}),
		);
	});

	test('loses no content on the way to chat completions and back', () => {
		fc.assert(
			fc.property(streams, sizes, ({ bytes, body }, pieces) => {
				const last = checkOrder(translate(chatBack, translate(toChat, bytes, pieces), pieces));
				expect(contentOf(last)).toEqual(contentOf(body));
				expect([last.status, last.incomplete_details]).toEqual([body.status, body.incomplete_details]);
				expect(last.usage).toMatchObject(body.usage as JsonObject);
				expect(last.service_tier).toBe(body.service_tier);
			}),
		);
	});

	test('names in warnings what a non-streaming response leaves out', () => {
		fc.assert(
			fc.property(streams, ({ body }) => {
				const { citations } = contentOf(body);
				const hasPhase = (body.output as readonly JsonObject[]).some(({ phase }) => phase !== undefined);
				const phase = hasPhase ? ['phase: dropped from the response'] : [];
				expect(warningsOf(toChat, body)).toEqual(phase);
				const lost = citations.length > 0 ? [...phase, 'citations: dropped from the response'] : phase;
				expect(warningsOf(toMessages, body).toSorted()).toEqual(lost.toSorted());
			}),
		);
	});

	test('loses no content on the way to messages and back, where a `refusal` is text', () => {
		fc.assert(
			fc.property(streams, sizes, ({ bytes, body }, pieces) => {
				const last = checkOrder(translate(messagesBack, translate(toMessages, bytes, pieces), pieces));
				const { text: said, refusal, citations: _pages, logprobs: _tokens, ...rest } = contentOf(body);
				const { refusal: explanation, citations, logprobs, ...returned } = contentOf(last);
				// The documentation names both as lost.
				expect([citations, logprobs]).toEqual([[], []]);
				expect(last.service_tier).toBe(body.service_tier);
				expect({ ...returned, text: returned.text.split('').toSorted() }).toEqual({ ...rest, text: (said + refusal).split('').toSorted() });
				if (refusal !== '') expect(explanation).toBe(refusal);
				// Every encrypted block can be sent back.
				const blocks = (body.output as readonly JsonObject[]).filter(({ encrypted_content }) => typeof encrypted_content === 'string');
				expect(JSON.stringify(last.output).match(/oai1\./g)?.length ?? 0).toBe(blocks.length);
			}),
		);
	});
});

/** Values that fail when used as a text, a list or a key. */
const hostileValues: readonly unknown[] = [null, 5, '', 'x', [], {}, { toString: 1 }, [null], true, '__proto__'];

/** Replaces one value of a JSON text by a hostile one. */
function spoil(whole: string, next: () => number): string {
	const at = Math.floor(next() * (whole.match(/"[a-z_]+":/g)?.length ?? 0));
	const value = hostileValues[Math.floor(next() * hostileValues.length)];
	let count = 0;
	const revive = (key: string, earlier: unknown): unknown => (key !== '' && !/^\d+$/.test(key) && count++ === at ? value : earlier);
	return JSON.stringify(JSON.parse(whole, revive));
}

function readDamaged(translation: ResponseTranslation, isStream: boolean, damaged: string): void {
	const framer = new EventFramer(() => 'none');
	const body = isStream ? {} : parseObject(damaged);
	try {
		if (!isStream) {
			translation.translateResponse(body, call);
			return;
		}
		const stream = translation.translateStream(call);
		const events = framer.push(Buffer.from(damaged, 'latin1'));
		if (events !== undefined) stream.push(events);
		stream.end();
	} catch (cause) {
		if (!(cause instanceof UpstreamError)) throw cause;
	}
}

function parseObject(json: string): JsonObject {
	try {
		const value: unknown = JSON.parse(json);
		return isJsonObject(value) ? value : {};
	} catch {
		return {};
	}
}

describe.each(readRecordings('responses').filter(({ response }) => response.status === 200))('$name', ({ response: { sse, json } }) => {
	test.each([
		['chat', toChat],
		['messages', toMessages],
	] as const)('for %s: a damaged response causes no other error than an upstream error', (_client, translation) => {
		const next = seededNumbers(7);
		const recorded = sse ?? JSON.stringify(json);
		for (let round = 0; round < 60; round++) {
			const spoiled = recorded.replaceAll(/^data: (.*)$/gm, (_line, data: string) => `data: ${next() < 0.2 ? spoil(data, next) : data}`);
			expect(() => readDamaged(translation, sse !== undefined, mutate(recorded, next))).not.toThrow();
			expect(() => readDamaged(translation, sse !== undefined, sse === undefined ? spoil(recorded, next) : spoiled)).not.toThrow();
		}
	});
});
