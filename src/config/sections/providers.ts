import { z } from 'zod';
import { normaliseBaseUrl, privateNetworkProblem } from '../base-url.ts';
import { isRecord } from '../raw.ts';
import { entryName, nonEmpty, secret, secretText, webAddress } from '../values.ts';

export const providerKinds = ['anthropic', 'openai', 'gemini', 'azure-openai', 'openai-compatible'] as const;

const headerName = z
	.string()
	.regex(/^[!#$%&'*+.^_`|~0-9a-z-]+$/, 'must be a header field name in lower case')
	.refine(
		(name) => !['host', 'connection', 'content-length', 'transfer-encoding', 'upgrade', 'te', 'trailer'].includes(name),
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
	api_version: z
		.string()
		.regex(/^\d{4}-\d{2}-\d{2}(-preview)?$/, 'must be a date such as 2024-10-21, with or without -preview')
		.nullable()
		.default(null)
		.describe('Azure only: version of the classic addresses; null uses the v1 addresses.'),
	deployments: z
		.record(z.string().regex(/^[A-Za-z0-9._-]{1,64}$/, 'must be 1 to 64 characters: letters, digits, `.`, `_`, `-`'), z.strictObject({}))
		.default({})
		.describe('Azure only: deployments by name; a request for a model of that name goes there.'),
	ask_for_stream_usage: z
		.boolean()
		.default(true)
		.describe('Whether streams of chat completions are asked for usage; false for a server that refuses `stream_options`.'),
	models: z.array(nonEmpty.max(200)).max(10_000).default([]).describe('Models that `GET /v1/models` lists for this provider.'),
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
