/** Clients that disconnect, and clients that do not read: effect on the provider's work. */
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FastStream, startFastStream } from '../support/fast-stream.ts';
import { eventually } from '../support/product.ts';
import type { ObservedUpstream } from '../support/simulator-control.ts';
import { allFormats, type FormatUnderTest } from './formats.ts';
import { describeOwn, useSubject } from './subject.ts';

interface OpenedRequest {
	readonly client: ClientRequest;
	/** Never settles if the client disconnects before a response. */
	readonly response: Promise<IncomingMessage>;
}

describeOwn('a disconnect of the client aborts the upstream request within a second', 'our simulator', () => {
	let fast: FastStream;
	beforeAll(async () => {
		fast = await startFastStream();
	});
	afterAll(() => fast.close());

	const subject = useSubject(() => ({
		gateway: { max_buffered_bytes_per_client: 65_536, heartbeat_ms: 100 },
		providers: {
			'fast-chat': { kind: 'openai', base_url: fast.origin, api_key: 'k', allow_private_network: true },
			'fast-responses': { kind: 'openai', base_url: fast.origin, api_key: 'k', allow_private_network: true },
			'fast-messages': { kind: 'anthropic', base_url: fast.origin, api_key: 'k', allow_private_network: true },
		},
	}));
	let calls = 0;

	/** Builds a model name with the faults and a unique label. */
	const modelOf = (format: FormatUnderTest, faults: string): string => `${format.family}-sim-${faults}-call${++calls}x`;

	async function open(format: FormatUnderTest, model: string, stream: boolean): Promise<OpenedRequest> {
		const accessToken = await subject.current.accessToken();
		const sent = request(`${subject.current.baseUrl}${format.path}`, {
			method: 'POST',
			agent: false,
			headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
		});
		sent.on('error', () => undefined);
		const response = new Promise<IncomingMessage>((resolve) => {
			sent.once('response', (incoming) => {
				incoming.on('error', () => undefined);
				resolve(incoming);
			});
		});
		sent.end(JSON.stringify(format.question(model, { stream })));
		return { client: sent, response };
	}

	const seen = async (model: string): Promise<ObservedUpstream | undefined> =>
		(await subject.current.simulator.requests(`?model=${model}&limit=1`))[0];

	const arrived = (model: string): Promise<ObservedUpstream> => eventually(`${model} at the provider`, () => seen(model));

	/** Returns the milliseconds until the simulated provider detected the disconnect. */
	async function expectAborted(model: string): Promise<number> {
		const startedMs = performance.now();
		const row = await eventually(
			`${model} aborted`,
			async () => {
				const now = await seen(model);
				return now?.outcome === 'pending' ? undefined : now;
			},
			1000,
		);
		expect(row.outcome).toBe('aborted');
		return performance.now() - startedMs;
	}

	describe.each(allFormats)('%s', (_path, format) => {
		it.concurrent.each([
			['before the first byte', 'hang', true],
			['before the first byte of a whole answer', 'hang', false],
			['within a whole answer', 'stall', false],
			['after the head', 'slow-first-event-60000', true],
		])('%s', async (_when, fault, stream) => {
			const model = modelOf(format, fault);
			const { client, response } = await open(format, model, stream);
			await arrived(model);
			if (fault === 'slow-first-event-60000') await response;
			client.destroy();
			await expectAborted(model);
		});

		it.concurrent.each([1, 3, 20])('after %i events', async (events) => {
			const model = modelOf(format, `tokens-2000-interval-20`);
			const { client, response } = await open(format, model, true);
			let received = 0;
			for await (const piece of await response) {
				received += String(piece).split('\n\n').length - 1;
				if (received >= events) break;
			}
			client.destroy();
			await expectAborted(model);
			const row = await seen(model);
			expect(row?.events, 'events made after the client had left').toBeLessThan(received + 60);
			expect(row?.tokens.input, 'what is billed').toBeGreaterThan(0);
		});

		it.concurrent('while the provider is silent in the middle', async () => {
			const model = modelOf(format, 'tokens-100-stall-5');
			const { client, response } = await open(format, model, true);
			(await response).resume();
			await eventually('five events', async () => ((await seen(model))?.events === 5 ? true : undefined));
			client.destroy();
			await expectAborted(model);
		});

		it.concurrent('a response or stream that was read to its end is not an abort', async () => {
			for (const stream of [true, false]) {
				const model = modelOf(format, 'tokens-20');
				const { response } = await open(format, model, stream);
				await (await response).toArray();
				expect(
					(await eventually('its end', async () => ((await seen(model))?.outcome === 'pending' ? undefined : seen(model))))?.outcome,
				).toBe('complete');
			}
		});

		it('a reader that pauses makes the provider wait, and gets everything when it resumes', async () => {
			const { response } = await open(format, `fast-${format.name}/x`, true);
			const incoming = await response;
			expect(incoming.statusCode).toBe(200);
			let heldBytes = -1;
			await eventually('the provider to stand still', async () => {
				const before = heldBytes;
				heldBytes = fast.sentBytes;
				await new Promise((resolve) => setTimeout(resolve, 100));
				return before === heldBytes && heldBytes > 0 ? true : undefined;
			});
			// Bound: the socket buffers of two connections, which systems grow to about 10 MB each, and the gateway's own limit.
			expect(heldBytes).toBeLessThan(24 * 1024 * 1024);
			const pieces: Buffer[] = [];
			for await (const piece of incoming) pieces.push(piece as Buffer);
			// A pause can be long enough for keep-alive comments, which the provider has not sent.
			const received = Buffer.concat(pieces)
				.toString('latin1')
				.replaceAll(/^: [^\n]*\n\n/gm, '');
			expect(received).toHaveLength(fast.totalBytes);
		});
	});
});
