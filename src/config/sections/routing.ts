import { z } from 'zod';
import type { ClientDialectName } from '../../core/dialect-name.ts';
import { entryName, nonEmpty } from '../values.ts';
import { modelFacts } from './model-facts.ts';

const defaults = z.strictObject({
	chat: entryName.default('provider_b').describe('Provider of chat-completions requests that nothing else decides.'),
	messages: entryName.default('provider_a').describe('Provider of messages requests that nothing else decides.'),
} satisfies Readonly<Record<ClientDialectName, z.ZodType>>);

const aliasTarget = z.string().regex(/^[^/\s]+\/\S+$/, 'must be PROVIDER/MODEL');

const alias = z.union(
	[aliasTarget, modelFacts.extend({ target: aliasTarget.describe('The `provider/model` that the name stands for.') })],
	{ error: 'must be PROVIDER/MODEL, or a mapping with that as its `target`' },
);

export const routing = z.strictObject({
	provider_header: z
		.enum(['ignore', 'optional', 'required'])
		.default('ignore')
		.describe('Whether `x-gateway-provider` chooses the provider; `required` is the earlier release’s behaviour.'),
	aliases: z
		.record(nonEmpty.max(200), alias)
		.default({})
		.describe(
			'Model names of your own, each standing for `provider/model`: that alone, or with what is to be known of the model under this name.',
		),
	defaults: defaults.prefault({}).describe('Where a model goes whose name says nothing.'),
	translation: z
		.enum(['lenient', 'strict'])
		.default('lenient')
		.describe('Whether a field that the other format cannot express is dropped with a warning, or refused.'),
});
