import { z } from 'zod';
import { judgeActions } from '../../policy/guardrails/guardrail.ts';
import { judgeForms } from '../../wire/guardrail-engines/chat-judge.ts';
import { engineCategories } from '../../wire/guardrail-engines/engine.ts';
import { engineKinds } from '../../wire/guardrail-engines/engine-protocols.ts';
import { normaliseBaseUrl, privateNetworkProblem } from '../base-url.ts';
import { proxySettings } from '../proxy.ts';
import { isRecord } from '../raw.ts';
import { integer, nonEmpty, rate, secret, secretText, usd, webAddress } from '../values.ts';

const text = nonEmpty.max(200);

/** Of what has no place in the text. */
export const judgeAction = z.enum(judgeActions).default('block');

const fields = z.strictObject({
	name: z
		.string()
		.regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'must be 1 to 64 characters: lower-case letters, digits, `_`, `-`')
		.describe('Name of the engine, as assessments and metrics show it.'),
	kind: z.enum(engineKinds).describe('Interface that the engine speaks.'),
	base_url: webAddress
		.overwrite(normaliseBaseUrl)
		.nullable()
		.default(null)
		.describe(
			'Address of the engine; null means the vendor’s own, which Azure and chat judges have not. With `/v1` for `openai-moderation` and `chat-judge`.',
		),
	allow_private_network: z
		.boolean()
		.default(false)
		.describe('Whether the engine may be reached by plain http and at private and loopback addresses.'),
	...proxySettings('engine'),
	api_key: secretText.nullable().default(null).meta(secret('Key for the engine; null sends none.')),
	api_key_file: nonEmpty.optional().describe('File that holds the key.'),
	model: text.nullable().default(null).describe('Model that judges; for `openai-moderation` null means `omni-moderation-latest`.'),
	form: z.enum(judgeForms).nullable().default(null).describe('Chat judges only: what the model was trained to be asked and to answer.'),
	policy: nonEmpty
		.max(50_000)
		.nullable()
		.default(null)
		.describe('Chat judges of the forms `shield-gemma` and `safeguard`: what is not allowed, in your words.'),
	category: z.enum(engineCategories).default('misconduct').describe('Chat judges only: category of a verdict that names none.'),
	guardrail_id: text.nullable().default(null).describe('Bedrock only: id or ARN of the guardrail.'),
	guardrail_version: text.default('DRAFT').describe('Bedrock only: version of the guardrail.'),
	region: z
		.string()
		.regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'must be a region such as eu-central-1')
		.nullable()
		.default(null)
		.describe('Bedrock only: region of the guardrail.'),
	access_key_id: secretText
		.nullable()
		.default(null)
		.describe('Bedrock only: AWS access key that signs requests, where there is no `api_key`.'),
	secret_access_key: secretText.nullable().default(null).meta(secret('Bedrock only: secret of the access key.')),
	secret_access_key_file: nonEmpty.optional().describe('File that holds the secret of the access key.'),
	session_token: secretText.nullable().default(null).meta(secret('Bedrock only: session token of temporary credentials.')),
	action: judgeAction.describe(
		'What becomes of a call that it judges harmful, under `enforce_guardrails`. `none`: it is not asked, but for teams with a rule of their own.',
	),
	timeout_ms: integer(1, 2000).default(2000).describe('Time for one judgement, whatever it takes.'),
	max_concurrent: integer(1, 1000).default(64).describe('Requests to the engine at a time; others wait, within `timeout_ms`.'),
	on_failure: z
		.enum(['open', 'closed'])
		.default('open')
		.describe(
			'What happens, under `enforce_guardrails`, to a call that the engine could not judge: `open` lets it pass, `closed` blocks it.',
		),
	log_threshold: z.number().min(0).max(1).default(0.5).describe('Score from which a category is logged.'),
	block_threshold: z.number().min(0).max(1).default(0.8).describe('Score from which a category blocks under `enforce_guardrails`.'),
	input_usd_per_million_tokens: rate
		.nullable()
		.default(null)
		.describe('Price of a chat judge’s input; null means the list price where `base_url` is OpenAI’s, else that it is not known.'),
	output_usd_per_million_tokens: rate.nullable().default(null).describe('Price of a chat judge’s output; as the other.'),
	usd_per_thousand_units: usd
		.nullable()
		.default(null)
		.describe(
			'Price of a thousand text units, records or texts, for engines that charge by those; null means nothing for `openai-moderation`, and of others that it is not known.',
		),
});

export const guardrailEngine = fields.superRefine(checkEngine, { when: ({ value }) => isRecord(value) });

/** Runs even when a field is wrong, so that one run names all problems: no field can be taken for granted. */
function checkEngine(value: Partial<z.output<typeof fields>>, context: z.RefinementCtx): void {
	const problem = (field: keyof typeof value, message: string): void => context.addIssue({ code: 'custom', path: [field], message });
	if (typeof value.base_url === 'string' && value.allow_private_network !== true) {
		const forbidden = privateNetworkProblem(value.base_url);
		if (forbidden !== undefined) problem('base_url', forbidden);
	}
	if (value.base_url === null && (value.kind === 'azure-content-safety' || value.kind === 'chat-judge')) {
		problem('base_url', `is needed for kind ${value.kind}`);
	}
	if (value.kind === 'chat-judge') {
		if (value.model === null) problem('model', 'is needed for kind chat-judge');
		if (value.form === null) problem('form', 'is needed for kind chat-judge');
		if (value.policy === null && (value.form === 'shield-gemma' || value.form === 'safeguard')) {
			problem('policy', `is needed for the form ${value.form}`);
		}
	}
	if (value.kind === 'bedrock-guardrail') {
		if (value.guardrail_id === null) problem('guardrail_id', 'is needed for kind bedrock-guardrail');
		if (value.region === null) problem('region', 'is needed for kind bedrock-guardrail');
		if (value.api_key === null && value.api_key_file === undefined && (value.access_key_id === null || value.secret_access_key === null)) {
			problem('api_key', 'or access_key_id and secret_access_key are needed for kind bedrock-guardrail');
		}
	}
}
