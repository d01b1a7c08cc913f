import { expect, test } from 'vitest';
import { parseConfig } from './load.ts';
import { keyWarnings } from './unset-keys.ts';

const noneSet = 'providers: no provider has a key; every request returns 502';
const unset = (name: string): string => `providers.${name}.api_key: is not set; requests to the provider return 502`;

test.each([
	['no file', '', {}, [noneSet]],
	['a file that names none', 'data_dir: data', {}, [noneSet]],
	['a key in the environment is enough', '', { OPENAI_API_KEY: 'k' }, []],
	['a provider that needs none', 'providers: { local: { kind: openai-compatible, base_url: https://llm.example.com/v1 } }', {}, []],
	[
		'named with its variable unset',
		'providers: { provider_a: { api_key: "${A:-REPLACE_ME}" } }',
		{ OPENAI_API_KEY: 'k' },
		[unset('provider_a')],
	],
	['each of those named, and no others', 'providers: { provider_a: {}, provider_c: {} }', {}, ['provider_a', 'provider_c'].map(unset)],
	['Azure without an address is not configured', 'providers: { provider_d: {} }', {}, [noneSet]],
	['Azure with one', 'providers: { provider_d: { base_url: https://a.openai.azure.com } }', {}, [unset('provider_d')]],
	['no gateway here', 'roles: [identity]\nproviders: { provider_a: {} }', {}, []],
])('a start says whose key is not set: %s', (_case, text, env, warnings) => {
	const { config, namedProviders } = parseConfig(text, { file: '/etc/tollgate.yaml', env });
	expect(keyWarnings(config, namedProviders)).toEqual(warnings);
});
