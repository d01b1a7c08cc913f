/**
 * Schema of a chat completion and of its chunks, as far as a translation may send them. It follows the types of OpenAI's SDK (`openai` 7,
 * `resources/chat/completions` and `resources/completions`), plus Tollgate's extensions, in places where client libraries preserve unknown
 * fields. Other fields are a leak.
 */
import { z } from 'zod';

const extraContent = z.strictObject({ google: z.strictObject({ thought_signature: z.string().min(1) }) });
const thinkingBlocks = z.array(z.looseObject({ type: z.enum(['thinking', 'redacted_thinking']) })).min(1);
const extensions = {
	reasoning_content: z.string().optional(),
	thinking_blocks: thinkingBlocks.optional(),
	extra_content: extraContent.optional(),
};

const count = z.int().min(0);
const annotations = z
	.array(
		z.strictObject({
			type: z.literal('url_citation'),
			url_citation: z.strictObject({ url: z.string(), title: z.string(), start_index: count, end_index: count }),
		}),
	)
	.optional();
const serviceTier = z.enum(['auto', 'default', 'flex', 'scale', 'priority']).optional();
const usage = z.strictObject({
	prompt_tokens: count,
	completion_tokens: count,
	total_tokens: count,
	prompt_tokens_details: z.strictObject({ cached_tokens: count.optional(), cache_write_tokens: count.optional() }).optional(),
	completion_tokens_details: z.strictObject({ reasoning_tokens: count.optional() }).optional(),
});
const finishReason = z.enum(['stop', 'length', 'tool_calls', 'content_filter', 'function_call']);
const functionCall = z.strictObject({ name: z.string().min(1), arguments: z.string() });
const top = { id: z.string().min(1), created: z.int().min(0), model: z.string().min(1) };

export const chatCompletionSchema = z.strictObject({
	...top,
	object: z.literal('chat.completion'),
	choices: z
		.array(
			z.strictObject({
				index: count,
				finish_reason: finishReason,
				logprobs: z.null(),
				message: z.strictObject({
					role: z.literal('assistant'),
					content: z.string().nullable(),
					refusal: z.string().nullable(),
					annotations,
					tool_calls: z
						.array(
							z.strictObject({
								id: z.string().min(1),
								type: z.literal('function'),
								function: functionCall,
								extra_content: extraContent.optional(),
							}),
						)
						.min(1)
						.optional(),
					function_call: functionCall.optional(),
					...extensions,
				}),
			}),
		)
		.min(1),
	service_tier: serviceTier,
	usage: usage.optional(),
});

export const chatChunkSchema = z.strictObject({
	...top,
	object: z.literal('chat.completion.chunk'),
	choices: z.array(
		z.strictObject({
			index: count,
			finish_reason: finishReason.nullable(),
			logprobs: z.null().optional(),
			delta: z.strictObject({
				role: z.literal('assistant').optional(),
				content: z.string().nullable().optional(),
				refusal: z.string().nullable().optional(),
				annotations,
				tool_calls: z
					.array(
						z.strictObject({
							index: count,
							id: z.string().min(1).optional(),
							type: z.literal('function').optional(),
							function: functionCall.partial(),
							extra_content: extraContent.optional(),
						}),
					)
					.optional(),
				function_call: functionCall.partial().optional(),
				...extensions,
			}),
		}),
	),
	service_tier: serviceTier,
	usage: usage.nullable().optional(),
});
