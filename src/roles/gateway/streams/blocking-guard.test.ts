/** No part of a match is delivered, however a provider's stream is split. */
import { describe, expect, it } from 'vitest';
import {
	chatBody,
	GatewayBench,
	HandStream,
	jsonResponse,
	readStream,
	sseResponse,
	textOf,
} from '../../../../test/support/gateway-bench.ts';
import { guardrailsWith, piiRules } from '../../../../test/support/guarded-gateway.ts';
import { until } from '../../../../test/support/until.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';
import type { RuleAction } from '../../../policy/guardrails/guardrail.ts';
import type { GuardrailSettings } from '../../../policy/guardrails/guardrails.ts';

function settings(action: RuleAction, more: Partial<GuardrailSettings> = {}): GuardrailSettings {
	return guardrailsWith({ pii: piiRules(action), words: { entries: ['darkfish', 'größenwahn'], action }, ...more });
}

type Kind = 'chat text' | 'chat arguments' | 'messages text' | 'messages arguments';
const kinds: readonly Kind[] = ['chat text', 'chat arguments', 'messages text', 'messages arguments'];

/** Builds a stream whose text, or whose tool arguments, arrive in these pieces. */
function eventsOf(kind: Kind, pieces: readonly string[], lineEnd = '\n'): string[] {
	const data = (event: unknown): string => `data: ${JSON.stringify(event)}${lineEnd}${lineEnd}`;
	if (kind.startsWith('chat')) {
		const chunk = (delta: object, finish_reason: string | null = null): string =>
			data({ object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] });
		const delta = (piece: string): object =>
			kind === 'chat text' ? { content: piece } : { tool_calls: [{ index: 0, function: { arguments: piece } }] };
		return [
			chunk({ role: 'assistant' }),
			...pieces.map((piece) => chunk(delta(piece))),
			chunk({}, 'stop'),
			`data: [DONE]${lineEnd}${lineEnd}`,
		];
	}
	const event = (reported: { type: string } & Record<string, unknown>): string => `event: ${reported.type}${lineEnd}${data(reported)}`;
	const isText = kind === 'messages text';
	const block = isText ? { type: 'text', text: '' } : { type: 'tool_use', id: 't', name: 'f', input: {} };
	const delta = (piece: string): object =>
		isText ? { type: 'text_delta', text: piece } : { type: 'input_json_delta', partial_json: piece };
	return [
		event({ type: 'message_start', message: { content: [] } }),
		event({ type: 'content_block_start', index: 0, content_block: block }),
		...pieces.map((piece) => event({ type: 'content_block_delta', index: 0, delta: delta(piece) })),
		event({ type: 'content_block_stop', index: 0 }),
		event({ type: 'message_delta', delta: { stop_reason: 'end_turn' } }),
		event({ type: 'message_stop' }),
	];
}

interface Read {
	readonly text: string;
	/** Text or tool arguments that the client can reassemble. */
	readonly said: string;
	readonly isCancelled: boolean;
	readonly bench: GatewayBench;
}

/** @param giveUp called after each piece. */
async function read(
	guardrails: GuardrailSettings,
	kind: Kind,
	chunks: readonly (string | Buffer)[],
	giveUp?: (piece: Buffer) => void,
): Promise<Read> {
	const bench = new GatewayBench({ guardrails });
	const upstream = new HandStream();
	bench.respond = () => sseResponse(upstream);
	const isChat = kind.startsWith('chat');
	const body = { model: isChat ? 'gpt-5' : 'claude-x', max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'hi' }] };
	const response = await bench.ask(isChat ? '/v1/chat/completions' : '/v1/messages', JSON.stringify(body));
	const { reader } = readStream(response);
	for (const chunk of chunks) {
		const piece = Buffer.from(chunk);
		if (!upstream.isCancelled) upstream.sink?.write(piece);
		giveUp?.(piece);
	}
	if (!upstream.isCancelled) upstream.sink?.end();
	const text = Buffer.from(reader.text, 'latin1').toString();
	const said = [...text.matchAll(/"(?:content|arguments|text|partial_json)":("(?:[^"\\]|\\.)*")/g)].map(
		([, json]) => JSON.parse(json ?? '""') as string,
	);
	return { text, said: said.join(''), isCancelled: upstream.isCancelled, bench };
}

