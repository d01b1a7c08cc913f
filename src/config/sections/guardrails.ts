import { z } from 'zod';
import { milliseconds, nonEmpty, secret, secretText, webAddress } from '../values.ts';

const strength = z.enum(['none', 'low', 'medium', 'high']).default('medium');

const content = z.strictObject({
	enabled: z.boolean().default(true).describe('Whether texts are judged for harmful content.'),
	hate: strength.describe('Strength against hate.'),
	violence: strength.describe('Strength against violence.'),
	sexual: strength.describe('Strength against sexual content.'),
	misconduct: strength.describe('Strength against misconduct.'),
});

const pii = z.strictObject({
	enabled: z.boolean().default(true).describe('Whether texts are searched for personal data.'),
	types: z.array(nonEmpty).max(100).default(['ssn', 'card', 'email', 'phone']).describe('Kinds of personal data that are looked for.'),
});

const topic = z.strictObject({
	name: nonEmpty.max(100).describe('Name of the topic, as assessments show it.'),
	description: nonEmpty.max(2000).describe('What belongs to the topic, in a sentence.'),
	examples: z.array(nonEmpty.max(2000)).max(100).default([]).describe('Phrases that belong to the topic.'),
});

const engine = z.strictObject({
	name: nonEmpty.max(100).describe('Name of the engine, as assessments show it.'),
	kind: nonEmpty.max(100).describe('Interface that the engine speaks.'),
	base_url: webAddress.nullable().default(null).describe('Address of the engine.'),
	api_key: secretText.nullable().default(null).meta(secret('Key for the engine.')),
	api_key_file: nonEmpty.optional().describe('File that holds the key.'),
	timeout_ms: milliseconds.default(2000).describe('Time for one judgement.'),
	on_failure: z.enum(['allow', 'block']).default('allow').describe('What happens to a call that the engine could not judge.'),
});

export const guardrails = z.strictObject({
	content: content.prefault({}).describe('Content policy.'),
	pii: pii.prefault({}).describe('Policy on personal data.'),
	topics: z.array(topic).max(1000).default([]).describe('Topics that are not to be talked about.'),
	topics_when: z
		.enum(['enforcing', 'always'])
		.default('enforcing')
		.describe('Whether topics are judged only under `enforce_guardrails`, or always.'),
	words: z.array(nonEmpty.max(500)).max(100_000).default([]).describe('Words and phrases that trip the word policy.'),
	engines: z.array(engine).max(20).default([]).describe('Further engines that judge texts.'),
});
