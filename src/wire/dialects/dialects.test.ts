import { describe, expect, it } from 'vitest';
import { readRecordings } from '../../../test/support/recordings.ts';
import { Rejection } from '../../core/rejection.ts';
import { errorTypeOf, renderGatewayError } from '../gateway-error.ts';
import { chat as chatCompletions } from './chat/chat.ts';
import type { ClientDialect } from './dialect.ts';
import { messages, tokenCounting } from './messages/messages.ts';

function verdict(format: ClientDialect, body: Record<string, unknown>): string {
	try {
		format.validate(body);
	} catch (cause) {
		if (cause instanceof Rejection) return `${cause.code} ${cause.param}`;
		throw cause;
	}
	return 'accepted';
}

const turns = [{ role: 'user', content: 'hi' }];
const chat = (more: Record<string, unknown>) => verdict(chatCompletions, { model: 'm', messages: turns, ...more });
const message = (more: Record<string, unknown>) => verdict(messages, { model: 'm', max_tokens: 1, messages: turns, ...more });

describe('validate', () => {
	it.each([
		[{ model: undefined }, 'field_missing model'],
		[{ model: '' }, 'field_invalid model'],
		[{ model: 1 }, 'field_invalid model'],
		[{ model: 'x'.repeat(257) }, 'field_invalid model'],
		[{ model: null }, 'field_invalid model'],
		[{ messages: undefined }, 'field_missing messages'],
		[{ messages: [] }, 'field_invalid messages'],
		[{ messages: {} }, 'field_invalid messages'],
		[{ messages: 'hi' }, 'field_invalid messages'],
		[{ messages: ['hi'] }, 'field_invalid messages[0]'],
		[{ messages: [null] }, 'field_invalid messages[0]'],
		[{ messages: [[]] }, 'field_invalid messages[0]'],
		[{ messages: [...turns, { content: 'x' }] }, 'field_missing messages[1].role'],
		[{ messages: [{ role: 5, content: 'x' }] }, 'field_invalid messages[0].role'],
		[{ messages: [{ role: 'user' }] }, 'field_missing messages[0].content'],
		[{ messages: [{ role: 'user', content: null }] }, 'field_invalid messages[0].content'],
		[{ messages: [{ role: 'user', content: {} }] }, 'field_invalid messages[0].content'],
		[{ messages: [{ role: 'user', content: 5 }] }, 'field_invalid messages[0].content'],
		[{ messages: [{ role: 'user', content: ['x'] }] }, 'field_invalid messages[0].content[0]'],
		[{ messages: [{ role: 'user', content: [{ type: 'text' }, {}] }] }, 'field_missing messages[0].content[1].type'],
		[{ messages: [{ role: 'user', content: [{ type: 7 }] }] }, 'field_invalid messages[0].content[0].type'],
		[{ stream: 'yes' }, 'field_invalid stream'],
		[{ max_tokens: 'ten' }, 'field_invalid max_tokens'],
		[{ max_tokens: 1.5 }, 'field_invalid max_tokens'],
		[{ max_tokens: -1 }, 'field_invalid max_tokens'],
		[{ max_tokens: 2 ** 31 }, 'field_invalid max_tokens'],
		[{ max_tokens: 1e308 }, 'field_invalid max_tokens'],
		[{ temperature: '1' }, 'field_invalid temperature'],
		[{ tools: {} }, 'field_invalid tools'],
	])('rejects %j in both formats', (more, expected) => {
		expect(chat(more)).toBe(expected);
		expect(message(more)).toBe(expected);
	});

	it.each([
		[{ unknown_field: { deep: [1] } }],
		[{ messages: [{ role: 'oracle', content: 'x', extra: 1 }] }],
		[{ messages: [{ role: 'user', content: [{ type: 'hologram', data: 1 }] }] }],
		[{ messages: [{ role: 'user', content: [] }] }],
		[{ messages: [{ role: 'user', content: '' }] }],
		[{ stream: null, temperature: null, tools: null, top_p: 0.5 }],
	])("accepts %j in both formats: the provider's own error is better", (more) => {
		expect(chat(more)).toBe('accepted');
		expect(message(more)).toBe('accepted');
	});

	it('distinguishes the formats', () => {
		expect(chat({ max_tokens: 0 })).toBe('field_invalid max_tokens');
		expect(chat({ max_tokens: null })).toBe('accepted');
		for (const n of [0, 129, 1.5, 1e6, 1e308, '2']) expect(chat({ n })).toBe('field_invalid n');
		for (const n of [1, 128, null]) expect(chat({ n })).toBe('accepted');
		expect(chat({ max_completion_tokens: 1e18 })).toBe('field_invalid max_completion_tokens');
		for (const format of [messages, tokenCounting]) {
			const thinking = (budget_tokens: unknown): string =>
				verdict(format, { model: 'm', max_tokens: 1, messages: turns, thinking: { type: 'enabled', budget_tokens } });
			for (const budget of [1e308, 2 ** 31, -1, 0.5, '9']) expect(thinking(budget)).toBe('field_invalid thinking.budget_tokens');
			for (const budget of [1024, null, undefined]) expect(thinking(budget)).toBe('accepted');
		}
		expect(verdict(tokenCounting, { model: 'm', messages: turns, max_tokens: 1e308 })).toBe('field_invalid max_tokens');
		expect(message({ max_tokens: 0 })).toBe('accepted');
		expect(message({ max_tokens: undefined })).toBe('field_missing max_tokens');
		expect(message({ max_tokens: null })).toBe('field_invalid max_tokens');
		expect(chat({ messages: [{ role: 'assistant', tool_calls: [] }] })).toBe('accepted');
		expect(chat({ messages: [{ role: 'assistant', content: null }] })).toBe('accepted');
		expect(message({ messages: [{ role: 'assistant', content: null }] })).toBe('field_invalid messages[0].content');
	});

	it('names the problem, its path, and the next step', () => {
		expect(() => chatCompletions.validate({ model: 'm', messages: [{ role: 'user', content: 5 }] })).toThrow(
			'`messages[0].content` must be a string or an array, not 5',
		);
		expect(() => messages.validate({ model: 'm', messages: turns })).toThrow(
			'`max_tokens` is missing: add it, as an integer of 0 to 2147483647',
		);
	});

	it.each(['openai', 'azure', 'anthropic'])('accepts every request to which %s responded', (provider) => {
		const format = provider === 'anthropic' ? messages : chatCompletions;
		const bodies = readRecordings(provider).flatMap(({ request, response }) =>
			request === undefined || response.status === 404 ? [] : [request.body],
		);
		expect(bodies.length).toBeGreaterThan(3);
		// Azure names the model in the path; the gateway needs it in the body.
		for (const body of bodies) expect(verdict(format, { model: 'm', ...body })).toBe('accepted');
	});
});

