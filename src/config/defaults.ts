/** Defaults that a user may change field by field: they are merged under the file's values before validation. */
import { proxyFromEnvironment } from './proxy.ts';
import { isRecord, type Raw } from './raw.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Placeholder of an API key that has not been set. */
export const unsetKey = 'REPLACE_ME';

export const builtInProviders: Readonly<Record<string, { readonly kind: string; readonly keyVariable: string }>> = {
	provider_a: { kind: 'anthropic', keyVariable: 'ANTHROPIC_API_KEY' },
	provider_b: { kind: 'openai', keyVariable: 'OPENAI_API_KEY' },
	provider_c: { kind: 'gemini', keyVariable: 'GEMINI_API_KEY' },
	provider_d: { kind: 'azure-openai', keyVariable: 'AZURE_OPENAI_API_KEY' },
};

export const vendorBaseUrls: Readonly<Record<string, string>> = {
	anthropic: 'https://api.anthropic.com',
	openai: 'https://api.openai.com/v1',
	gemini: 'https://generativelanguage.googleapis.com',
};

const sandbox = { rpm: 20, daily_tokens: 100_000, monthly_budget_usd: '25' };
const unlimited = { rpm: 2000, daily_tokens: null, monthly_budget_usd: '10000' };

/** The spec's two tables: `limits` is the Limits table, with the budgets and the top tier of the other one. */
export const tierPresets = {
	limits: {
		sandbox,
		standard: { rpm: 100, daily_tokens: 1_000_000, monthly_budget_usd: '100' },
		premium: { rpm: 500, daily_tokens: 10_000_000, monthly_budget_usd: '1000' },
		enterprise: { rpm: null, daily_tokens: null, monthly_budget_usd: null },
		unlimited,
	},
	error_reference: {
		sandbox,
		standard: { rpm: 100, daily_tokens: 500_000, monthly_budget_usd: '100' },
		premium: { rpm: 500, daily_tokens: 5_000_000, monthly_budget_usd: '1000' },
		unlimited,
	},
} as const;

/** Returns the file's value with the built-in providers and tiers merged under it. Values that are not objects stay unchanged. */
export function withBuiltIns(raw: Raw, env: Environment): Raw {
	return {
		...raw,
		providers: layProviders(raw['providers'] ?? {}, env),
		tiers: layTiers(raw['tiers'] ?? {}),
		...(Array.isArray(raw['webhooks']) && {
			webhooks: raw['webhooks'].map((webhook: unknown) => (isRecord(webhook) ? withProxy(webhook, webhook['url'], env) : webhook)),
		}),
		...(isRecord(raw['guardrails']) && { guardrails: mergeModerationProviders(raw['guardrails'], env) }),
	};
}

/** Returns the address of a moderation provider for which the file sets none. */
export function moderationAddress(kind: unknown, region: unknown): string {
	return kind === 'bedrock-guardrail' ? `https://bedrock-runtime.${String(region)}.amazonaws.com` : 'https://api.openai.com/v1';
}

function mergeModerationProviders(guardrails: Raw, env: Environment): Raw {
	const moderationProviders = guardrails['moderation_providers'];
	if (!Array.isArray(moderationProviders)) return guardrails;
	return {
		...guardrails,
		moderation_providers: moderationProviders.map((moderationProvider: unknown) =>
			isRecord(moderationProvider)
				? withProxy(
						moderationProvider,
						moderationProvider['base_url'] ?? moderationAddress(moderationProvider['kind'], moderationProvider['region']),
						env,
					)
				: moderationProvider,
		),
	};
}

function withProxy(own: Raw, address: unknown, env: Environment): Raw {
	const proxy = typeof address === 'string' && (own['proxy'] ?? null) === null ? proxyFromEnvironment(address, env) : undefined;
	return proxy === undefined ? own : { ...own, proxy };
}

function layProviders(given: unknown, env: Environment): unknown {
	if (!isRecord(given)) return given;
	const laid: Raw = {};
	for (const name of new Set([...Object.keys(builtInProviders), ...Object.keys(given)])) {
		const own = Object.hasOwn(given, name) ? given[name] : {};
		laid[name] = isRecord(own) ? layProvider(own, Object.hasOwn(builtInProviders, name) ? builtInProviders[name] : undefined, env) : own;
	}
	return laid;
}

function layProvider(own: Raw, builtIn: (typeof builtInProviders)[string] | undefined, env: Environment): Raw {
	const kind = own['kind'] ?? builtIn?.kind;
	const laid: Raw = { ...own };
	if (kind !== undefined) laid['kind'] = kind;
	if (typeof kind === 'string' && Object.hasOwn(vendorBaseUrls, kind)) laid['base_url'] ??= vendorBaseUrls[kind];
	if (kind !== 'openai-compatible') {
		const key = builtIn?.kind === kind ? env[builtIn?.keyVariable ?? ''] : undefined;
		laid['api_key'] ??= key === undefined || key === '' ? unsetKey : key;
	}
	return withProxy(laid, laid['base_url'], env);
}

function layTiers(given: unknown): unknown {
	if (!isRecord(given)) return given;
	const preset = given['preset'] === 'error_reference' ? tierPresets.error_reference : tierPresets.limits;
	const laid: Raw = { ...preset, ...given };
	for (const [name, builtIn] of Object.entries(preset)) {
		const own = laid[name];
		if (isRecord(own)) laid[name] = { ...builtIn, ...own };
	}
	return laid;
}
