/** Table of errors (Spec: Errors) as users of the official SDKs see it: class and message. */
import { describe, expect, it } from 'vitest';
import { anthropicLines, openAiLines } from '../support/sdk-lines.ts';
import { shortTimeouts, useFaultySubject } from './faulty-subject.ts';
import { openAnthropic, openOpenAi } from './open-sdk.ts';
import { describeOwn } from './subject.ts';

type ErrorClass =
	| 'BadRequestError'
	| 'RateLimitError'
	| 'InternalServerError'
	| 'PermissionDeniedError'
	| 'UnprocessableEntityError'
	| 'ConflictError';

interface ErrorCase {
	readonly title: string;
	/** Model name after `gpt-` or `claude-`; before `/any` for a provider that fails. */
	readonly model: string;
	readonly errorClass: ErrorClass;
	readonly status: number;
	readonly message: RegExp;
}

const cases: readonly ErrorCase[] = [
	{ title: 'the provider’s rate limit', model: 'sim-429-retry-after-7', errorClass: 'RateLimitError', status: 429, message: /rate limit/i },
	{ title: 'the caller’s mistake', model: 'sim-400', errorClass: 'BadRequestError', status: 400, message: /configured to reject/ },
	{ title: 'another mistake', model: 'sim-422', errorClass: 'UnprocessableEntityError', status: 422, message: /configured to return 422/ },
	{ title: 'a conflict', model: 'sim-409', errorClass: 'ConflictError', status: 409, message: /configured to return 409/ },
	{ title: 'our bad key', model: 'sim-401', errorClass: 'InternalServerError', status: 502, message: /key/i },
	{
		title: 'a forbidden call',
		model: 'sim-403',
		errorClass: 'InternalServerError',
		status: 502,
		message: /not supported|does not have access/,
	},
	{ title: 'an unknown model', model: 'no-such-model', errorClass: 'InternalServerError', status: 502, message: /no-such-model/ },
	{ title: 'an outage', model: 'sim-500', errorClass: 'InternalServerError', status: 502, message: /\w+ \w+ \w+/ },
	{ title: 'an overload', model: 'sim-529', errorClass: 'InternalServerError', status: 502, message: /overloaded/i },
	{
		title: 'a key that nobody has set',
		model: 'unset-',
		errorClass: 'InternalServerError',
		status: 502,
		message: /has no `api_key`/,
	},
	{
		title: 'a provider that is down',
		model: 'down-',
		errorClass: 'InternalServerError',
		status: 502,
		message: /The provider is unreachable/,
	},
	{
		title: 'a dropped connection',
		model: 'sim-reset',
		errorClass: 'InternalServerError',
		status: 502,
		message: /The provider is unreachable/,
	},
	{
		title: 'no connection in time',
		model: 'mute-',
		errorClass: 'InternalServerError',
		status: 504,
		message: /No connection to the provider within /,
	},
	{
		title: 'a page instead of an answer',
		model: 'sim-html-200',
		errorClass: 'InternalServerError',
		status: 502,
		message: /`text\/html` instead of 200/,
	},
	{ title: 'a redirect', model: 'sim-redirect', errorClass: 'InternalServerError', status: 502, message: /The provider returned 307/ },
];

const streamCases: readonly ErrorCase[] = [
	{
		title: 'no first byte in time',
		model: 'sim-hang',
		errorClass: 'InternalServerError',
		status: 504,
		message: new RegExp(`sent no first byte within ${shortTimeouts.first_byte_ms} ms`),
	},
];

/** Errors of non-streaming responses only. */
const nonStreamingCases: readonly ErrorCase[] = [
	{ title: 'nothing', model: 'sim-empty', errorClass: 'InternalServerError', status: 502, message: /not a JSON object/ },
	{ title: 'half an answer', model: 'sim-malformed-json', errorClass: 'InternalServerError', status: 502, message: /not a JSON object/ },
	{
		title: 'an answer that breaks off',
		model: 'sim-cut-after-1',
		errorClass: 'InternalServerError',
		status: 502,
		message: /closed the connection/,
	},
	{
		title: 'no response in time',
		model: 'sim-hang',
		errorClass: 'InternalServerError',
		status: 504,
		message: new RegExp(`not complete within ${shortTimeouts.total_ms} ms`),
	},
	{ title: 'an answer that stops', model: 'sim-stall', errorClass: 'InternalServerError', status: 504, message: /sent nothing for/ },
];

