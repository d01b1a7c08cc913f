/** Translates the configuration to each role's settings. Pure: the same configuration gives the same settings. */
import { basename } from 'node:path';
import { acceptedIssuer, identityUrl } from '../config/identity-url.ts';
import { parseListen } from '../config/listen.ts';
import { proxyOf } from '../config/proxy.ts';
import type { Config, ProviderConfig } from '../config/schema.ts';
import { type AllowListSection, readAllowLists } from '../config/sections/allow-lists.ts';
import { boundTeamScope, clientPrefixOf } from '../config/sections/auth.ts';
import { webhookName } from '../config/sections/webhooks.ts';
import type { AllowLists } from '../core/allow-lists.ts';
import { parseUsd } from '../core/money.ts';
import { scopeOfTeam } from '../core/scope-names.ts';
import type { ModelLimits, Team } from '../core/team.ts';
import type { AccessTokenSettings } from '../io/access-tokens.ts';
import type { HttpServerLimits, TlsMaterial } from '../io/http1/server/http-server.ts';
import type { KeySetSettings } from '../io/key-set.ts';
import type { ReputationFile } from '../io/reputation-files.ts';
import type { CallerRules } from '../policy/access/caller-reader.ts';
import type { FirewallSettings } from '../policy/firewall/firewall.ts';
import type { IpRateSettings } from '../policy/firewall/ip-rate-window.ts';
import type { TierSettings } from '../policy/limits/terms-resolver.ts';
import type { LoadShedderSettings } from '../policy/overload/load-shedder.ts';
import type { AdminSettings } from '../roles/admin/admin-settings.ts';
import type { EdgeSettings } from '../roles/edge/edge-settings.ts';
import type { ForwardSettings } from '../roles/edge/forward-to-gateways.ts';
import type { GatewaySettings } from '../roles/gateway/gateway-settings.ts';
import type { IdentitySettings, LiveSettings } from '../roles/identity/settings.ts';
import type { WebhookSettings } from '../roles/webhooks/webhook-settings.ts';
import type { ModelCapabilities } from '../wire/conversation/model-capabilities.ts';
import { guardrailSettings } from './guardrail-component.ts';

const msPerDay = 86_400_000;

export function gatewaySettings(config: Config): GatewaySettings {
	const { edge, gateway, routing } = config;
	return {
		scopeBase: config.auth.scope_base,
		trustEdge: gateway.trust_edge,
		tokenHeaders: edge.token_headers,
		attributesFromClaims: config.teams.attributes_from_claims,
		clientAttributes: Object.fromEntries(config.identity.clients.map((client) => [client.id, client.may_set_attributes])),
		callers: callerRules(config),
		maxBodyBytes: gateway.max_body_bytes,
		maxBufferedRequestBytes: gateway.max_buffered_request_bytes,
		timeouts: {
			connectMs: gateway.timeouts.connect_ms,
			firstByteMs: gateway.timeouts.first_byte_ms,
			idleMs: gateway.timeouts.idle_ms,
			totalMs: gateway.timeouts.total_ms,
			streamTotalMs: gateway.timeouts.stream_total_ms,
		},
		heartbeatMs: gateway.heartbeat_ms,
		providers: Object.entries(config.providers).map(([name, provider]) => providerSettings(name, provider)),
		...aliasSettings(config),
		isTranslationStrict: routing.translation === 'strict',
		repairsParameters: config.repair_parameters === 'on' || config.repair_parameters === true,
		unregisteredClients: config.teams.unregistered_clients,
		tiers: Object.fromEntries(Object.entries(config.tiers).map(([name, tier]) => [name, tierSettings(tier)])),
		budgets: budgetSettings(config),
		responses: {
			state: config.responses.state,
			retentionMs: config.responses.retention_days * msPerDay,
			maxBackground: config.responses.max_background,
		},
		guardrails: guardrailSettings(config),
		hasTeamMetrics: config.metrics.team_label,
	};
}

function tierSettings({
	rpm,
	daily_tokens: dailyTokens,
	monthly_budget_usd: monthlyBudgetUsd,
	limits = {},
	...beside
}: Config['tiers'][string]): TierSettings {
	const { tpm = beside.tpm, concurrent_requests: concurrentRequests = beside.concurrent_requests, models, mode } = limits;
	return {
		requestsPerMinute: rpm,
		dailyTokens,
		monthlyBudgetUsd,
		...(tpm !== undefined && { tokensPerMinute: tpm }),
		...(concurrentRequests !== undefined && { concurrentRequests }),
		...(models !== undefined && { models: Object.fromEntries(Object.entries(models).map(([name, one]) => [name, modelLimits(one)])) }),
		...(mode !== undefined && { mode }),
		...allowListSettings(beside),
	};
}

