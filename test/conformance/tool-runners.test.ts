/** Tool runners of Anthropic's SDKs, against each vendor over real HTTP: the newer line begins with a `thread`. */
import { describe, expect, it } from 'vitest';
import { anthropicLines } from '../support/sdk-lines.ts';
import { describeOwn, send, useSubject } from './subject.ts';

const vendors = [
	['provider_a', 'claude-haiku-4-5'],
	['provider_b', 'gpt-4o-mini'],
	['provider_c', 'gemini-2.5-flash'],
] as const;

const refusal = { error_code: 'thread_unsupported_request', unsupported: ['model'] };
const question = { role: 'user' as const, content: 'What is the weather in Paris?' };

describeOwn('tool runners under guardrails', 'a configuration of its own', () => {
	const subject = useSubject({ enable_guardrails: true });

	describe.each(anthropicLines)('the tool runner of %s', (name, Anthropic, credential) => {
		it.each(vendors.flatMap(([provider, model]) => [false, true].map((stream) => [provider, model, stream] as const)))(
			'ends its loop with %s, %s, streamed %s',
			async (provider, model, stream) => {
				const seen: { readonly hasThread: boolean; readonly status: number; readonly provider: string | null }[] = [];
				const client = new Anthropic({
					baseURL: subject.current.baseUrl,
					apiKey: null,
					[credential]: await subject.current.accessToken(),
					maxRetries: 0,
					logLevel: 'off',
					fetch: async (url, init) => {
						const response = await fetch(url, init);
						const sent = JSON.parse(typeof init?.body === 'string' ? init.body : '') as object;
						seen.push({ hasThread: 'thread' in sent, status: response.status, provider: response.headers.get('x-gateway-provider') });
						return response;
					},
				});
				const runner = client.beta.messages.toolRunner({
					model,
					max_tokens: 400,
					stream,
					messages: [question],
					tools: [
						{
							type: 'custom',
							name: 'get_weather',
							description: 'The weather of a city',
							input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
							parse: (input: unknown) => input,
							run: () => 'Seventeen degrees',
						},
					],
				});
				const last = await runner.runUntilDone();
				expect(JSON.stringify(last.content)).toContain('Seventeen degrees');
				const threaded = name.endsWith(' 1') ? [{ hasThread: true, status: 400, provider }] : [];
				const whole = { hasThread: false, status: 200, provider };
				expect(seen).toEqual([...threaded, whole, whole]);
			},
		);
	});

	it.each(vendors.flatMap(([, model]) => ['', '/count_tokens'].map((path) => [model, path] as const)))(
		'%s, /v1/messages%s: the rejection that the runners expect',
		async (model, path) => {
			const body = { model, max_tokens: 9, messages: [question], thread: { type: 'create' } };
			const response = await send(subject.current, `/v1/messages${path}`, { body });
			expect(response.status).toBe(400);
			expect(await response.json()).toMatchObject({
				type: 'error',
				error: { type: 'invalid_request_error', code: 'thread_unsupported_request', param: 'thread', details: refusal },
			});
		},
	);
});
