import { z } from 'zod';
import { connectionFields } from '../../core/connection-fields.ts';
import { providerKinds } from '../../wire/providers/provider.ts';
import { normaliseBaseUrl, privateNetworkProblem } from '../base-url.ts';
import { proxySettings } from '../proxy.ts';
import { isRecord } from '../raw.ts';
import { entryName, integer, nonEmpty, secret, secretText, webAddress } from '../values.ts';
import { fact } from './allow-lists.ts';
import { modelCapabilities } from './model-capability-settings.ts';

const ownHeaders: ReadonlySet<string> = new Set([...connectionFields, 'content-length', 'expect', 'host']);

const headerName = z
	.string()
	.regex(/^[!#$%&'*+.^_`|~0-9a-z-]+$/, 'must be a header field name in lower case')
	.refine((name) => !ownHeaders.has(name), 'is set by Tollgate');

const fields = z.strictObject({
	kind: z.enum(providerKinds).describe('Wire dialect and authentication of the provider.'),
	base_url: webAddress
		.overwrite(normaliseBaseUrl)
		.nullable()
		.default(null)
		.describe(
			'Base URL as in the vendor’s SDK (OpenAI’s with `/v1`, others without); null: the vendor’s default, which Azure does not have.',
		),
	api_key: secretText
		.nullable()
		.default(null)
		.meta(secret('API key; `REPLACE_ME` means not set. Null (only `openai-compatible`): no key is sent.')),
	api_key_file: nonEmpty.optional().describe('File with the key.'),
	api_key_expires_at: z.iso
		.datetime({ offset: true, error: 'must be a time such as 2027-01-31T00:00:00Z' })
		.nullable()
		.default(null)
		.describe('Expiry of the key, if it has one. Webhooks get `credential.expiring` before.'),
	allow_private_network: z.boolean().default(false).describe('Allows plain http and private or loopback addresses.'),
	...proxySettings('provider'),
	api_version: z
		.string()
		.regex(/^\d{4}-\d{2}-\d{2}(-preview)?$/, 'must be a date such as 2024-10-21, with or without -preview')
		.nullable()
		.default(null)
		.describe('Azure only: version of the classic addresses; null uses the v1 addresses.'),
	dialect: z.enum(['native', 'openai']).default('native').describe('Gemini only: the native API or its OpenAI-compatible API.'),
	deployments: z
		.record(z.string().regex(/^[A-Za-z0-9._-]{1,64}$/, 'must be 1 to 64 characters: letters, digits, `.`, `_`, `-`'), modelCapabilities)
		.default({})
		.describe('Azure only: deployments by name. A request for a model with that name goes there. Capabilities are optional.'),
	request_stream_usage: z
		.boolean()
		.default(true)
		.describe('Sends `stream_options.include_usage`; set false for servers that reject `stream_options`.'),
	responses: z.boolean().default(false).describe('`openai-compatible` only: true if the server has the Responses API.'),
	models: z.array(nonEmpty.max(200)).max(10_000).default([]).describe('Models that `GET /v1/models` lists for this provider.'),
	model_capabilities: z
		.record(nonEmpty.max(200), modelCapabilities)
		.default({})
		.describe('Capabilities of models by name at the provider, if the name does not imply them.'),
	region: fact.nullable().default(null).describe('Region that `require.region` of teams and tiers refers to, such as `eu`; null: unknown.'),
	retention: fact
		.nullable()
		.default(null)
		.describe('Retention of data that `require.retention` of teams and tiers refers to, such as `none`; null: unknown.'),
	retries: integer(0, 5).default(1).describe('Maximum retries if no connection was made or the response has one of `retry_statuses`.'),
	retry_statuses: z
		.array(z.union([z.literal(429), integer(500, 599)]))
		.max(100)
		.default([])
		.describe('Response statuses that Tollgate retries; none by default, because vendor SDKs retry.'),
	max_concurrent: integer(1, 4096)
		.default(1024)
		.describe('Concurrency limit: maximum in-flight requests, streams included. Free slots are shared fairly between queued teams.'),
	max_queued: integer(0, 100_000)
		.default(256)
		.describe(
			'Maximum queued requests; further requests return 503 `provider_busy`. The queue time is limited by `gateway.timeouts.first_byte_ms`.',
		),
	eject_after_failures: integer(1, 1000)
		.nullable()
		.default(5)
		.describe('Consecutive failures after which the provider is ejected and requests fail over; null: never.'),
	headers: z
		.record(headerName, secretText.max(8192).meta({ 'x-secret': true }))
		.default({})
		.describe('Header fields added to every request to the provider.'),
});

const provider = fields.superRefine(checkProvider, { when: ({ value }) => isRecord(value) });

export const providers = z.record(entryName, provider);

/** Runs even when a field is invalid, so that one run reports all problems. No field can be assumed to be valid. */
function checkProvider(value: Partial<z.output<typeof fields>>, context: z.RefinementCtx): void {
	const problem = (field: keyof typeof value, message: string): void => context.addIssue({ code: 'custom', path: [field], message });
	if (typeof value.base_url === 'string' && value.allow_private_network !== true) {
		const forbidden = privateNetworkProblem(value.base_url);
		if (forbidden !== undefined) problem('base_url', forbidden);
	}
	const hasDeployments = isRecord(value.deployments) && Object.keys(value.deployments).length > 0;
	if (value.kind !== 'gemini' && value.dialect === 'openai') problem('dialect', 'applies to kind gemini only');
	if (value.kind !== 'openai-compatible' && value.responses === true) problem('responses', 'applies to kind openai-compatible only');
	if (value.kind === 'azure-openai') {
		if (value.base_url === null && hasDeployments) {
			problem('base_url', 'is required for the deployments, such as https://NAME.openai.azure.com');
		}
	} else if (value.kind !== undefined) {
		if (value.base_url === null) problem('base_url', `is required for kind ${value.kind}`);
		if (typeof value.api_version === 'string') problem('api_version', 'applies to kind azure-openai only');
		if (hasDeployments) problem('deployments', 'apply to kind azure-openai only');
	}
}