const modelOf = ({ model }: ErrorCase, family: string, format: string): string =>
	model.endsWith('-') ? `${model}${format}/any` : `${family}-${model}`;

const requests = [
	...[...cases, ...nonStreamingCases].map((one) => ({ ...one, stream: false })),
	...[...cases, ...streamCases].map((one) => ({ ...one, title: `${one.title}, asked for a stream`, stream: true })),
];

describeOwn('Spec: Errors, through the official SDKs', 'our simulator', () => {
	const subject = useFaultySubject();

	describe.concurrent.each(openAiLines)('%s', (_name, OpenAI) => {
		it.each(requests)('$title: $errorClass', async (one) => {
			const client = await openOpenAi(OpenAI, subject.current);
			const body = { model: modelOf(one, 'gpt', 'chat'), messages: [{ role: 'user' as const, content: 'Say hello.' }], stream: one.stream };
			const error: unknown = await client.chat.completions.create(body).catch((cause: unknown) => cause);
			expect(error).toBeInstanceOf(OpenAI[one.errorClass]);
			const { status, message, requestID, type } = error as InstanceType<typeof OpenAI.APIError>;
			expect(status).toBe(one.status);
			expect(message).toMatch(one.message);
			expect(message).toMatch(new RegExp(`^${one.status} [A-Z'"]`));
			expect(message).not.toMatch(/no body|<html|<!doctype/i);
			expect(requestID).toMatch(/^req_/);
			expect(type).toMatch(/\w/);
		});

		it.each(requests)('Responses API, $title: $errorClass', async (one) => {
			const client = await openOpenAi(OpenAI, subject.current);
			const body = { model: modelOf(one, 'gpt', 'responses'), input: 'Say hello.', stream: one.stream };
			const error: unknown = await client.responses.create(body).catch((cause: unknown) => cause);
			// This API says that an unknown model is the client's error.
			const isOwn = one.model === 'no-such-model';
			const [errorClass, expected] = isOwn ? (['BadRequestError', 400] as const) : [one.errorClass, one.status];
			expect(error).toBeInstanceOf(OpenAI[errorClass]);
			const { status, message, requestID, type } = error as InstanceType<typeof OpenAI.APIError>;
			expect([status, requestID, type]).toEqual([expected, expect.stringMatching(/^req_/), expect.stringMatching(/\w/)]);
			expect(message).toMatch(one.message);
			expect(message).not.toMatch(/no body|<html|<!doctype/i);
		});

		it('a token without the scope: PermissionDeniedError', async () => {
			const { adminClient, product, scopeBase } = subject.current;
			const accessToken = (await product?.accessToken(adminClient, `${scopeBase}/admin`)) ?? '';
			const client = await openOpenAi(OpenAI, subject.current, { accessToken });
			await expect(client.models.list()).rejects.toBeInstanceOf(OpenAI.PermissionDeniedError);
		});
	});

	describe.concurrent.each(anthropicLines)('%s', (_name, Anthropic, credential) => {
		it.each(requests)('$title: $errorClass', async (one) => {
			const client = await openAnthropic(Anthropic, credential, subject.current);
			const body = {
				model: modelOf(one, 'claude', 'messages'),
				max_tokens: 50,
				messages: [{ role: 'user' as const, content: 'Say hello.' }],
			};
			const error: unknown = await client.messages.create({ ...body, stream: one.stream }).catch((cause: unknown) => cause);
			expect(error).toBeInstanceOf(Anthropic[one.errorClass]);
			const { status, message, requestID, error: response } = error as InstanceType<typeof Anthropic.APIError>;
			expect(status).toBe(one.status);
			expect(message).toMatch(one.message);
			expect(message).not.toMatch(/no body|<html|<!doctype/i);
			expect(requestID).toMatch(/^req_/);
			expect(response).toMatchObject({ type: 'error', error: { type: expect.stringMatching(/_error$/) as string } });
		});

		it('a token without the scope: PermissionDeniedError', async () => {
			const { adminClient, product, scopeBase } = subject.current;
			const accessToken = (await product?.accessToken(adminClient, `${scopeBase}/admin`)) ?? '';
			const client = await openAnthropic(Anthropic, credential, subject.current, { accessToken });
			await expect(client.models.list()).rejects.toBeInstanceOf(Anthropic.PermissionDeniedError);
		});
	});
});