function modelLimits({ rpm, tpm }: { readonly rpm?: number | null | undefined; readonly tpm?: number | null | undefined }): ModelLimits {
	return { ...(rpm !== undefined && { requestsPerMinute: rpm }), ...(tpm !== undefined && { tokensPerMinute: tpm }) };
}

/** Without a member if there are no lists. */
function allowListSettings(section: AllowListSection): { readonly allowLists?: AllowLists } {
	const allowLists = readAllowLists(section);
	return allowLists === undefined ? {} : { allowLists };
}

function aliasSettings({ routing }: Config): Pick<GatewaySettings, 'routing' | 'aliasCapabilities'> {
	const aliases: Record<string, string> = Object.create(null) as Record<string, string>;
	const aliasCapabilities: Record<string, ModelCapabilities> = Object.create(null) as Record<string, ModelCapabilities>;
	for (const [name, alias] of Object.entries(routing.aliases)) {
		aliases[name] = typeof alias === 'string' ? alias : alias.target;
		if (typeof alias !== 'string') aliasCapabilities[name] = modelCapabilities(alias);
	}
	return { routing: { providerHeader: routing.provider_header, aliases, defaults: routing.defaults }, aliasCapabilities };
}

function budgetSettings({ enable_budgets: isEnabled, budgets }: Config): GatewaySettings['budgets'] {
	return {
		isEnabled,
		warningThresholdPercent: budgets.warning_threshold_percent,
		hardLimitPercent: budgets.hard_limit_percent,
		reservation: budgets.reservation,
		onStreamOver: budgets.on_stream_over,
		stoppedStream: budgets.stopped_stream,
		defaultOutputCaps: budgets.default_max_output_tokens ?? undefined,
		unknownPrice: budgets.unknown_price,
		defaultRate: {
			inputUsd: budgets.default_rate.input_usd_per_million_tokens,
			outputUsd: budgets.default_rate.output_usd_per_million_tokens,
		},
		toolsUsd: {
			web_search: budgets.hosted_tools.web_search_usd,
			file_search: budgets.hosted_tools.file_search_usd,
			code_interpreter: budgets.hosted_tools.code_interpreter_usd,
			image_generation: budgets.hosted_tools.image_generation_usd,
		},
	};
}

function providerSettings(name: string, provider: ProviderConfig): GatewaySettings['providers'][number] {
	return {
		name,
		kind: provider.kind,
		baseUrl: provider.base_url,
		apiKey: provider.api_key,
		canReachPrivateNetwork: provider.allow_private_network,
		proxy: proxyOf(provider.proxy),
		apiVersion: provider.api_version,
		headers: provider.headers,
		requestsStreamUsage: provider.request_stream_usage,
		usesOpenaiDialect: provider.dialect === 'openai',
		servesResponses: provider.responses,
		facts: { region: provider.region ?? undefined, retention: provider.retention ?? undefined },
		models: [...Object.keys(provider.deployments), ...provider.models],
		modelCapabilities: Object.fromEntries(
			[...Object.entries(provider.model_capabilities), ...Object.entries(provider.deployments)].map(([model, record]) => [
				model,
				modelCapabilities(record),
			]),
		),
		traffic: {
			retries: provider.retries,
			retryStatuses: provider.retry_statuses,
			maxConcurrent: provider.max_concurrent,
			maxQueued: provider.max_queued,
			ejectAfterFailures: provider.eject_after_failures,
		},
	};
}

/** Returns the providers whose key has a known expiry. */
export function providerKeyExpiries({ providers }: Config): { readonly name: string; readonly expiresAtMs: number }[] {
	return Object.entries(providers).flatMap(([name, { api_key_expires_at: time }]) =>
		time === null ? [] : [{ name, expiresAtMs: Date.parse(time) }],
	);
}

export function webhookSettings({ webhooks }: Config): WebhookSettings[] {
	return webhooks.map((webhook) => ({
		name: webhookName(webhook),
		url: webhook.url,
		secret: webhook.secret,
		events: webhook.events,
		canReachPrivateNetwork: webhook.allow_private_network,
		proxy: proxyOf(webhook.proxy),
		credentialExpiryMs: webhook.credential_expiry_days * msPerDay,
		minAnomalyNanoUsd: parseUsd(webhook.spend_anomaly_min_usd) ?? 0n,
	}));
}

