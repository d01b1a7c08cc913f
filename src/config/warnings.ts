/** Warnings about settings that are valid but probably not intended. */
import { isThisMachine } from './base-url.ts';
import { tierPresets } from './defaults.ts';
import type { Config } from './schema.ts';
import { perIpDefaults } from './sections/edge.ts';

/** Suffixes of a base URL that repeat the API version, for kinds whose request paths already begin with it. */
const versionedEnds: Readonly<Record<string, RegExp>> = { anthropic: /\/v1$/, gemini: /\/v1(beta)?$/ };

/** Returns one sentence for each warning, beginning with the setting's path; for `config check`, `doctor` and the start. */
export function configWarnings(config: Config): string[] {
	return [
		...Object.entries(config.providers).flatMap(warnOfBaseUrl),
		...warnOfKeySet(config),
		...warnOfEnforcement(config),
		...warnOfWebhooks(config),
	];
}

function warnOfBaseUrl([name, { kind, base_url: baseUrl }]: [string, Config['providers'][string]]): string[] {
	if (baseUrl === null) return [];
	const setting = `providers.${name}.base_url`;
	const path = new URL(baseUrl).pathname;
	const [end] = versionedEnds[kind]?.exec(path) ?? [];
	if (end !== undefined) {
		return [`${setting}: ends in ${end}, but Tollgate adds the API version: remove it`];
	}
	const canLackPath = (kind === 'openai' || kind === 'openai-compatible') && path === '/';
	return canLackPath ? [`${setting}: has no path; requests go to /chat/completions, but most servers expect /v1/chat/completions`] : [];
}

function warnOfKeySet({ auth: { issuer, jwks_uri: keySet } }: Config): string[] {
	if (issuer === null || keySet === null || new URL(issuer).protocol !== 'https:') return [];
	const { protocol, hostname } = new URL(keySet);
	if (protocol === 'https:' || isThisMachine(hostname)) return [];
	return ['auth.jwks_uri: is plain http although the issuer is https; an attacker on the network can replace the keys'];
}

function warnOfEnforcement({ enable_guardrails: isEnabled, enforce_guardrails: isEnforced }: Config): string[] {
	return isEnforced && !isEnabled ? ['enforce_guardrails: has no effect: guardrails are off; set enable_guardrails: true'] : [];
}

function warnOfWebhooks({ webhooks, roles }: Config): string[] {
	const sends = roles.some((role) => role === 'gateway' || role === 'identity' || role === 'admin');
	return webhooks.length === 0 || sends ? [] : ['webhooks: have no effect: only the roles gateway, identity and admin send events'];
}

/**
 * Returns one sentence for each pair of valid settings of which one limits the other unexpectedly; for `config check`. Pairs of defaults
 * are not mentioned.
 */
export function configNotes({ roles, edge, tiers }: Config): string[] {
	// Only the edge sees client addresses.
	if (!roles.includes('edge')) return [];
	const { requests, window_seconds: seconds } = edge.firewall.per_ip;
	const aMinute = Math.floor((requests * 60) / seconds);
	const isDefault = requests === perIpDefaults.requests && seconds === perIpDefaults.window_seconds;
	const faster = Object.entries(tiers).filter(
		([name, { rpm }]) => (rpm === null || rpm > aMinute) && !(isDefault && rpm === defaultRpm.get(name)),
	);
	if (faster.length === 0) return [];
	const names = faster.map(([name, { rpm }]) => `${name} (${rpm === null ? 'unlimited' : grouped(rpm)})`).join(', ');
	return [
		`edge.firewall.per_ip: ${grouped(requests)} requests in ${grouped(seconds)} s are ${grouped(aMinute)} a minute from one source address, ` +
			`less than these tiers allow a team: ${names}; raise requests if a team sends from one address`,
	];
}

const defaultRpm: ReadonlyMap<string, number | null> = new Map(Object.entries(tierPresets.limits).map(([name, { rpm }]) => [name, rpm]));

function grouped(count: number): string {
	return count.toLocaleString('en-US');
}
