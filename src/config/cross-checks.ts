/** Checks between sections of the configuration. */

import { nearestName } from '../core/nearest-name.ts';
import { ruleNames } from '../policy/firewall/rules/rule-catalogue.ts';
import { findAllowListProblems } from '../policy/routing/allow-lists.ts';
import type { RoutedProvider } from '../policy/routing/routing-settings.ts';
import { acceptedIssuer } from './identity-url.ts';
import { type ListenAddress, parseListen } from './listen.ts';
import { isRecord, type Path, type Raw } from './raw.ts';
import type { Config } from './schema.ts';
import { readAllowLists } from './sections/allow-lists.ts';
import { boundTeamScope, clientPrefixOf } from './sections/auth.ts';
import { webhookName } from './sections/webhooks.ts';

/** `reliesOn` is the other setting that a finding refers to. */
export type Finding = readonly [path: Path, message: string, reliesOn?: Path];

/**
 * @param config the file without its invalid settings.
 * @param raw the whole file with the built-ins, so that an invalid provider or tier still exists for references to it.
 */
export function findDisagreements(config: Config, raw: Raw): readonly Finding[] {
	return [
		...findSharedAddresses(config),
		...findUnknownProviders(config, namesIn(raw['providers'])),
		...findUnknownTiers(
			config,
			namesIn(raw['tiers']).filter((name) => name !== 'preset'),
		),
		...findEmptyAllowLists(config),
		...findTeamClashes(config),
		...findClientClashes(config),
		...findTeamDisagreements(config),
		...findUnknownRules(config),
		...findUnsharedCounters(config),
		...findBodiesOverBudget(config),
		...findIssuerClashes(config),
		...findRuleMistakes(config),
		...findWebhookClashes(config),
	];
}

function namesIn(section: unknown): readonly string[] {
	return isRecord(section) ? Object.keys(section) : [];
}

/** Addresses that this process listens on, by setting. An edge in the same process shares the gateway's address. */
function listening(config: Config): [section: string, address: ListenAddress | undefined][] {
	const ofRoles = config.roles
		.filter((role) => role !== 'edge' || !config.roles.includes('gateway'))
		.map((role): [string, ListenAddress | undefined] => [role, parseListen(config[role].listen)]);
	return config.metrics.listen === null ? ofRoles : [...ofRoles, ['metrics', parseListen(config.metrics.listen)]];
}

function findSharedAddresses(config: Config): Finding[] {
	const findings: Finding[] = [];
	const seen: [string, ListenAddress][] = [];
	for (const [section, address] of listening(config)) {
		if (address === undefined) continue;
		const other = seen.find(([, taken]) => overlaps(taken, address));
		if (other !== undefined) findings.push([[section, 'listen'], `is the same address as ${other[0]}.listen`, [other[0], 'listen']]);
		seen.push([section, address]);
	}
	return findings;
}

function overlaps(a: ListenAddress, b: ListenAddress): boolean {
	const hosts = [a.host, b.host].map((host) => (host === 'localhost' ? '127.0.0.1' : host.toLowerCase()));
	return a.port === b.port && a.port !== 0 && (hosts[0] === hosts[1] || hosts.some((host) => host === '0.0.0.0' || host === '::'));
}

function findUnknownProviders(config: Config, known: readonly string[]): Finding[] {
	const uses: [Path, string][] = [
		...Object.entries(config.routing.aliases).map(([alias, target]): [Path, string] => {
			const isPlain = typeof target === 'string';
			const name = isPlain ? target : target.target;
			return [['routing', 'aliases', alias, ...(isPlain ? [] : ['target'])], name.slice(0, name.indexOf('/'))];
		}),
		...Object.entries(config.routing.defaults).map(([name, provider]): [Path, string] => [['routing', 'defaults', name], provider]),
	];
	return uses.flatMap(([path, name]) => unknownName(path, name, 'provider', known));
}

function findUnknownTiers(config: Config, known: readonly string[]): Finding[] {
	const uses: [Path, string][] = config.teams.registered.map((team, index) => [['teams', 'registered', index, 'tier'], team.tier]);
	const { unregistered_clients } = config.teams;
	if (unregistered_clients !== 'reject') uses.push([['teams', 'unregistered_clients', 'tier'], unregistered_clients.tier]);
	return uses.flatMap(([path, name]) => unknownName(path, name, 'tier', known));
}

function findEmptyAllowLists({ tiers, teams, providers }: Config): Finding[] {
	const routed = Object.entries(providers).map(
		([name, { kind, region, retention }]): RoutedProvider => ({
			name,
			kind,
			facts: { region: region ?? undefined, retention: retention ?? undefined },
		}),
	);
	const ofTiers = Object.entries(tiers).map(([name, tier]) => ({ path: ['tiers', name], lists: readAllowLists(tier), below: undefined }));
	const ofTeams = teams.registered.map((team, index) => ({
		path: ['teams', 'registered', index],
		lists: readAllowLists(team),
		below: readAllowLists(tiers[team.tier] ?? {}),
	}));
	return [...ofTiers, ...ofTeams].flatMap(({ path, lists, below }) =>
		lists === undefined
			? []
			: findAllowListProblems(lists, routed, below).map((problem): Finding => [[...path, ...problem.path], problem.message]),
	);
}

