/** Tests that a request of 20 MB delays no other: a worker thread reads it, with the same result. */
import { expect, test } from 'vitest';
import { streamOf } from '../src/core/byte-stream.ts';
import type { HttpRequest } from '../src/core/handler.ts';
import { createTestClock } from '../test/support/start-simulator.ts';
import { createBodyReader, largeBodyBytes } from './large-bodies.ts';
import { readRequest } from './read-request.ts';
import { wireNamed } from './routes.ts';
import { createSimulator } from './simulator.ts';
import { type WireTarget, wireNames } from './wires/wire.ts';

const text = 'The quick brown fox jumps over the lazy dog. '.repeat(450_000);
const { handle } = createSimulator({}, { clock: createTestClock(), setOutage: () => undefined });

function requestOf(path: string, body: object): HttpRequest {
	const bytes = Buffer.from(JSON.stringify(body));
	return {
		id: 'r1',
		method: 'POST',
		path,
		query: '',
		headers: { authorization: 'Bearer k', 'x-api-key': 'k', 'x-goog-api-key': 'k', 'anthropic-version': '2023-06-01' },
		body: streamOf([bytes]),
		announcedLength: bytes.length,
		peerAddress: '127.0.0.1',
		arrivedMs: 0,
		onClientDisconnect: () => undefined,
	};
}

const messages = (content: string): object => ({ messages: [{ role: 'user', content }] });

test.each([
	['/openai/v1/chat/completions', { model: 'gpt-4o', ...messages(text) }],
	['/anthropic/v1/messages', { model: 'claude-sonnet-5', max_tokens: 50, ...messages(text) }],
	['/gemini/v1beta/models/gemini-2.5-flash:generateContent', { contents: [{ role: 'user', parts: [{ text }] }] }],
])('a small request that comes after one of 20 MB to %s gets its response first', async (path, body) => {
	const order: string[] = [];
	const large = handle(requestOf(path, body)).then((response) => {
		order.push('large');
		return response;
	});
	await handle(requestOf('/openai/v1/chat/completions', { model: 'gpt-4o', ...messages('Hello') }));
	order.push('small');
	const response = await large;
	expect([response.status, order]).toEqual([200, ['small', 'large']]);
	expect(response.body).toEqual(expect.stringContaining('The quick brown fox'));
});

const target: WireTarget = {
	headers: { 'anthropic-version': '2023-06-01' },
	query: new URLSearchParams('alt=sse'),
	model: undefined,
	action: 'generate',
	isStream: false,
};
const padding = 'x'.repeat(largeBodyBytes);
const chat = {
	model: 'gpt-4o',
	temperature: 0.5,
	messages: [
		{ role: 'system', content: padding },
		{ role: 'user', content: 'Hi' },
	],
};
const bodies: readonly (readonly [string, string])[] = [
	['chat', JSON.stringify(chat)],
	['what the vendor rejects', JSON.stringify({ ...chat, messages: [{ role: 'nobody', content: padding }] })],
	['no JSON', padding],
	['no object', JSON.stringify([padding])],
];

test.each(bodies.flatMap((one) => wireNames.map((wire) => [...one, wire] as const)))(
	'the thread reads a body as this one does: %s on the wire %s',
	async (_name, body, wire) => {
		const reader = createBodyReader();
		for (const isRetained of [true, false]) {
			const bytes = Buffer.from(body);
			const expected = readRequest(bytes, wireNamed(wire), target);
			expect(await reader.read(bytes, wireNamed(wire), target, isRetained)).toEqual(expected);
			if (isRetained) expect(bytes.length).toBe(body.length);
		}
	},
);
