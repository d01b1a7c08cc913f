/** Same format on both sides: recorded bodies pass byte for byte in both directions, wherever they are split. */
import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { recordedBytes } from '../support/recordings.ts';
import type { Replay } from '../support/simulator-control.ts';
import { bodyOf, expectedStatus, providers, recordings } from './recorded-responses.ts';
import { describeOwn, send, useSubject } from './subject.ts';

const seed = Number(process.env['CONFORMANCE_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

/** Spellings of the same JSON, each of which must be forwarded unchanged. */
const spellings: Readonly<Record<string, (body: object) => string>> = {
	compact: (body) => JSON.stringify(body),
	'with blanks and line breaks': (body) => ` ${JSON.stringify(body, undefined, '\t')}\r\n`,
	'with escapes': (body) =>
		JSON.stringify(body).replace(/[\u0080-\uffff/]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`),
};

const cuts: readonly (readonly [title: string, spelling: string, cut: NonNullable<Replay['split']>])[] = [
	['whole', 'compact', 'none'],
	['cut by events', 'with blanks and line breaks', 'events'],
	[`in pieces of 1 to 17 bytes, seed ${seed}`, 'with escapes', { bytes: [1, 17], seed }],
];

/** Compares the bodies. The gateway may add only the request for usage, or not to store, if the client did not send it. */
function expectSameBody(received: string, sent: string, body: Readonly<Record<string, unknown>>): void {
	if (received === sent) return;
	const isOfResponses = body['input'] !== undefined;
	const canRequestUsage = body['stream'] === true && body['stream_options'] === undefined && body['max_tokens'] === undefined;
	expect(isOfResponses ? body['store'] === undefined : canRequestUsage, `${received} is not ${sent}`).toBe(true);
	let start = 0;
	while (received[start] === sent[start]) start++;
	const insertion = received.slice(start, start + received.length - sent.length);
	expect(received).toBe(sent.slice(0, start) + insertion + sent.slice(start));
	const addition = isOfResponses ? /^,?"store":false,?$/ : /^[\s,]*"?stream_options"\s*:\s*\{\s*"include_usage"\s*:\s*true\s*\}[\s,"]*$/;
	expect(insertion).toMatch(addition);
}

describeOwn('the same format passes bytes through', 'our simulator', () => {
	const subject = useSubject({ routing: { provider_header: 'optional', aliases: { fast: 'provider_b/gpt-4o-mini' } } });
	beforeAll(() => subject.current.simulator.change({ record_bodies: true }));

	it('there are recordings', () => expect(recordings.length).toBeGreaterThan(85));

	describe.each(cuts)('%s, the request %s', (_title, spelling, cut) => {
		it.each(recordings)('%s', async (_name, vendor, recording) => {
			const { simulator } = subject.current;
			const { wire, provider, path } = providers[vendor];
			const { status, headers } = recording.response;
			const bytes = recordedBytes(recording);
			await simulator.replay({ dialect: wire, status, headers, body_base64: bytes.toString('base64'), split: cut });
			const body = bodyOf(vendor, recording);
			const sent = spellings[spelling]?.(body) ?? '';
			const query = recording.request?.path.split('?')[1] ?? '';
			const response = await send(subject.current, `${path}${query === '' ? '' : `?${query}`}`, {
				headers: { 'x-gateway-provider': provider },
				body: sent,
			});

			expect(Buffer.from(await response.arrayBuffer()).equals(bytes), 'the answer’s bytes').toBe(true);
			expect(response.status).toBe(expectedStatus(status));
			const isStream = body['stream'] === true && status === 200;
			expect(response.headers.get('content-type')).toBe(
				isStream ? 'text/event-stream; charset=utf-8' : (headers['content-type'] ?? 'application/json'),
			);
			expect(response.headers.get('x-gateway-upstream-status')).toBe(expectedStatus(status) === status ? null : String(status));
			const seen = await simulator.newestRequest();
			expect(seen).toMatchObject({ dialect: wire, model: body['model'], query, outcome: 'replayed' });
			expectSameBody(seen.body ?? '', sent, body);
			if (seen.body === sent) expect(seen.body_sha256).toBe(createHash('sha256').update(sent).digest('hex'));
		});
	});

	it.each([
		[
			'{"model":"fast","messages":[{"role":"user","content":"the model is \\"fast\\""}],"user":"fast"}',
			'{"model":"gpt-4o-mini","messages":[{"role":"user","content":"the model is \\"fast\\""}],"user":"fast"}',
		],
		[
			'{ "user" : "fast",\n"messages":[{"role":"user","content":"é"}],\t"model"\r\n:  "fast"  , "n":1.0,"seed":9007199254740993}',
			'{ "user" : "fast",\n"messages":[{"role":"user","content":"é"}],\t"model"\r\n:  "gpt-4o-mini"  , "n":1.0,"seed":9007199254740993}',
		],
		[
			'{"metadata":{"model":"fast"},"messages":[{"role":"user","content":"\\u00e9é"}],"m\\u006fdel":"f\\u0061st"}',
			'{"metadata":{"model":"fast"},"messages":[{"role":"user","content":"\\u00e9é"}],"m\\u006fdel":"gpt-4o-mini"}',
		],
	])('an alias changes the bytes of the model alone: %s', async (sent, expected) => {
		const { simulator } = subject.current;
		await simulator.replay({ dialect: 'openai', json: { object: 'chat.completion' } });
		expect((await send(subject.current, '/v1/chat/completions', { body: sent })).status).toBe(200);
		expect((await simulator.newestRequest()).body).toBe(expected);
	});
});
