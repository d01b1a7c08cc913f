import { z } from 'zod';
import { integer, nonEmpty } from '../values.ts';

/** Of an alias, a model or a deployment: wire-formats section 10. What is left out goes by the model's name. */
export const modelFacts = z.strictObject({
	model: nonEmpty
		.max(200)
		.optional()
		.describe('The vendor’s name of the model behind this one: it is priced, capped and translated for as that.'),
	max_output_tokens: integer(1, 100_000_000).optional().describe('The most that it can write.'),
	default_max_tokens: integer(1, 100_000_000).optional().describe('The cap of a translated request that has none.'),
	sampling: z
		.enum(['full', 'none'])
		.optional()
		.describe('Whether it takes `temperature`, `top_p` and `top_k` freely, or their defaults alone.'),
	temperature_max: z.number().min(0).max(100).optional().describe('The highest `temperature` that it takes; a higher one is lowered.'),
	prefill: z.boolean().optional().describe('Whether it continues a conversation that ends with its own words.'),
	mid_system: z.boolean().optional().describe('Whether it takes the role `system` inside the conversation.'),
	thinking: z
		.enum(['none', 'enabled', 'adaptive'])
		.optional()
		.describe('How thinking is asked for: not at all, by a budget, by an effort.'),
	efforts: z.array(nonEmpty.max(32)).max(20).optional().describe('Efforts that it takes, from the least to the greatest.'),
	token_param: z.enum(['max_tokens', 'max_completion_tokens']).optional().describe('The field that caps its output in chat completions.'),
	system_role: z.enum(['system', 'developer']).optional().describe('The role in which it takes instructions in chat completions.'),
	stop: z.boolean().optional().describe('Whether it takes sequences to stop at.'),
	tools_need_effort_none: z.boolean().optional().describe('Whether it refuses function tools unless `reasoning_effort` is `none`.'),
	structured_output: z.boolean().optional().describe('Whether it can be held to a JSON schema; where not, who asks for one is refused.'),
	anthropic_version: z
		.string()
		.regex(/^\d{4}-\d{2}-\d{2}$/, 'must be a date such as 2023-06-01')
		.optional()
		.describe('Version of the messages API that translated requests name; from 2026-10-21 on there is no sampling.'),
});
