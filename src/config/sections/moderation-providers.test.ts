import { expect, test } from 'vitest';
import { moderationProviderSettings } from '../../composition/guardrail-component.ts';
import { parseConfig } from '../load.ts';

const settingsOf = (...moderationProviders: object[]) =>
	moderationProviderSettings(
		parseConfig(JSON.stringify({ guardrails: { moderation_providers: moderationProviders } }), { file: 'tollgate.yaml', env: {} }).config,
	);

test('a moderation provider of each kind', () => {
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
	expect(settings.map(({ action }) => action)).toEqual(['block', 'block', 'block', 'block']);
});

test('prices of moderation providers, where set or known', () => {
	const judge = { name: 'judge', kind: 'chat-judge', form: 'llama-guard', model: 'gpt-4o-mini', base_url: 'https://api.openai.com/v1' };
	const azure = { name: 'azure', kind: 'azure-content-safety', base_url: 'https://x.cognitiveservices.azure.com/', api_key: 'k' };
	const prices = settingsOf(
		{ name: 'moderation', kind: 'openai-moderation', api_key: 'k' },
		azure,
		{ ...azure, usd_per_thousand_units: '0.75' },
		judge,
		{ ...judge, output_usd_per_million_tokens: '1' },
		{ ...judge, base_url: 'https://judge.example/v1' },
		{ ...judge, base_url: 'https://judge.example/v1', input_usd_per_million_tokens: '0.20', output_usd_per_million_tokens: '0' },
	).map(({ price }) => price);
	expect(prices).toEqual([
		{ inputPicoUsd: 0n, outputPicoUsd: 0n, thousandUnitsNanoUsd: 0n },
		undefined,
		{ inputPicoUsd: 0n, outputPicoUsd: 0n, thousandUnitsNanoUsd: 750_000_000n },
		{ inputPicoUsd: 150_000n, outputPicoUsd: 600_000n, thousandUnitsNanoUsd: 0n },
		{ inputPicoUsd: 150_000n, outputPicoUsd: 1_000_000n, thousandUnitsNanoUsd: 0n },
		undefined,
		{ inputPicoUsd: 200_000n, outputPicoUsd: 0n, thousandUnitsNanoUsd: 0n },
	]);
});

test.each([
	['moderation.moderatoin', 'Unknown guardrail rule `moderation.moderatoin`. Did you mean `moderation.moderation`?'],
	['moderation.moderation.hate', 'Unknown guardrail rule `moderation.moderation.hate`. Did you mean `moderation.moderation`?'],
	['pii.emial', 'Unknown guardrail rule `pii.emial`. Did you mean `pii.email`?'],
	['wrods', 'Unknown guardrail rule `wrods`. Did you mean `words`?'],
])('a team’s rule %s is rejected', (rule, message) => {
	const guardrails = {
		moderation_providers: [{ name: 'moderation', kind: 'openai-moderation' }],
		topics: [{ name: 'a.b', description: 'x' }],
		teams: { one: { moderation: 'none', 'moderation.moderation': 'log', words: 'none', 'topics.a.b': 'log', [rule]: 'log' } },
	};
	const parse = (): unknown => parseConfig(JSON.stringify({ guardrails }), { file: 'tollgate.yaml', env: {} });
	expect(parse).toThrow(message);
});

test.each([
	[{ kind: 'nothing' }, 'kind'],
	[{ kind: 'azure-content-safety' }, 'base_url: is required'],
	[{ kind: 'chat-judge', base_url: 'https://h/v1', form: 'safeguard', model: 'm' }, 'policy: is required for the form safeguard'],
	[{ kind: 'chat-judge', base_url: 'https://h/v1', form: 'llama-guard' }, 'model: is required'],
	[{ kind: 'bedrock-guardrail', region: 'eu-central-1', guardrail_id: 'g' }, 'access_key_id and secret_access_key are required'],
	[{ kind: 'openai-moderation', base_url: 'http://10.0.0.1/v1' }, 'allow_private_network'],
	[{ kind: 'openai-moderation', timeout_ms: 2001 }, 'timeout_ms'],
	[{ kind: 'openai-moderation', on_failure: 'allow' }, 'on_failure'],
	[{ kind: 'openai-moderation', action: 'mask' }, 'action'],
])('%j is rejected: %s', (moderationProvider, message) => {
	expect(() => settingsOf({ name: 'e', ...moderationProvider })).toThrow(message);
});