function cutAt(text: string, ...places: readonly number[]): readonly string[] {
	const ends = [...places, text.length];
	return ends.map((end, index) => text.slice(index === 0 ? 0 : ends[index - 1], end)).filter((piece) => piece !== '');
}

const secrets = [
	['card', '4111 1111 1111 1111'],
	['ssn', '078-05-1120'],
	['email', 'jörg@müller.example'],
	['phone', '+1 415 555 2671'],
	['banned word', 'd\u200barkfish'],
	['banned word with letters of two bytes', 'größenwahn'],
	['banned word in characters of four bytes', '\u{1d41d}\u{1d41a}\u{1d42b}\u{1d424}\u{1d41f}\u{1d422}\u{1d42c}\u{1d421}'],
] as const;

describe.each(kinds)('%s', (kind) => {
	const isJson = kind.endsWith('arguments');

	it.each(secrets)('a %s, split at every position into one to three events: none of its characters is delivered', async (_name, secret) => {
		const before = isJson ? '{"q":"it is: ' : 'it is: ';
		const text = `${before}${secret}${isJson ? ', yes"}' : ', yes'}`;
		for (let first = 0; first < text.length; first++) {
			const second = Math.min(text.length, first + 1 + ((first * 7) % 9));
			const { said, isCancelled, text: all } = await read(settings('block'), kind, eventsOf(kind, cutAt(text, first, second)));
			expect([before.startsWith(said), isCancelled, all.includes('guardrail_blocked')]).toEqual([true, true, true]);
		}
	});

	it('buffered events are in separate memory', async () => {
		const events = eventsOf(kind, [isJson ? '{"q":"411' : '411', '1 1111', ' 1111 1112 and on', isJson ? '"}' : '']);
		const { text } = await read(settings('block'), kind, events, (piece) => piece.fill(0));
		expect(text).toBe(events.join(''));
	});

	it('bytes may be split anywhere, also inside of characters and line ends, and pass untouched if clean', async () => {
		for (const lineEnd of ['\n', '\r\n', '\r']) {
			const bytes = Buffer.from(eventsOf(kind, [isJson ? '{"q":"Gr' : 'Gr', 'öße 漢\u{1f600}', isJson ? '"}' : ' all'], lineEnd).join(''));
			for (const size of [1, 3, 17]) {
				const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
					bytes.subarray(index * size, (index + 1) * size),
				);
				expect((await read(settings('block'), kind, chunks)).text).toBe(bytes.toString());
			}
		}
	});

	it.each(['\n', '\r\n', '\r'])('events whose lines end with %j are released as soon as they are decided', async (lineEnd) => {
		const bench = new GatewayBench({ guardrails: settings('block') });
		const upstream = new HandStream();
		bench.respond = () => sseResponse(upstream);
		const isChat = kind.startsWith('chat');
		const body = { model: isChat ? 'gpt-5' : 'claude-x', max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'hi' }] };
		const response = await bench.ask(isChat ? '/v1/chat/completions' : '/v1/messages', JSON.stringify(body));
		const { reader } = readStream(response);
		const [start = '', ...rest] = eventsOf(kind, ['all is well. ', 'and so on. '], lineEnd);
		upstream.write(start);
		expect(reader.text).toContain(start);
		for (const event of rest.slice(0, 3)) upstream.write(event);
		expect(reader.text).toContain('all is well');
	});
});

