import { describe, expect, test } from 'vitest';
import { parseConfig } from '../config/load.ts';
import { formatPath, isRecord, type Path } from '../config/raw.ts';
import type { Config } from '../config/schema.ts';
import { needsRestart } from '../config/schema-tree.ts';
import { guardrailSettings, moderationProviderSettings } from './guardrail-component.ts';
import { encryptionSettings } from './open-signing-keys.ts';
import { withRestartSettingsOf } from './running-settings.ts';
import {
	accessTokenSettings,
	adminSettings,
	configuredTeams,
	edgeSettings,
	firewallSettings,
	forwardSettings,
	gatewaySettings,
	ipRateSettings,
	listenAddresses,
	liveIdentitySettings,
	overloadSettings,
	providerKeyExpiries,
	reputationSettings,
	tlsMaterial,
	webhookSettings,
} from './settings.ts';

/** A configuration in which every list and mapping has a member, so that every setting occurs. */
const written = parseConfig(
	`
edge: { trusted_proxies: [10.0.0.1], firewall: { rules: { GenericRFI_BODY: monitor }, reputation: [{ file: /lists/drop.txt, name: drop }] } }
identity:
  public_url: https://identity.example
  clients: [{ id: agent, secret: a-secret-of-the-agent, team: search }, { id: other, secret: a-secret-of-the-other }]
auth: { audience: gateway, jwks_uri: https://issuer.example/jwks, max_token_lifetime_seconds: 7200, issuers: [{ issuer: https://ci.example }] }
access: { rules: [{ when: { groups: ops }, grant: ['admin:read'], team: sales }] }
teams: { registered: [{ id: sales, name: Sales, tier: standard, client_ids: [seller] }] }
providers:
  provider_b: { base_url: https://b.example/v1, api_key: key-of-b, headers: { x-extra: one }, models: [gpt-one] }
  provider_d: { base_url: https://d.example, api_key: key-of-d, api_version: 2024-10-21, deployments: { ours: {} } }
routing: { aliases: { fast: provider_b/gpt-one } }
webhooks: [{ url: https://hooks.example/in, secret: secret-of-the-webhook }]
guardrails:
  topics: [{ name: sport, description: Games, examples: [Who won?] }]
  words: [word]
  moderation_providers: [{ name: judge, kind: openai-moderation, base_url: https://judge.example, api_key: key-of-judge }]
`,
	{ file: null, env: {} },
).config;
const running: Config = {
	...written,
	enable_guardrails: true,
	enforce_guardrails: true,
	edge: { ...written.edge, tls: { ...written.edge.tls, certificate: 'certificate', private_key: 'key' } },
};

/** Settings of other kinds of providers or moderation providers, or without enforcement. */
const ofOtherKinds =
	/^providers\.provider_[abd]\.dialect$|^guardrails\.topics_when$|^guardrails\.moderation_providers\[0\]\.(form|policy|category|guardrail_\w+|region|access_key_id|secret_access_key|session_token|\w+_usd_per_\w+|usd_per_\w+)$/;
const otherChoices: Readonly<Record<string, string>> = { native: 'openai', lenient: 'strict', enforcing: 'always', enforce: 'monitor' };