describe('errors', () => {
	const error = { status: 429, code: 'rpm_limit_exceeded', message: 'Too fast', requestId: 'r1' };

	it('have one body for both formats', () => {
		expect(JSON.parse(renderGatewayError(error))).toEqual({
			type: 'error',
			error: { type: 'rate_limit_error', message: 'Too fast', code: 'rpm_limit_exceeded', param: null },
			request_id: 'r1',
		});
	});

	it('end a stream in the way its own SDKs raise', () => {
		expect(chatCompletions.renderErrorEvent(error).toString()).toBe(
			'data: {"error":{"type":"rate_limit_error","message":"Too fast","code":"rpm_limit_exceeded","param":null},"request_id":"r1"}\n\n',
		);
		expect(messages.renderErrorEvent(error).toString()).toBe(
			'event: error\ndata: {"type":"error","error":{"type":"rate_limit_error","message":"Too fast","code":"rpm_limit_exceeded","param":null},"request_id":"r1"}\n\n',
		);
	});

	it('have the type of their status', () => {
		const types = {
			400: 'invalid_request_error',
			401: 'authentication_error',
			403: 'permission_error',
			404: 'not_found_error',
			405: 'invalid_request_error',
			413: 'request_too_large',
			415: 'invalid_request_error',
			429: 'rate_limit_error',
			500: 'api_error',
			502: 'api_error',
			503: 'overloaded_error',
			504: 'timeout_error',
			529: 'overloaded_error',
		};
		for (const [status, type] of Object.entries(types)) expect(errorTypeOf(Number(status))).toBe(type);
	});
});

describe('isComplete', () => {
	it('takes a finish reason for the end of chat completions, not a text that mentions one', () => {
		expect(chatCompletions.isComplete(Buffer.from('data: {"choices":[{"finish_reason":"stop"}]}\n\n'))).toBe(true);
		expect(chatCompletions.isComplete(Buffer.from('data: {"choices":[{"finish_reason":null}]}\n\n'))).toBe(false);
		const text = JSON.stringify({ choices: [{ delta: { content: '"finish_reason":"stop"' }, finish_reason: null }] });
		expect(chatCompletions.isComplete(Buffer.from(`data: ${text}\n\n`))).toBe(false);
		expect(messages.isComplete(Buffer.from('"stop_reason":"end_turn"'))).toBe(false);
	});
});
