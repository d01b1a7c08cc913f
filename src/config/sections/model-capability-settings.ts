import { z } from 'zod';
import { integer, nonEmpty } from '../values.ts';

/** Facts about an alias, a model or a deployment. Omitted fields are derived from the model's name. */
export const modelCapabilities = z.strictObject({
	model: nonEmpty.max(200).optional().describe('Vendor model behind this name; its price, output limit and capabilities apply.'),
	wire: z
		.enum(['chat', 'responses'])
		.optional()
		.describe('API that serves the model’s conversations at a provider with both; by default the one that the client uses.'),
	max_output_tokens: integer(1, 100_000_000).optional().describe('Output limit in tokens.'),
	default_max_tokens: integer(1, 100_000_000).optional().describe('Default output cap of translated requests.'),
	sampling: z
		.enum(['full', 'none'])
		.optional()
		.describe('True if the model accepts `temperature`, `top_p` and `top_k`; false if it accepts only their defaults.'),
	temperature_max: z.number().min(0).max(100).optional().describe('Maximum `temperature`; higher values are lowered.'),
	prefill: z.boolean().optional().describe('True if the model supports prefill (a conversation that ends with an assistant message).'),
	mid_system: z.boolean().optional().describe('True if the model accepts `system` messages inside the conversation.'),
	thinking: z
		.enum(['none', 'enabled', 'adaptive'])
		.optional()
		.describe('Form of a reasoning request: none, a token budget, or an effort level.'),
	efforts: z.array(nonEmpty.max(32)).max(20).optional().describe('Supported efforts in ascending order.'),
	token_param: z.enum(['max_tokens', 'max_completion_tokens']).optional().describe('Field for the output cap in chat completions.'),
	system_role: z.enum(['system', 'developer']).optional().describe('Role of instructions in chat completions.'),
	stop: z.boolean().optional().describe('True if the model supports stop sequences.'),
	needs_reasoning_content: z
		.boolean()
		.optional()
		.describe('True if tool calls must be sent back with the reasoning of their turn, in `reasoning_content`.'),
	tools_need_effort_none: z.boolean().optional().describe('True if function tools require `reasoning_effort: none`.'),
	structured_output: z
		.boolean()
		.optional()
		.describe('True if the model supports structured output; otherwise requests for it are rejected.'),
	anthropic_version: z
		.string()
		.regex(/^\d{4}-\d{2}-\d{2}$/, 'must be a date such as 2023-06-01')
		.optional()
		.describe('`anthropic-version` of translated requests; from 2026-10-21 on without sampling parameters.'),
});