/** Serializes all settings that are hot-reloaded. */
function liveSettings(config: Config): string {
	const live = [
		gatewaySettings(config),
		edgeSettings(config),
		firewallSettings(config),
		ipRateSettings(config),
		reputationSettings(config),
		forwardSettings(config),
		liveIdentitySettings(config),
		encryptionSettings(config),
		accessTokenSettings(config),
		configuredTeams(config),
		overloadSettings(config),
		tlsMaterial(config),
		guardrailSettings(config),
		moderationProviderSettings(config),
		webhookSettings(config),
		providerKeyExpiries(config),
		adminSettings(() => config, ''),
		config.gateway.shutdown_delay_ms,
		config.gateway.shutdown_grace_ms,
		config.log.level,
	];
	return JSON.stringify(live, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}

interface Setting {
	readonly name: string;
	readonly path: Path;
}

/** Lists every single value, and every mapping whose keys the operator chooses. */
function settingsOf(value: unknown, path: Path = []): Setting[] {
	if (Array.isArray(value) && value.length > 0) return value.flatMap((item: unknown, index) => settingsOf(item, [...path, index]));
	if (isRecord(value) && Object.keys(value).length > 0) {
		return Object.entries(value).flatMap(([key, item]) => settingsOf(item, [...path, key]));
	}
	return [{ name: formatPath(path), path }];
}

function otherValue(value: unknown): unknown {
	if (typeof value === 'boolean') return !value;
	if (typeof value === 'number') return value + 1;
	if (typeof value === 'string' && otherChoices[value] !== undefined) return otherChoices[value];
	if (typeof value === 'string') return /:\d+$/.test(value) ? value.replace(/\d+$/, '9') : `${value}x`;
	if (Array.isArray(value)) return ['10.9.9.9'];
	return isRecord(value) ? { added: {} } : 'https://set.example';
}

function withChanged(value: unknown, [step, ...rest]: Path): unknown {
	if (step === undefined) return otherValue(value);
	if (Array.isArray(value)) return value.map((item: unknown, index) => (index === step ? withChanged(item, rest) : item));
	if (!isRecord(value)) throw new Error(`nothing at ${step}`);
	return { ...value, [step]: withChanged(value[step], rest) };
}

/** A deployment is only a name. */
const settings = settingsOf(running).filter(({ name }) => !name.endsWith('.deployments.ours'));
const ofRestart = settings.filter(({ path }) => needsRestart(path));
const hot = settings.filter(({ path, name }) => !needsRestart(path) && !ofOtherKinds.test(name));

describe('docs/reference/configuration.md: a changed file takes effect for the next request', () => {
	test('the walk sees the settings', () => {
		const names = settings.map(({ name }) => name);
		expect(names).toEqual(
			expect.arrayContaining([
				'gateway.timeouts.idle_ms',
				'identity.clients[0].secret',
				'providers.provider_b.headers.x-extra',
				'log.level',
			]),
		);
		expect(hot.length).toBeGreaterThan(50);
		expect(ofRestart.length).toBeGreaterThan(25);
	});

	test.each(hot)('$name', ({ path }) => {
		const next = withRestartSettingsOf(running, withChanged(running, path) as Config);
		expect(liveSettings(next)).not.toBe(liveSettings(running));
	});

	test.each(ofRestart)('$name requires a restart', ({ path }) => {
		const next = withRestartSettingsOf(running, withChanged(running, path) as Config);
		expect(liveSettings(next)).toBe(liveSettings(running));
		expect(next).toEqual(running);
	});
});

describe('withRestartSettingsOf', () => {
	test('sections and members that are added or removed follow the file', () => {
		const next = {
			...running,
			providers: { other: running.providers['provider_b'] },
			routing: { ...running.routing, aliases: {} },
		} as Config;
		expect(withRestartSettingsOf(running, next)).toEqual(next);
	});

	test('a restart setting that is added or removed keeps its running value', () => {
		const withFile = { ...running, stores: { ...running.stores, records_file: 'records.txt' } } as Config;
		expect(withRestartSettingsOf(running, withFile)).toEqual(running);
		expect(withRestartSettingsOf(withFile, running)).toEqual(withFile);
	});
});

describe('teams of the configuration', () => {
	test('registered ones, and those that clients name', () => {
		expect(configuredTeams(running)).toEqual([
			{ id: 'sales', name: 'Sales', tier: 'standard', clientIds: ['seller'] },
			{ id: 'search', name: 'search', tier: 'sandbox', clientIds: ['agent'] },
		]);
	});

	test('a client joins the registered team that it names', () => {
		const { config } = parseConfig(
			'teams: { registered: [{ id: search, tier: premium, client_ids: [one] }] }\nidentity: { clients: [{ id: two, secret: a-secret-of-the-second, team: search }] }',
			{ file: null, env: {} },
		);
		expect(configuredTeams(config)).toEqual([{ id: 'search', name: 'search', tier: 'premium', clientIds: ['one', 'two'] }]);
	});
});

test('an edge outlasts every timeout of its gateways', () => {
	const { gateway } = running;
	const { timeouts } = forwardSettings(running);
	expect(timeouts.connectMs).toBe(gateway.timeouts.connect_ms);
	expect(timeouts.firstByteMs).toBeGreaterThan(gateway.timeouts.total_ms);
	expect(timeouts.idleMs).toBeGreaterThan(gateway.timeouts.idle_ms);
	expect(timeouts.totalMs).toBeGreaterThan(gateway.timeouts.stream_total_ms);
});

test('capabilities of an alias, a model and a deployment have the same format', () => {
	const record =
		'{ model: gpt-5, max_output_tokens: 900, default_max_tokens: 90, sampling: none, temperature_max: 0.5, prefill: true, ' +
		'mid_system: false, thinking: enabled, efforts: [low], token_param: max_tokens, system_role: developer, stop: false, ' +
		'needs_reasoning_content: true, tools_need_effort_none: true, structured_output: false, anthropic_version: 2026-10-21 }';
	const { config } = parseConfig(
		`
routing: { aliases: { mine: ${record.replace('{', '{ target: provider_d/ours,')}, plain: provider_d/ours } }
providers: { provider_d: { base_url: https://d.example, deployments: { ours: ${record} }, model_capabilities: { other: ${record} } } }
`,
		{ file: null, env: {} },
	);
	const { aliasCapabilities, routing, providers } = gatewaySettings(config);
	const understood = {
		knownAs: 'gpt-5',
		maxOutputTokens: 900,
		defaultMaxTokens: 90,
		sampling: 'none',
		temperatureMax: 0.5,
		prefill: true,
		midSystem: false,
		thinking: 'enabled',
		efforts: ['low'],
		tokenParam: 'max_tokens',
		systemRole: 'developer',
		stop: false,
		needsReasoningContent: true,
		toolsNeedEffortNone: true,
		structuredOutput: false,
		anthropicVersion: '2026-10-21',
	};
	expect({ ...aliasCapabilities }).toEqual({ mine: understood });
	expect({ ...routing.aliases }).toEqual({ mine: 'provider_d/ours', plain: 'provider_d/ours' });
	expect(providers.find(({ name }) => name === 'provider_d')?.modelCapabilities).toEqual({ ours: understood, other: understood });
});

const addressesOf = (text: string): unknown => listenAddresses(parseConfig(text, { file: null, env: {} }).config);

test('addresses are those of the listeners', () => {
	expect(addressesOf('')).toEqual({ gateway: '127.0.0.1:8787', identity: '127.0.0.1:8789' });
	expect(addressesOf('{ roles: [edge, admin], enable_admin_api: true, metrics: { listen: "127.0.0.1:9" } }')).toEqual({
		edge: '127.0.0.1:8080',
		admin: '127.0.0.1:8788',
		metrics: '127.0.0.1:9',
	});
});

test('`count` is read as `monitor` by the firewall', () => {
	const text =
		'edge: { firewall: { rules: { SQLi_BODY: count, SQLi_HEADER: off }, reputation: [{ file: a, action: count }, { file: b }] } }';
	const { config } = parseConfig(text, { file: null, env: {} });
	expect(firewallSettings(config)).toEqual({
		trustedProxies: [],
		rules: { SQLi_BODY: 'monitor', SQLi_HEADER: 'off' },
		rateMode: 'enforce',
	});
	expect(reputationSettings(config).map(({ action }) => action)).toEqual(['monitor', 'block']);
});