describe('a stream under enforcement', () => {
	it.each(['jane\\u0040example.com', '4111\\u0020111111111111', 'd\\u0061rkfish', '\\u0064\\u0061\\u0072kfish'])(
		'arguments with %s, split at every two positions: nothing of it is delivered, or a label',
		async (written) => {
			const text = `{"to":"${written}","n":12345678901234567890}`;
			for (let first = 0; first < text.length; first += 2) {
				for (let second = first + 1; second < text.length; second += 5) {
					const pieces = cutAt(text, first, second);
					expect('{"to":"'.startsWith((await read(settings('block'), 'chat arguments', eventsOf('chat arguments', pieces))).said)).toBe(
						true,
					);
					const masked = await read(settings('mask'), 'messages arguments', eventsOf('messages arguments', pieces));
					expect(masked.said.replace('{}', '')).toMatch(/^\{"to":"\[[A-Z]+\]","n":12345678901234567890\}$/);
				}
			}
		},
	);

	it('a word that is spread over thousands of characters is delivered in no part', async () => {
		for (const between of ['\u200b'.repeat(3000), 'a'.repeat(9000)]) {
			const pieces = `see d${between}${between.startsWith('a') ? '' : 'a'}rkfish!`.match(/.{1,500}/gsu) ?? [];
			const { said, isCancelled } = await read(settings('block'), 'chat text', eventsOf('chat text', pieces));
			expect([said, isCancelled]).toEqual(['', true]);
		}
	});

	it('unknown content is evaluated as well: members, events, and data that is no JSON', async () => {
		const odd = (delta: object): string => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`;
		const chat = await read(settings('block'), 'chat text', [odd({ vendor_thoughts: 'a dark' }), odd({ vendor_thoughts: 'fish' })]);
		expect(chat.text).not.toContain('fish');
		const event = 'event: hologram\ndata: {"type":"hologram","says":"a darkfish"}\n\n';
		expect((await read(settings('block'), 'messages text', [event])).text).not.toContain('fish');
		const raw = 'data: darkfish\n\n';
		const blocked = await read(settings('block'), 'chat text', [raw]);
		expect([blocked.text.includes('darkfish'), blocked.text.includes('guardrail_blocked')]).toEqual([false, true]);
		expect(blocked.bench.log.lines).toContainEqual(
			expect.objectContaining({ event: 'guardrails not evaluated', fields: expect.objectContaining({ types: ['event'] }) as unknown }),
		);
	});

	it.each(['darkfish', '"darkfish"', '["darkfish"]', '{"choices":[{"delta":{"content":"darkfish"}}]', '{} darkfish'])(
		'data %j is no JSON object, and blocks whatever `unreadable` says',
		async (data) => {
			const { text, isCancelled } = await read(settings('block'), 'chat text', [`data: ${data}\n\n`]);
			expect([text.includes('darkfish'), text.includes('`unreadable`'), isCancelled]).toEqual([false, true, true]);
		},
	);

	it.each(['dаta: darkfish', ' data: {"choices":[{"delta":{"content":"darkfish"}}]}', 'darkfish', 'DATA: darkfish'])(
		'the line %j is no field of an event, and blocks',
		async (line) => {
			const { text } = await read(settings('block'), 'chat text', [`${line}\n\n`, 'data: [DONE]\n\n']);
			expect([text.includes('darkfish'), text.includes('`unreadable`')]).toEqual([false, true]);
		},
	);

	it('comments, other fields and events without data pass', async () => {
		const events = [': OPENROUTER PROCESSING\n\n', 'retry: 3000\n\n', 'id: 4\ndata:\n\n', 'data\n\n', 'event: x\n\n', 'data: [DONE]\n\n'];
		expect((await read(settings('block'), 'chat text', events)).text).toBe(events.join(''));
	});

	const besideData = [': see darkfish', 'event: darkfish', 'id: darkfish', 'retry: darkfish', 'event:a darkfish', 'id:jane@example.com'];

	it.each(besideData.flatMap((line) => ['\n', '\r', '\r\n'].map((end) => [line, end] as const)))(
		'a field other than data, %j with the line end %j, is evaluated, and blocks if it would be masked',
		async (line, end) => {
			for (const action of ['block', 'mask'] as const) {
				for (const kind of ['chat text', 'messages text'] as const) {
					const events = eventsOf(kind, ['well'], end);
					const odd = [`${line}${end}${end}`, `${line}${end}data: {}${end}${end}`];
					const { text, isCancelled } = await read(settings(action), kind, [...events.slice(0, 2), ...odd]);
					expect([/darkfish|jane/.test(text), text.includes('guardrail_blocked'), isCancelled]).toEqual([false, true, true]);
				}
			}
		},
	);

	it('monitoring of a stream includes comments and names of events, and reports a compressed one as not evaluated', async () => {
		for (const isCompressed of [false, true]) {
			const bench = new GatewayBench({ guardrails: { ...settings('block'), isEnforced: false } });
			const upstream = new HandStream();
			const headers = { 'content-type': 'text/event-stream', ...(isCompressed && { 'content-encoding': 'gzip' }) };
			bench.respond = () => ({ status: 200, headers, body: upstream });
			const body = JSON.stringify({ model: 'gpt-5', stream: true, messages: [{ role: 'user', content: 'hi' }] });
			readStream(await bench.ask('/v1/chat/completions', body));
			upstream.write(': darkfish\n\ndata: [DONE]\n\n');
			upstream.sink?.end();
			const reported = () =>
				bench.log.lines.flatMap(({ event, fields }) =>
					event.startsWith('guardrail') ? [[event, fields['category'] ?? fields['types']]] : [],
				);
			await until(() => {
				bench.clock.advance(5);
				return reported().length > 0;
			}, 'an assessment');
			expect(reported()).toEqual([isCompressed ? ['guardrails not evaluated', ['body']] : ['guardrail assessment', 'listed']]);
		}
	});

	it.each(kinds)('%s: the event after a byte order mark is read, and the mark does not pass', async (kind) => {
		const isJson = kind.endsWith('arguments');
		const say = (word: string): Buffer => {
			const [first = '', second = ''] = eventsOf(kind, [isJson ? `{"q":"${word}"}` : word]).slice(kind.startsWith('chat') ? 1 : 2);
			return Buffer.from(`\ufeff${first}${second}`);
		};
		for (const size of [1, 2, 4, 1000]) {
			const cut = (bytes: Buffer): Buffer[] =>
				Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
			const blocked = await read(settings('block'), kind, cut(say('darkfish')));
			expect([blocked.text.includes('dark'), blocked.isCancelled]).toEqual([false, true]);
			const clean = await read(settings('block'), kind, cut(say('goldfish')));
			expect(clean.text.startsWith(say('goldfish').toString().slice(1))).toBe(true);
		}
	});

	it.each(kinds)('%s: a match whose events have lone CR line ends is not delivered', async (kind) => {
		const isJson = kind.endsWith('arguments');
		const pieces = isJson ? ['{"q":"a dark', 'fish"}'] : ['a dark', 'fish'];
		for (const size of [1, 7, 10_000]) {
			const bytes = Buffer.from(eventsOf(kind, pieces, '\r').join(''));
			const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
			const { said, isCancelled } = await read(settings('block'), kind, chunks);
			expect([said.includes('dark'), isCancelled]).toEqual([false, true]);
		}
	});

	it('an error in a stream is evaluated', async () => {
		const error = { error: { message: 'I would say darkfish', type: 'x' } };
		const chat = await read(settings('block'), 'chat text', [`data: ${JSON.stringify(error)}\n\n`]);
		const messages = await read(settings('block'), 'messages text', [
			`event: error\ndata: ${JSON.stringify({ type: 'error', ...error })}\n\n`,
		]);
		for (const { text } of [chat, messages]) expect([text.includes('darkfish'), text.includes('`words`')]).toEqual([false, true]);
	});

	it('a response of status 200 that is an error is evaluated', async () => {
		for (const path of ['/v1/chat/completions', '/v1/messages']) {
			for (const error of [{ message: 'I would say darkfish', type: 'x' }, 'darkfish']) {
				const bench = new GatewayBench({ guardrails: settings('block') });
				bench.respond = () => jsonResponse(200, JSON.stringify({ error }));
				const model = path === '/v1/messages' ? 'claude-x' : 'gpt-5';
				const body = JSON.stringify({ model, max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] });
				const response = await bench.ask(path, body);
				expect([path, response.status, textOf(response).includes('darkfish')]).toEqual([path, 400, false]);
			}
		}
	});

	it('a response that claims a charset is passed on without it', async () => {
		for (const isEnforced of [true, false]) {
			const bench = new GatewayBench({ guardrails: { ...settings('block'), isEnforced } });
			const response = jsonResponse(200, '{"choices":[{"message":{"content":"+AGQAYQByAGsAZgBpAHMAaA-"}}]}');
			bench.respond = () => ({ ...response, headers: { ...response.headers, 'content-type': 'application/json; charset=utf-7' } });
			const { status, headers } = await bench.ask('/v1/chat/completions', chatBody);
			expect([status, headers['content-type']]).toEqual([200, `application/json${isEnforced ? '' : '; charset=utf-7'}`]);
		}
	});

	it('a response that is compressed although not requested is rejected', async () => {
		const bench = new GatewayBench({ guardrails: settings('block') });
		const httpResponse = jsonResponse(200, '{"choices":[]}');
		bench.respond = () => ({ ...httpResponse, headers: { ...httpResponse.headers, 'content-encoding': 'gzip' } });
		const response = await bench.ask('/v1/chat/completions', chatBody);
		expect([response.status, textOf(response).includes('provider_response_invalid')]).toEqual([502, true]);
	});

	it('a stream that is compressed although not requested is rejected before its first byte', async () => {
		for (const isEnforced of [true, false]) {
			const bench = new GatewayBench({ guardrails: { ...settings('block'), isEnforced } });
			const upstream = new HandStream();
			bench.respond = () => ({
				status: 200,
				headers: { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' },
				body: upstream,
			});
			const body = JSON.stringify({ model: 'gpt-5', stream: true, messages: [{ role: 'user', content: 'hi' }] });
			const response = await bench.ask('/v1/chat/completions', body);
			expect(response.status).toBe(isEnforced ? 502 : 200);
			if (isEnforced) expect(textOf(response)).toContain('provider_response_invalid');
		}
	});

	it('nothing waits for monitoring', async () => {
		const noting = settings('log', {
			patterns: [{ name: 'all', pattern: '[a-z ]+!', action: 'log' }],
			topics: [{ name: 'gambling', description: 'Betting', examples: [], keywords: ['roulette'], action: 'log' }],
		});
		const bench = new GatewayBench({ guardrails: noting });
		const upstream = new HandStream();
		bench.respond = () => sseResponse(upstream);
		const response = await bench.ask(
			'/v1/chat/completions',
			JSON.stringify({ model: 'gpt-5', stream: true, messages: [{ role: 'user', content: 'hi' }] }),
		);
		const { reader } = readStream(response);
		let sent = '';
		for (const event of eventsOf('chat text', ['a dark', 'fish and 4111', ' 1111 1111 ', '1111 at the rou', 'lette'])) {
			upstream.write(event);
			sent += event;
			expect(reader.text).toBe(sent);
		}
		upstream.sink?.end();
		const reported = bench.log.lines
			.filter(({ event }) => event === 'guardrail assessment')
			.map(({ fields }) => `${String(fields['policy'])} ${String(fields['action'])}`);
		expect(reported.toSorted()).toEqual(['pii NONE', 'topics NONE', 'words NONE']);
	});

	it('a sentence with a match is not delivered, and those before it are, however it is split', async () => {
		const topics = [{ name: 'gambling', description: 'Betting', examples: [], keywords: ['roulette'], action: 'block' as const }];
		const text = 'All is well. We play roulette tonight, you and me. And so on.';
		for (let first = 1; first < text.length; first++) {
			const pieces = cutAt(text, first, Math.min(text.length, first + 3));
			const { said } = await read(settings('none', { topics }), 'chat text', eventsOf('chat text', pieces));
			expect('All is well. '.startsWith(said)).toBe(true);
		}
		// Without the end of a sentence, only the window before is released, and no partial word.
		const long = `${'/abcdefgh'.repeat(60)}/roulette/${'x'.repeat(400)}`;
		for (const size of [1, 50, 333]) {
			const pieces = long.match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
			const { said, isCancelled } = await read(settings('none', { topics }), 'chat text', eventsOf('chat text', pieces));
			expect([isCancelled, said.includes('/r'), said.length < 540]).toEqual([true, false, true]);
		}
	});

	it('an event of several lines stays valid when it is masked', async () => {
		const json = JSON.stringify({ choices: [{ index: 0, delta: { content: 'a darkfish' } }] }, null, 1);
		const event = `id: 7\n${json
			.split('\n')
			.map((line) => `data:${line}\n`)
			.join('')}\n`;
		const { text } = await read(settings('mask'), 'chat text', [event, 'data: [DONE]\n\n']);
		const lines = text.split('\n\n')[0]?.split('\n') ?? [];
		expect(lines.every((line) => line.startsWith('data:'))).toBe(true);
		expect(lines.length).toBe(json.split('\n').length);
		expect(JSON.parse(lines.map((line) => line.slice('data:'.length)).join('\n'))).toEqual(JSON.parse(json.replace('darkfish', '[WORD]')));
	});

	it('masked text is not revealed by the probabilities of its pieces either', async () => {
		const chunk = (content: string): string => {
			const logprobs = { content: [{ token: content, logprob: -0.1, bytes: [], top_logprobs: [] }], refusal: null };
			return `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, logprobs }] })}\n\n`;
		};
		const { text } = await read(settings('mask'), 'chat text', [...['a ', 'dark', 'fish', ' it is'].map(chunk), 'data: [DONE]\n\n']);
		expect(text).toBe(
			[chunk('a '), chunk('[WORD]'), chunk(''), chunk(' it is'), 'data: [DONE]\n\n']
				.join('')
				.replaceAll(/("content":"(?:\[WORD\])?"\},"logprobs":)\{.*?"refusal":null\}/g, '$1null'),
		);
		expect(text).not.toMatch(/dark|fish/);

		const bench = new GatewayBench({ guardrails: settings('mask') });
		const logprobs = { content: [{ token: 'darkfish', logprob: -0.1 }] };
		const whole = { choices: [{ index: 0, message: { role: 'assistant', content: 'a darkfish' }, logprobs, finish_reason: 'stop' }] };
		bench.respond = () => jsonResponse(200, JSON.stringify(whole));
		const response = await bench.ask('/v1/chat/completions', chatBody);
		expect(JSON.parse(textOf(response))).toEqual({
			choices: [{ index: 0, message: { role: 'assistant', content: 'a [WORD]' }, logprobs: null, finish_reason: 'stop' }],
		});
	});

	it('monitored text of a stream is reported when the client disconnects, when the provider fails, and when it ends', async () => {
		for (const disconnect of ['cancel', 'fail', 'end'] as const) {
			const bench = new GatewayBench({ guardrails: { ...settings('block'), isEnforced: false } });
			const upstream = new HandStream();
			bench.respond = () => sseResponse(upstream);
			const body = JSON.stringify({ model: 'gpt-5', stream: true, messages: [{ role: 'user', content: 'hi' }] });
			const { flow } = readStream(await bench.ask('/v1/chat/completions', body));
			for (const event of eventsOf('chat text', ['a dark', 'fish']).slice(0, 3)) upstream.write(event);
			if (disconnect === 'cancel') flow.cancel();
			else if (disconnect === 'fail') upstream.sink?.fail(new UpstreamError('provider_disconnected'));
			else upstream.sink?.end();
			for (let round = 0; round < 20; round++) {
				bench.clock.advance(5);
				await new Promise((resolve) => setImmediate(resolve));
			}
			const reported = bench.log.lines.filter(({ event }) => event === 'guardrail assessment').map(({ fields }) => fields['category']);
			expect([disconnect, reported]).toEqual([disconnect, ['listed']]);
		}
	});
});
