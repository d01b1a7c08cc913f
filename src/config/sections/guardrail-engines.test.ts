import { expect, test } from 'vitest';
import { guardrailEngineSettings } from '../../composition/guardrail-engine-settings.ts';
import { parseConfig } from '../load.ts';

const settingsOf = (...engines: object[]) =>
	guardrailEngineSettings(parseConfig(JSON.stringify({ guardrails: { engines } }), { file: 'tollgate.yaml', env: {} }).config);

test('an engine of each kind', () => {
	const settings = settingsOf(
		{ name: 'moderation', kind: 'openai-moderation', api_key: 'k' },
		{ name: 'bedrock', kind: 'bedrock-guardrail', region: 'eu-central-1', guardrail_id: 'g', access_key_id: 'a', secret_access_key: 's' },
		{ name: 'azure', kind: 'azure-content-safety', base_url: 'https://x.cognitiveservices.azure.com/', api_key: 'k', on_failure: 'closed' },
		{
			name: 'judge',
			kind: 'chat-judge',
			form: 'llama-guard',
			model: 'm',
			base_url: 'http://127.0.0.1:8000/v1',
			allow_private_network: true,
			input_usd_per_million_tokens: '0.20',
		},
	);
	expect(settings.map(({ baseUrl, onFailure, timeoutMs }) => [baseUrl, onFailure, timeoutMs])).toEqual([
		['https://api.openai.com/v1', 'open', 2000],
		['https://bedrock-runtime.eu-central-1.amazonaws.com', 'open', 2000],
		['https://x.cognitiveservices.azure.com', 'closed', 2000],
		['http://127.0.0.1:8000/v1', 'open', 2000],
	]);
	expect(settings[1]?.awsCredentials).toEqual({ region: 'eu-central-1', accessKeyId: 'a', secretAccessKey: 's', sessionToken: null });
	expect(settings[3]?.price.inputPicoUsd).toBe(200_000n);
});

test.each([
	[{ kind: 'nothing' }, 'kind'],
	[{ kind: 'azure-content-safety' }, 'base_url: is needed'],
	[{ kind: 'chat-judge', base_url: 'https://h/v1', form: 'safeguard', model: 'm' }, 'policy: is needed for the form safeguard'],
	[{ kind: 'chat-judge', base_url: 'https://h/v1', form: 'llama-guard' }, 'model: is needed'],
	[{ kind: 'bedrock-guardrail', region: 'eu-central-1', guardrail_id: 'g' }, 'access_key_id and secret_access_key are needed'],
	[{ kind: 'openai-moderation', base_url: 'http://10.0.0.1/v1' }, 'allow_private_network'],
	[{ kind: 'openai-moderation', timeout_ms: 2001 }, 'timeout_ms'],
	[{ kind: 'openai-moderation', on_failure: 'allow' }, 'on_failure'],
])('%j is refused: %s', (engine, message) => {
	expect(() => settingsOf({ name: 'e', ...engine })).toThrow(message);
});
