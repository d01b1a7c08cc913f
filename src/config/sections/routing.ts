import { z } from 'zod';
import type { ClientDialectName } from '../../core/dialect-name.ts';
import { entryName, nonEmpty } from '../values.ts';
import { modelCapabilities } from './model-capability-settings.ts';

const defaults = z.strictObject({
	chat: entryName.default('provider_b').describe('Default provider of chat-completions requests.'),
	messages: entryName.default('provider_a').describe('Default provider of messages requests.'),
	responses: entryName.default('provider_b').describe('Default provider of Responses API requests.'),
	embeddings: entryName.default('provider_b').describe('Default provider of embeddings requests.'),
	completions: entryName.default('provider_b').describe('Default provider of legacy completions requests.'),
} satisfies Readonly<Record<ClientDialectName, z.ZodType>>);

const aliasTarget = z.string().regex(/^[^/\s]+\/\S+$/, 'must be PROVIDER/MODEL');

const alias = z.union([aliasTarget, modelCapabilities.extend({ target: aliasTarget.describe('Target of the alias, `provider/model`.') })], {
	error: 'must be PROVIDER/MODEL, or a mapping with that as its `target`',
});

export const routing = z.strictObject({
	provider_header: z
		.enum(['ignore', 'optional', 'required'])
		.default('ignore')
		.describe('Use of `x-gateway-provider` to select the provider; `required` rejects requests without it.'),
	aliases: z
		.record(nonEmpty.max(200), alias)
		.default({})
		.describe('Model aliases: `provider/model`, or a mapping with `target` and capabilities.'),
	defaults: defaults.prefault({}).describe('Default provider per format, for unknown model names.'),
	translation: z
		.enum(['lenient', 'strict'])
		.default('lenient')
		.describe('Treatment of a field that the target format cannot express: dropped with a warning (`lenient`) or rejected (`strict`).'),
});
