import { z } from 'zod';
import { policyModes } from '../../core/policy-mode.ts';
import { classifierActions } from '../../policy/guardrails/guardrail.ts';
import { judgeForms } from '../../wire/moderation/chat-judge.ts';
import { moderationCategories } from '../../wire/moderation/moderation.ts';
import { moderationKinds } from '../../wire/moderation/moderation-protocols.ts';
import { normaliseBaseUrl, privateNetworkProblem } from '../base-url.ts';
import { proxySettings } from '../proxy.ts';
import { isRecord } from '../raw.ts';
import { integer, nonEmpty, rate, secret, secretText, usd, webAddress } from '../values.ts';

const text = nonEmpty.max(200);

/** Action for a judge's finding that has no position in the text. */
export const classifierAction = z.enum(classifierActions).default('block');

const fields = z.strictObject({
	name: z
		.string()
		.regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'must be 1 to 64 characters: lower-case letters, digits, `_`, `-`')
		.describe('Name of the moderation provider in assessments and metrics.'),
	kind: z.enum(moderationKinds).describe('API of the moderation provider.'),
	base_url: webAddress
		.overwrite(normaliseBaseUrl)
		.nullable()
		.default(null)
		.describe(
			'Base URL; null: the vendor’s default, which Azure and chat judges do not have. With `/v1` for `openai-moderation` and `chat-judge`.',
		),
	allow_private_network: z.boolean().default(false).describe('Allows plain http and private or loopback addresses.'),
	...proxySettings('moderation provider'),
	api_key: secretText.nullable().default(null).meta(secret('API key; null: none is sent.')),
	api_key_file: nonEmpty.optional().describe('File with the key.'),
	model: text.nullable().default(null).describe('Moderation model; null for `openai-moderation`: `omni-moderation-latest`.'),
	form: z.enum(judgeForms).nullable().default(null).describe('Chat judges only: prompt and response format that the model was trained on.'),
	policy: nonEmpty.max(50_000).nullable().default(null).describe('Chat judges of form `shield-gemma` or `safeguard`: the policy text.'),
	category: z.enum(moderationCategories).default('misconduct').describe('Chat judges only: category of verdicts without one.'),
	guardrail_id: text.nullable().default(null).describe('Bedrock only: id or ARN of the guardrail.'),
	guardrail_version: text.default('DRAFT').describe('Bedrock only: version of the guardrail.'),
	region: z
		.string()
		.regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'must be a region such as eu-central-1')
		.nullable()
		.default(null)
		.describe('Bedrock only: region of the guardrail.'),
	access_key_id: secretText.nullable().default(null).describe('Bedrock only: AWS access key that signs requests if there is no `api_key`.'),
	secret_access_key: secretText.nullable().default(null).meta(secret('Bedrock only: secret of the access key.')),
	secret_access_key_file: nonEmpty.optional().describe('File that holds the secret of the access key.'),
	session_token: secretText.nullable().default(null).meta(secret('Bedrock only: session token of temporary credentials.')),
	action: classifierAction.describe(
		'Action for harmful requests under `enforce_guardrails`. `none`: not called, except for teams with their own rule.',
	),
	mode: z.enum(policyModes).default('enforce').describe('`monitor`: results are recorded and counted, and no request waits for them.'),
	timeout_ms: integer(1, 2000).default(2000).describe('Time limit of one evaluation, queue time included.'),
	max_concurrent: integer(1, 1000).default(64).describe('Maximum in-flight requests; others are queued within `timeout_ms`.'),
	on_failure: z
		.enum(['open', 'closed'])
		.default('open')
		.describe('Action under `enforce_guardrails` if the evaluation fails: `open` passes the request, `closed` blocks it.'),
	log_threshold: z.number().min(0).max(1).default(0.5).describe('Minimum score at which a category is logged.'),
	block_threshold: z.number().min(0).max(1).default(0.8).describe('Minimum score at which a category blocks under `enforce_guardrails`.'),
	input_usd_per_million_tokens: rate
		.nullable()
		.default(null)
		.describe('Input price of a chat judge; null: the list price if `base_url` is OpenAI’s, otherwise unknown.'),
	output_usd_per_million_tokens: rate.nullable().default(null).describe('Output price of a chat judge; null as for the input price.'),
	usd_per_thousand_units: usd
		.nullable()
		.default(null)
		.describe('Price per thousand text units, records or texts; null: free for `openai-moderation`, otherwise unknown.'),
});

export const moderationProvider = fields.superRefine(checkModerationProvider, { when: ({ value }) => isRecord(value) });

/** Runs even when a field is invalid, so that one run reports all problems. No field can be assumed to be valid. */
function checkModerationProvider(value: Partial<z.output<typeof fields>>, context: z.RefinementCtx): void {
	const problem = (field: keyof typeof value, message: string): void => context.addIssue({ code: 'custom', path: [field], message });
	if (typeof value.base_url === 'string' && value.allow_private_network !== true) {
		const forbidden = privateNetworkProblem(value.base_url);
		if (forbidden !== undefined) problem('base_url', forbidden);
	}
	if (value.base_url === null && (value.kind === 'azure-content-safety' || value.kind === 'chat-judge')) {
		problem('base_url', `is required for kind ${value.kind}`);
	}
	if (value.kind === 'chat-judge') {
		if (value.model === null) problem('model', 'is required for kind chat-judge');
		if (value.form === null) problem('form', 'is required for kind chat-judge');
		if (value.policy === null && (value.form === 'shield-gemma' || value.form === 'safeguard')) {
			problem('policy', `is required for the form ${value.form}`);
		}
	}
	if (value.kind === 'bedrock-guardrail') {
		if (value.guardrail_id === null) problem('guardrail_id', 'is required for kind bedrock-guardrail');
		if (value.region === null) problem('region', 'is required for kind bedrock-guardrail');
		if (value.api_key === null && value.api_key_file === undefined && (value.access_key_id === null || value.secret_access_key === null)) {
			problem('api_key', 'or access_key_id and secret_access_key are required for kind bedrock-guardrail');
		}
	}
}
