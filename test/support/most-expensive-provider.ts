/**
 * Provider that bills the maximum that vendors document: a token for each byte of text, all of their additions, and every allowed token.
 */
import type { UpstreamRequest } from '../../src/core/upstream.ts';
import { jsonResponse, type ScriptedResponse, sentText } from './gateway-bench.ts';

type Members = Readonly<Record<string, unknown>>;

/** Upper bound of a vendor's additional tokens for a message, for tools, for a built-in tool and for a schema. */
const added = { message: 7, tools: 1500, typedTool: 1500, schema: 1500 };
/** Tokens of an image in the finest detail. */
const imageTokens = 50_000;

export const dearestProvider: ScriptedResponse = (request) => {
	const body = JSON.parse(sentText(request)) as Members;
	const input = inputTokensOf(body);
	return jsonResponse(200, JSON.stringify(renderers[wireOf(request)](body, input)));
};

type WireName = 'chat' | 'messages' | 'gemini';

function wireOf({ target }: UpstreamRequest): WireName {
	if (target.includes('/messages')) return 'messages';
	return target.includes('generateContent') ? 'gemini' : 'chat';
}

const renderers: Readonly<Record<WireName, (body: Members, input: number) => object>> = {
	chat: (body, input) => {
		const output = numberOf(body.max_completion_tokens ?? body.max_tokens) * numberOf(body.n ?? 1);
		return {
			id: 'x',
			object: 'chat.completion',
			created: 1,
			model: body.model,
			choices: [{ index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'stop' }],
			usage: {
				prompt_tokens: input,
				completion_tokens: output,
				total_tokens: input + output,
				prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: input },
				completion_tokens_details: { reasoning_tokens: output },
			},
		};
	},
	messages: (body, input) => {
		const text = JSON.stringify(body);
		const isWritten = text.includes('"cache_control":');
		const hour = isWritten && text.includes('"ttl":"1h"') ? input : 0;
		const output = numberOf(body.max_tokens);
		return {
			id: 'msg_1',
			type: 'message',
			role: 'assistant',
			model: body.model,
			content: [{ type: 'text', text: 'yes' }],
			stop_reason: 'end_turn',
			stop_sequence: null,
			usage: {
				input_tokens: isWritten ? 0 : input,
				cache_creation_input_tokens: isWritten ? input : 0,
				cache_creation: { ephemeral_5m_input_tokens: isWritten ? input - hour : 0, ephemeral_1h_input_tokens: hour },
				cache_read_input_tokens: 0,
				output_tokens: output,
			},
		};
	},
	gemini: (body, input) => {
		const output = numberOf(membersOf(body.generationConfig).maxOutputTokens);
		return {
			candidates: [{ content: { role: 'model', parts: [{ text: 'yes' }] }, finishReason: 'STOP', index: 0 }],
			usageMetadata: { promptTokenCount: input, candidatesTokenCount: 1, thoughtsTokenCount: output - 1, totalTokenCount: input + output },
		};
	},
};

function inputTokensOf(body: Members): number {
	const tools = [...listOf(body.tools), ...listOf(body.functions)].map(membersOf);
	const typed = tools.filter(({ type }) => typeof type === 'string' && type !== 'function' && type !== 'custom').length;
	const hasSchema = [body.response_format, membersOf(body.output_config).format, body.output_format].some((one) => one !== undefined);
	const messages = [...listOf(body.messages), ...listOf(body.contents)];
	const { bytes, images } = weigh([body.messages, body.contents, body.system, body.systemInstruction, body.tools, body.functions]);
	const schemas = weigh([body.response_format, body.output_config, body.output_format, body.generationConfig]).bytes;
	return (
		bytes +
		schemas +
		images * imageTokens +
		messages.length * added.message +
		(tools.length > 0 ? added.tools : 0) +
		typed * added.typedTool +
		(hasSchema ? added.schema : 0)
	);
}

/** UTF-8 bytes of all texts in a value, member names included, and the number of images. */
function weigh(value: unknown): { bytes: number; images: number } {
	const sum = { bytes: 0, images: 0 };
	const visit = (one: unknown): void => {
		if (typeof one === 'string') sum.bytes += Buffer.byteLength(one);
		else if (Array.isArray(one)) one.forEach(visit);
		else if (typeof one === 'object' && one !== null) {
			const members = one as Members;
			if (['image', 'image_url'].includes(String(members.type)) || members.inlineData !== undefined) {
				sum.images++;
				return;
			}
			for (const [name, inner] of Object.entries(members)) {
				visit(name);
				visit(inner);
			}
		}
	};
	visit(value);
	return sum;
}

function numberOf(value: unknown): number {
	if (typeof value !== 'number') throw new Error('the request that was sent has no cap');
	return value;
}

function membersOf(value: unknown): Members {
	return typeof value === 'object' && value !== null ? (value as Members) : {};
}

function listOf(value: unknown): readonly unknown[] {
	return Array.isArray(value) ? value : [];
}