/** Undefined for plain HTTP. */
export function tlsMaterial({ edge: { tls } }: Config): TlsMaterial | undefined {
	const { certificate, private_key: privateKey } = tls;
	return certificate === null || privateKey === null ? undefined : { certificate, privateKey };
}

function modelCapabilities(record: ProviderConfig['model_capabilities'][string]): ModelCapabilities {
	return {
		knownAs: record.model,
		dialect: record.wire,
		maxOutputTokens: record.max_output_tokens,
		defaultMaxTokens: record.default_max_tokens,
		sampling: record.sampling,
		temperatureMax: record.temperature_max,
		prefill: record.prefill,
		midSystem: record.mid_system,
		thinking: record.thinking,
		efforts: record.efforts,
		tokenParam: record.token_param,
		systemRole: record.system_role,
		stop: record.stop,
		needsReasoningContent: record.needs_reasoning_content,
		toolsNeedEffortNone: record.tools_need_effort_none,
		structuredOutput: record.structured_output,
		anthropicVersion: record.anthropic_version,
	};
}

export function serverLimits({ edge: { limits } }: Config): HttpServerLimits {
	return {
		maxHeaderBytes: limits.max_header_bytes,
		headersTimeoutMs: limits.headers_timeout_ms,
		bodyTimeoutMs: limits.body_timeout_ms,
		keepAliveMs: limits.keep_alive_ms,
		maxConnections: limits.max_connections,
		maxConnectionsPerPeer: limits.max_connections_per_address,
		maxRequestsPerConnection: limits.max_requests_per_connection,
	};
}

/** Lists the teams of the configuration: registered ones, and those that its clients name. */
export function configuredTeams(config: Config): Team[] {
	const teams = new Map<string, Team>();
	for (const team of config.teams.registered) {
		const { id, name, tier, client_ids: clientIds } = team;
		teams.set(id, { id, name: name ?? id, tier, clientIds, ...allowListSettings(team) });
	}
	const fallbackTier = config.teams.unregistered_clients === 'reject' ? 'sandbox' : config.teams.unregistered_clients.tier;
	for (const { id, team } of config.identity.clients) {
		if (team === null) continue;
		const known = teams.get(team) ?? { id: team, name: team, tier: fallbackTier, clientIds: [] };
		teams.set(team, { ...known, clientIds: [...new Set([...known.clientIds, id])] });
	}
	return [...teams.values()];
}

/** @throws Error for an address that the schema should have rejected. */
export function listenAddress(text: string): { host: string; port: number } {
	const address = parseListen(text);
	if (address === undefined) throw new Error(`\`${text}\` is not HOST:PORT`);
	return address;
}

export function edgeSettings({ auth, edge }: Config): EdgeSettings {
	return { scopeBase: auth.scope_base, tokenHeaders: edge.token_headers };
}

export function firewallSettings({ edge }: Config): FirewallSettings {
	const { rules, per_ip: perIp } = edge.firewall;
	return {
		trustedProxies: edge.trusted_proxies,
		// `count` is the older name of `monitor`.
		rules: Object.fromEntries(Object.entries(rules).map(([rule, action]) => [rule, action === 'count' ? 'monitor' : action])),
		rateMode: perIp.mode,
	};
}

export function ipRateSettings({ edge: { firewall } }: Config): IpRateSettings {
	const { requests, window_seconds: windowSeconds, max_sources: maxSources } = firewall.per_ip;
	return { requests, windowSeconds, maxSources };
}

export function reputationSettings({ edge: { firewall } }: Config): readonly ReputationFile[] {
	return firewall.reputation.map(({ file, name, action }) => {
		return { file, name: name ?? basename(file), action: action === 'count' ? 'monitor' : action };
	});
}

export function overloadSettings({ edge: { overload } }: Config): LoadShedderSettings {
	return { maxInFlight: overload.max_in_flight, targetDelayMs: overload.loop_delay_ms, maxMemoryShare: overload.memory_percent / 100 };
}

/** The response timeouts of the edge exceed those of the gateway, which enforces them. */
export function forwardSettings({ edge, gateway: { timeouts } }: Config): ForwardSettings {
	const slackMs = 5000;
	return {
		gateways: edge.gateways,
		tokenHeaders: edge.token_headers,
		timeouts: {
			connectMs: timeouts.connect_ms,
			firstByteMs: timeouts.total_ms + slackMs,
			idleMs: timeouts.idle_ms + slackMs,
			totalMs: Math.max(timeouts.total_ms, timeouts.stream_total_ms) + slackMs,
		},
		healthCheck: { intervalMs: edge.health_check.interval_ms, timeoutMs: edge.health_check.timeout_ms },
	};
}

