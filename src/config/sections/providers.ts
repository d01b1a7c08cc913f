import { z } from 'zod';
import { providerKinds } from '../../wire/providers/provider.ts';
import { normaliseBaseUrl, privateNetworkProblem } from '../base-url.ts';
import { proxySettings } from '../proxy.ts';
import { isRecord } from '../raw.ts';
import { entryName, integer, nonEmpty, secret, secretText, webAddress } from '../values.ts';
import { modelFacts } from './model-facts.ts';

const headerName = z
	.string()
	.regex(/^[!#$%&'*+.^_`|~0-9a-z-]+$/, 'must be a header field name in lower case')
	.refine(
		(name) =>
			![
				'host',
				'connection',
				'content-length',
				'expect',
				'keep-alive',
				'proxy-connection',
				'te',
				'trailer',
				'transfer-encoding',
				'upgrade',
			].includes(name),
		'is set by the gateway itself',
	);

const fields = z.strictObject({
	kind: z.enum(providerKinds).describe('What the provider speaks and how it authenticates.'),
	base_url: webAddress
		.overwrite(normaliseBaseUrl)
		.nullable()
		.default(null)
		.describe(
			'Address as the vendor’s SDK takes it (OpenAI’s with `/v1`, the others’ without); null means the vendor’s own, which Azure has not.',
		),
	api_key: secretText
		.nullable()
		.default(null)
		.meta(secret('Key of the provider; `REPLACE_ME` counts as not set; null, for `openai-compatible` alone, sends none.')),
	api_key_file: nonEmpty.optional().describe('File that holds the key.'),
	allow_private_network: z
		.boolean()
		.default(false)
		.describe('Whether the provider may be reached by plain http and at private and loopback addresses.'),
	...proxySettings('provider'),
	api_version: z
		.string()
		.regex(/^\d{4}-\d{2}-\d{2}(-preview)?$/, 'must be a date such as 2024-10-21, with or without -preview')
		.nullable()
		.default(null)
		.describe('Azure only: version of the classic addresses; null uses the v1 addresses.'),
	dialect: z.enum(['native', 'openai']).default('native').describe('Gemini only: its own format, or what it makes of chat completions.'),
	deployments: z
		.record(z.string().regex(/^[A-Za-z0-9._-]{1,64}$/, 'must be 1 to 64 characters: letters, digits, `.`, `_`, `-`'), modelFacts)
		.default({})
		.describe('Azure only: deployments by name; a request for a model of that name goes there. What stands behind the name may be said.'),
	request_stream_usage: z
		.boolean()
		.default(true)
		.describe('Whether streams of chat completions are asked for usage; false for a server that refuses `stream_options`.'),
	models: z.array(nonEmpty.max(200)).max(10_000).default([]).describe('Models that `GET /v1/models` lists for this provider.'),
	model_capabilities: z
		.record(nonEmpty.max(200), modelFacts)
		.default({})
		.describe('What is to be known of models by their name there, where the name does not tell or tells wrong.'),
	retries: integer(0, 5)
		.default(1)
		.describe('How often a call is sent to the provider again, where no connection was made or its answer has one of `retry_statuses`.'),
	retry_statuses: z
		.array(z.union([z.literal(429), integer(500, 599)]))
		.max(100)
		.default([])
		.describe('Statuses whose answers are worth a retry by the gateway; none by default, since vendors’ SDKs retry them by themselves.'),
	max_concurrent: integer(1, 4096)
		.default(1024)
		.describe('Requests to the provider in flight at once; streams count until they end. Freed slots are divided between waiting teams.'),
	max_queued: integer(0, 100_000)
		.default(256)
		.describe('Requests that wait for a slot, for `gateway.timeouts.first_byte_ms` at most; one more gets 503 `provider_busy`.'),
	eject_after_failures: integer(1, 1000)
		.nullable()
		.default(5)
		.describe('Failures in a row after which calls go to a rule’s other targets while there are any; null never ejects.'),
	headers: z
		.record(headerName, secretText.max(8192).meta({ 'x-secret': true }))
		.default({})
		.describe('Header fields added to every request to the provider.'),
});

const provider = fields.superRefine(checkProvider, { when: ({ value }) => isRecord(value) });

export const providers = z.record(entryName, provider);

/** Runs even when a field is wrong, so that one run names all problems: no field can be taken for granted. */
function checkProvider(value: Partial<z.output<typeof fields>>, context: z.RefinementCtx): void {
	const problem = (field: keyof typeof value, message: string): void => context.addIssue({ code: 'custom', path: [field], message });
	if (typeof value.base_url === 'string' && value.allow_private_network !== true) {
		const forbidden = privateNetworkProblem(value.base_url);
		if (forbidden !== undefined) problem('base_url', forbidden);
	}
	const hasDeployments = isRecord(value.deployments) && Object.keys(value.deployments).length > 0;
	if (value.kind !== 'gemini' && value.dialect === 'openai') problem('dialect', 'is for kind gemini only');
	if (value.kind === 'azure-openai') {
		if (value.base_url === null && hasDeployments) {
			problem('base_url', 'is needed for the deployments, such as https://NAME.openai.azure.com');
		}
	} else if (value.kind !== undefined) {
		if (value.base_url === null) problem('base_url', `is needed for kind ${value.kind}`);
		if (typeof value.api_version === 'string') problem('api_version', 'is for kind azure-openai only');
		if (hasDeployments) problem('deployments', 'are for kind azure-openai only');
	}
}
