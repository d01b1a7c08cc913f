/** Recorded provider responses, as the official SDKs read them through the gateway: the same as without it. */
import type { APIError as AnthropicError } from '@anthropic-ai/sdk';
import type { APIError as OpenAiError } from 'openai';
import { beforeAll, expect, it, vi } from 'vitest';
import { type Recording, recordedBytes } from '../support/recordings.ts';
import { anthropicLines, openAiLines } from '../support/sdk-lines.ts';
import { openAnthropic, openOpenAi } from './open-sdk.ts';
import { bodyOf, expectedStatus, providers, recordings, type Vendor } from './recorded-responses.ts';
import { describeOwn, useSubject } from './subject.ts';

type SdkError = AnthropicError | OpenAiError;

const errorClasses: Readonly<Record<number, string>> = { 400: 'BadRequestError', 429: 'RateLimitError', 502: 'InternalServerError' };

/** Data of the events, except those that no SDK passes to its caller. */
function recordedEvents(sse: string): unknown[] {
	const texts = [...sse.matchAll(/^data: ?(.*?)\r?$/gm)].map(([, text = '']) => text).filter((text) => text !== '[DONE]');
	return texts.map((text) => JSON.parse(text) as unknown).filter((event) => (event as { type?: string }).type !== 'ping');
}

async function collect(events: AsyncIterable<unknown>): Promise<unknown[]> {
	const all: unknown[] = [];
	for await (const event of events) all.push(event);
	return all;
}

describeOwn('Spec: Inference endpoints, recorded responses through the official SDKs', 'our simulator', () => {
	const subject = useSubject({ routing: { provider_header: 'optional' } });
	// Hides warnings: by date, the SDKs warn of models that were recorded long ago.
	beforeAll(() => {
		const silenced = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
		return () => silenced.mockRestore();
	});

	/** @param ask resolves to the response, or to a stream of events. */
	const expectAsRecorded = async (vendor: Vendor, recording: Recording, ask: (body: never) => Promise<unknown>): Promise<void> => {
		const { status, headers, json, sse } = recording.response;
		await subject.current.simulator.replay({
			dialect: vendor,
			status,
			headers,
			body_base64: recordedBytes(recording).toString('base64'),
			split: { bytes: [1, 200], seed: 1 },
		});
		const requested = ask(bodyOf(vendor, recording) as never);
		if (status !== 200) {
			const error = await requested.then(
				() => undefined,
				(cause: unknown) => cause as SdkError,
			);
			expect([error?.status, error?.constructor.name]).toEqual([expectedStatus(status), errorClasses[expectedStatus(status)]]);
			expect(error?.message).toContain((json as { error: { message: string } }).error.message);
		} else if (sse === undefined) {
			expect({ ...((await requested) as object) }).toEqual(json);
		} else {
			expect(await collect((await requested) as AsyncIterable<unknown>)).toEqual(recordedEvents(sse));
		}
	};

	const ofChat = recordings.filter(([, vendor]) => providers[vendor].path === '/v1/chat/completions');
	const ofMessages = recordings.filter(([, vendor]) => providers[vendor].path === '/v1/messages');

	it('there are non-streaming responses, streams and errors', () => {
		for (const some of [ofChat, ofMessages]) {
			for (const isStream of [true, false]) expect(some.some(([, , { response }]) => (response.sse !== undefined) === isStream)).toBe(true);
		}
		expect(ofChat.filter(([, , { response }]) => response.status !== 200).length).toBeGreaterThan(3);
	});

	it.each(openAiLines.flatMap(([line, OpenAI]) => ofChat.map(([name, ...of]) => [line, name, OpenAI, ...of] as const)))(
		'%s reads %s',
		async (_line, _name, OpenAI, vendor, recording) => {
			const client = await openOpenAi(OpenAI, subject.current, { headers: { 'x-gateway-provider': providers[vendor].provider } });
			await expectAsRecorded(vendor, recording, async (body) => client.chat.completions.create(body));
		},
	);

	it.each(
		anthropicLines.flatMap(([line, Anthropic, credential]) =>
			ofMessages.map(([name, ...of]) => [line, name, Anthropic, credential, ...of] as const),
		),
	)('%s reads %s', async (_line, _name, Anthropic, credential, vendor, recording) => {
		const client = await openAnthropic(Anthropic, credential, subject.current, {
			headers: { 'x-gateway-provider': providers[vendor].provider },
		});
		await expectAsRecorded(vendor, recording, async (body) => client.messages.create(body));
	});
});