export function identitySettings(config: Config): IdentitySettings {
	return {
		...liveIdentitySettings(config),
		listen: listenAddress(config.identity.listen),
		issuer: identityUrl(config),
		audience: config.auth.audience,
		scopeBase: config.auth.scope_base,
		keyOverlapSeconds: config.auth.key_set.max_age_seconds,
		trustedProxies: config.edge.trusted_proxies,
	};
}

export function liveIdentitySettings({ gateway, identity }: Config): LiveSettings {
	return {
		accessTokenSeconds: identity.access_token_seconds,
		keyRotationSeconds: identity.key_rotation_days * 86_400,
		maxAttemptsPerMinute: identity.max_attempts_per_minute,
		configuredClients: identity.clients.map(({ id, name, secret, secret_hash: secretHash, scopes }) => ({
			id,
			name: name ?? id,
			secret,
			secretHash,
			scopes,
		})),
		graceMs: gateway.shutdown_grace_ms,
	};
}

/** Reads hot-reloaded settings from the current configuration at each use. */
export function adminSettings(configOf: () => Config, version: string, maxConnections?: number): AdminSettings {
	const { admin, auth, edge } = configOf();
	return {
		listen: listenAddress(admin.listen),
		scopeBase: auth.scope_base,
		embeddedIssuer: identityUrl(configOf()),
		hasOpenMetrics: admin.metrics === 'open',
		version,
		trustedProxies: edge.trusted_proxies,
		maxConnections,
		get maxRequestsPerMinute() {
			return configOf().admin.max_requests_per_minute;
		},
		get maxUnauthenticatedPerMinute() {
			return configOf().admin.max_unauthenticated_per_minute;
		},
		get graceMs() {
			return configOf().gateway.shutdown_grace_ms;
		},
	};
}

/** Settings of the verification, with the address of each key set. */
export function accessTokenSettings(config: Config): Omit<AccessTokenSettings, 'otherIssuers'> & {
	readonly otherIssuers: readonly { readonly issuer: string; readonly audience: string | null; readonly jwksUri: string | null }[];
} {
	const { auth } = config;
	const { attributes_from_claims: attributesFromClaims } = config.teams;
	return {
		...(Object.keys(attributesFromClaims).length > 0 && { attributesFromClaims }),
		issuer: acceptedIssuer(config),
		audience: auth.audience,
		clockSkewSeconds: auth.clock_skew_seconds,
		maxLifetimeSeconds: auth.max_token_lifetime_seconds,
		cacheSize: auth.verified_cache_size,
		otherIssuers: auth.issuers.map(({ issuer, audience, jwks_uri: jwksUri }) => ({ issuer, audience, jwksUri })),
		callers: callerRules(config),
	};
}

export function callerRules(config: Config): CallerRules {
	const { auth, access } = config;
	const first = acceptedIssuer(config);
	return {
		scopeBase: auth.scope_base,
		issuers: [
			{ issuer: first, clientPrefix: '', scopes: null },
			...auth.issuers.map((one) => ({ issuer: one.issuer, clientPrefix: clientPrefixOf(one), scopes: one.scopes })),
		],
		rules: access.rules.map(({ when: { issuer, ...claims }, grant, team }) => ({
			issuer: typeof issuer === 'string' ? issuer : first,
			claims: Object.entries(claims).map(([claim, patterns]) => ({
				claim,
				patterns: typeof patterns === 'string' ? [patterns] : patterns,
			})),
			scopes: grant.map((name) => (name === boundTeamScope && team !== null ? scopeOfTeam(team) : name)),
			team,
		})),
	};
}

export function keySetSettings({ auth: { key_set: keySet } }: Config): KeySetSettings {
	return {
		maxAgeMs: keySet.max_age_seconds * 1000,
		coolDownMs: keySet.cool_down_seconds * 1000,
		graceMs: keySet.grace_seconds * 1000,
	};
}

/** Configured address of each role in this process. An edge in the gateway's process has the gateway's address. */
export function listenAddresses(config: Config): Readonly<Record<string, string>> {
	const roles = config.roles.filter((role) => {
		if (role === 'admin') return config.enable_admin_api;
		return role !== 'edge' || !config.roles.includes('gateway');
	});
	const own = roles.map((role) => [role, config[role].listen] as const);
	const { listen: metrics } = config.metrics;
	return Object.fromEntries(metrics === null ? own : [...own, ['metrics', metrics]]);
}