function unknownName(path: Path, name: string, kind: string, known: readonly string[]): Finding[] {
	if (known.includes(name)) return [];
	const nearest = nearestName(name, known);
	return [[path, `Unknown ${kind} \`${name}\`. ${nearest === undefined ? `Known: ${known.join(', ')}` : `Did you mean \`${nearest}\`?`}`]];
}

function findTeamClashes(config: Config): Finding[] {
	const teams = config.teams.registered;
	const members = teams.flatMap((team, index) =>
		team.client_ids.map((id, position): [Path, string] => [['teams', 'registered', index, 'client_ids', position], id]),
	);
	return [
		...repeated(
			teams.map((team, index) => [['teams', 'registered', index, 'id'], team.id]),
			'is also the id of another team',
		),
		...repeated(members, 'is already in another team: a client can be in one team'),
	];
}

function findClientClashes(config: Config): Finding[] {
	const { clients, key_rotation_days, access_token_seconds } = config.identity;
	const findings = repeated(
		clients.map((client, index) => [['identity', 'clients', index, 'id'], client.id]),
		'is also the id of another client',
	);
	if (key_rotation_days * 86_400 < access_token_seconds) {
		findings.push([['identity', 'key_rotation_days'], 'must not be shorter than identity.access_token_seconds']);
	}
	return findings;
}

function findTeamDisagreements(config: Config): Finding[] {
	const teamOf = new Map(config.teams.registered.flatMap((team) => team.client_ids.map((id): [string, string] => [id, team.id])));
	return config.identity.clients.flatMap((client, index): Finding[] => {
		const team = teamOf.get(client.id);
		if (team === undefined || client.team === null || client.team === team) return [];
		return [[['identity', 'clients', index, 'team'], `contradicts teams.registered, where the client is in team ${team}`]];
	});
}

/** Two issuers that differ only in a closing slash have the same discovery document. */
function findIssuerClashes(config: Config): Finding[] {
	const findings: Finding[] = [];
	const seen = [{ issuer: acceptedIssuer(config), prefix: '' }];
	for (const [index, one] of config.auth.issuers.entries()) {
		const path = ['auth', 'issuers', index] as const;
		const prefix = clientPrefixOf(one);
		const same = seen.find(({ issuer }) => withoutSlash(issuer) === withoutSlash(one.issuer));
		if (same !== undefined) {
			const what = same.issuer === one.issuer ? 'is accepted already' : `differs from \`${same.issuer}\` only in its closing slash`;
			findings.push([[...path, 'issuer'], `${what}: list each issuer once, and not that of auth.issuer`, ['auth', 'issuer']]);
		}
		const confused = seen.find(
			(other) => prefix !== '' && other.prefix !== '' && (other.prefix.startsWith(prefix) || prefix.startsWith(other.prefix)),
		);
		if (confused !== undefined && same === undefined) {
			findings.push([[...path, 'client_prefix'], `is ambiguous: \`${prefix}\` and \`${confused.prefix}\` begin alike`]);
		}
		seen.push({ issuer: one.issuer, prefix });
	}
	return findings;
}

function withoutSlash(issuer: string): string {
	return issuer.replace(/\/+$/, '');
}

function findRuleMistakes(config: Config): Finding[] {
	const issuers = [acceptedIssuer(config), ...config.auth.issuers.map(({ issuer }) => issuer)];
	const seen = new Map<string, number>();
	return config.access.rules.flatMap(({ when, grant, team }, index): Finding[] => {
		const path = ['access', 'rules', index] as const;
		const findings: Finding[] = [];
		const { issuer = issuers[0], ...claims } = when;
		if (typeof issuer === 'string') findings.push(...unknownName([...path, 'when', 'issuer'], issuer, 'issuer', issuers));
		if (grant.length === 0 && team === null) findings.push([path, 'has no effect: set grant or team']);
		const bound = grant.indexOf(boundTeamScope);
		if (bound !== -1 && team === null) {
			findings.push([[...path, 'grant', bound], 'requires the team of the rule: set team, or grant admin:team:ID']);
		}
		const conditions = JSON.stringify([issuer, ...Object.entries(claims).toSorted(([one], [other]) => (one < other ? -1 : 1))]);
		const earlier = seen.get(conditions);
		if (earlier !== undefined) findings.push([[...path, 'when'], `never applies: access.rules[${earlier}] has the same conditions`]);
		else seen.set(conditions, index);
		return findings;
	});
}

function findUnsharedCounters({ gateway, stores }: Config): Finding[] {
	if (gateway.workers === 1 || stores.counters !== 'memory') return [];
	return [
		[
			['gateway', 'workers'],
			'gateway.workers above 1 requires shared counters: set stores.counters to a redis:// URL',
			['stores', 'counters'],
		],
	];
}

function findBodiesOverBudget({ gateway: { max_body_bytes: one, max_buffered_request_bytes: all } }: Config): Finding[] {
	if (all >= 2 * one) return [];
	return [[['gateway', 'max_buffered_request_bytes'], 'must be at least twice gateway.max_body_bytes', ['gateway', 'max_body_bytes']]];
}

function findUnknownRules(config: Config): Finding[] {
	return Object.keys(config.edge.firewall.rules)
		.filter((name) => !ruleNames.includes(name))
		.map((name): Finding => {
			const nearest = nearestName(name, ruleNames);
			const hint = nearest === undefined ? 'See docs/reference/firewall-rules.md' : `Did you mean \`${nearest}\`?`;
			return [['edge', 'firewall', 'rules', name], `Unknown rule \`${name}\`. ${hint}`];
		});
}

function repeated(uses: readonly (readonly [Path, string])[], message: string): Finding[] {
	const seen = new Set<string>();
	return uses.flatMap(([path, value]): Finding[] => {
		if (seen.has(value)) return [[path, message]];
		seen.add(value);
		return [];
	});
}

function findWebhookClashes({ webhooks }: Config): Finding[] {
	const names = webhooks.map(webhookName);
	return names.flatMap((name, index): Finding[] => {
		const first = names.indexOf(name);
		return first === index
			? []
			: [[['webhooks', index, 'name'], `is \`${name}\`, like that of webhooks[${first}]: set another name`, ['webhooks', first, 'name']]];
	});
}
