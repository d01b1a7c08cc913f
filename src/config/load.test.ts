import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gatewaySettings } from '../composition/settings.ts';
import { type LoadedConfig, loadConfig, parseConfig } from './load.ts';
import { ConfigError } from './problem.ts';

const parse = (text: string, env: Record<string, string> = {}): LoadedConfig => parseConfig(text, { file: '/etc/tollgate.yaml', env });

function problemsOf(run: () => unknown): string[] {
	try {
		run();
	} catch (cause) {
		if (!(cause instanceof ConfigError)) throw cause;
		return cause.message.split('\n').map((line) => line.replace('/etc/tollgate.yaml:', ''));
	}
	return [];
}

const problems = (text: string, env: Record<string, string> = {}): string[] => problemsOf(() => parse(text, env));

describe('parseConfig', () => {
	it.each(['', '# nothing\n', '---\n', '{}', 'gateway:\nproviders:\ntiers:\nidentity:\n  clients:\nrouting:\n  aliases:\n'])(
		'takes %j for all defaults',
		(text) => {
			expect(parse(text).config).toEqual(parse('{}').config);
		},
	);

	it('has the defaults of the documentation', () => {
		const { config } = parse('');
		expect(config).toMatchObject({ enable_admin_api: false, enable_guardrails: false, enforce_guardrails: false, enable_budgets: true });
		expect(config.roles).toEqual(['edge', 'gateway', 'admin', 'identity']);
		expect(config.edge.firewall.per_ip).toEqual({ mode: 'enforce', requests: 2000, window_seconds: 300, max_sources: 200_000 });
		expect(config.gateway.timeouts).toEqual({
			connect_ms: 5000,
			first_byte_ms: 120_000,
			idle_ms: 60_000,
			total_ms: 600_000,
			stream_total_ms: 21_600_000,
		});
		expect(config.gateway.max_body_bytes).toBe(33_554_432);
		expect(config.teams.unregistered_clients).toEqual({ tier: 'sandbox' });
		expect(config.auth).toMatchObject({ issuer: null, scope_base: 'tollgate', audience: null, clock_skew_seconds: 5 });
	});

	it('accepts JSON', () => {
		expect(parse('{"gateway": {"max_body_bytes": "${MAX:-2048}", "listen": "[::1]:0"}}').config.gateway).toMatchObject({
			max_body_bytes: 2048,
			listen: '[::1]:0',
		});
	});

	it.each([
		['on', true],
		['true', true],
		['"on"', true],
		['${REPAIR:-on}', true],
		['off', false],
		['false', false],
		['"off"', false],
		['${REPAIR:-off}', false],
	])('reads `repair_parameters: %s`', (written, isOn) => {
		expect(gatewaySettings(parse(`repair_parameters: ${written}`).config).repairsParameters).toBe(isOn);
	});

	it('repairs parameters by default, and accepts no third choice', () => {
		expect(gatewaySettings(parse('').config).repairsParameters).toBe(true);
		expect(problems('repair_parameters: sometimes')).toEqual([expect.stringMatching(/repair_parameters.*must be on or off/)]);
	});

	it('takes a client without scopes, which may not use the grant', () => {
		expect(parse('identity: { clients: [{ id: a, secret: s, scopes: [] }] }').config.identity.clients).toMatchObject([{ scopes: [] }]);
	});

	it('takes default output caps as one number, and by model and team', () => {
		const capsOf = (caps: string): unknown =>
			parse(`budgets: { default_max_output_tokens: ${caps} }`).config.budgets.default_max_output_tokens;
		expect(capsOf('null')).toBeNull();
		expect(capsOf('500')).toEqual({ default: 500, models: {}, teams: {} });
		expect(capsOf('{ models: { gpt-4o: 500 }, teams: { red: 70, blue: { models: { gpt-4o: 80 } } } }')).toEqual({
			models: { 'gpt-4o': 500 },
			teams: { red: { default: 70, models: {} }, blue: { models: { 'gpt-4o': 80 } } },
		});
	});

	it('reports everything that is wrong, each with its place', () => {
		const text = [
			'gatway: {}',
			'gateway:',
			'  max_body_bytes: lots',
			'  maxBufferedBytesPerClient: 3',
			'providers:',
			'  mine: { kind: openai, base_url: http://10.0.0.1/v1, modls: [] }',
			'routing:',
			'  aliases: { fast: provder_a/claude }',
			'  zzzzzzzzzzzzz: 1',
			'guardrails: { patterns: [{ name: p, pattern: "(" }], pii: { types: { ssn: hide } } }',
		].join('\n');
		expect(problems(text)).toEqual([
			'1:1 gatway: unknown key, did you mean `gateway`?',
			'3:19 gateway.max_body_bytes: must be a number, not a string',
			'4:3 gateway.maxBufferedBytesPerClient: unknown key, did you mean `max_buffered_bytes_per_client`?',
			'6:35 providers.mine.base_url: resolves to a private address: set allow_private_network: true to allow it',
			'6:55 providers.mine.modls: unknown key, did you mean `models`?',
			'8:20 routing.aliases.fast: Unknown provider `provder_a`. Did you mean `provider_a`?',
			'9:3 routing.zzzzzzzzzzzzz: unknown key, known here: provider_header, aliases, defaults, translation',
			'10:46 guardrails.patterns[0].pattern: is not a valid RE2 pattern: error parsing regexp: missing closing ): `(`',
			'10:75 guardrails.pii.types.ssn: must be one of block, mask, log, off',
		]);
	});

	it('checks the other items of a list that has an invalid one', () => {
		const text = [
			'teams:',
			'  registered:',
			'    - { id: 7, client_ids: [x] }',
			'    - { id: 8, client_ids: [x] }',
			'    - { id: red, tier: 5, client_ids: [3, 4, y, z] }',
			'    - { id: 9, client_ids: [x] }',
			'    - { id: red, tier: premum, client_ids: [5, z] }',
		].join('\n');
		expect(problems(text)).toEqual([
			'3:13 teams.registered[0].id: must be a string, not a number',
			'4:13 teams.registered[1].id: must be a string, not a number',
			'5:24 teams.registered[2].tier: must be a string, not a number',
			'5:40 teams.registered[2].client_ids[0]: must be a string, not a number',
			'5:43 teams.registered[2].client_ids[1]: must be a string, not a number',
			'6:13 teams.registered[3].id: must be a string, not a number',
			'7:13 teams.registered[4].id: is also the id of another team',
			'7:24 teams.registered[4].tier: Unknown tier `premum`. Did you mean `premium`?',
			'7:45 teams.registered[4].client_ids[0]: must be a string, not a number',
			'7:48 teams.registered[4].client_ids[1]: is already in another team: a client can be in one team',
		]);
	});

	it('reports an unknown kind of personal data like an unknown key', () => {
		const types = (text: string): string[] => problems(`guardrails: { pii: { types: ${text} } }`);
		expect(types('{ emial: mask, ssn: hide }')).toEqual([
			'1:31 guardrails.pii.types.emial: unknown key, did you mean `email`?',
			'1:49 guardrails.pii.types.ssn: must be one of block, mask, log, off',
		]);
		expect(types('{ passport-number: mask }')).toEqual([
			'1:31 guardrails.pii.types.passport-number: unknown key, known here: ssn, card, email, phone, iban, ip, aws_key, api_key',
		]);
	});

	it('an alias may be a mapping with what is to be known of its model', () => {
		const text = (alias: string): string => `routing: { aliases: { fast: ${alias} } }`;
		expect(problems(text('{ target: provider_a/x, stop: false, temperature_max: 0.5 }'))).toEqual([]);
		expect(problems(text('5'))).toEqual(['1:29 routing.aliases.fast: must be PROVIDER/MODEL, or a mapping with that as its `target`']);
		expect(problems(text('provider_a'))).toEqual(['1:29 routing.aliases.fast: must be PROVIDER/MODEL']);
		expect(problems(text('{ stop: false }'))).toEqual(['1:23 routing.aliases.fast.target: is required']);
		expect(problems(text('{ target: provder_a/x }'))).toEqual([
			'1:39 routing.aliases.fast.target: Unknown provider `provder_a`. Did you mean `provider_a`?',
		]);
		expect(problems(text('{ target: provider_a/x, thinking: hard, stp: true }'))).toEqual([
			'1:63 routing.aliases.fast.thinking: must be one of none, enabled, adaptive',
			'1:69 routing.aliases.fast.stp: unknown key, did you mean `stop`?',
		]);
	});

	it.each([
		['a: *hunter2', 'no anchor before it'],
		['auth: { audience: !hunter2 }', 'is not valid YAML: a tag'],
		['auth: { audience: @hunter2 }', 'quote it'],
		['auth: { audience: "hunter2 }', 'is not valid YAML'],
		['auth:\n  audience: a: hunter2', 'quote a text that contains `: `'],
		['providers: { provider_a: { api_key: [hunter2] } }', 'must be a string, not a list'],
		['providers: { provider_a: { api_key: "hunter2 \\u00e9" } }', 'printable ASCII'],
		['providers: { provider_a: { base_url: "https://user:hunter2@example.com" } }', 'without user-info'],
		['auth: { issuer: "https://user:hunter2@example.com" }', 'without user-info'],
		['identity: { clients: [{ id: a, secret: hunter2, secret_hash: hunter2 }] }', 'scrypt'],
		['budgets: { default_rate: { input_usd_per_million_tokens: "0.000000001" } }', 'budgets.default_rate.input_usd_per_million_tokens'],
		['budgets: { default_rate: { output_usd_per_million_tokens: -1 } }', 'output_usd_per_million_tokens: must be at least 0'],
		['budgets: { reservation: hunter2 }', 'must be one of estimate, worst_case'],
		['budgets: { default_max_output_tokens: lots }', 'must be a number of tokens, or a mapping of `default`, `models` and `teams`'],
		['log: { level: hunter2 }', 'must be one of debug, info, warn, error'],
	])('says what is wrong with %j and does not repeat its text', (text, expected) => {
		const found = problems(text).join('\n');
		expect(found).toContain(expected);
		expect(found).not.toContain('hunter2');
	});

	it.each([
		['gateway: { workers: 1 }\ngateway: {}', '1:1 gateway: is repeated in line 2'],
		['a: 1\n---\nb: 2', 'more than one document'],
		['- 1', 'must be a mapping of settings'],
		['7', 'must be a mapping of settings'],
		['? [a, b]\n: 1', 'a key that is not a plain name'],
		['x: &x [*x]', 'an alias of its own parent'],
		[`${'['.repeat(70)}${']'.repeat(70)}`, 'nested deeper than 64 levels'],
		['gateway: { workers: 1.5 }', 'must be a whole number'],
		['gateway: { workers: .inf }', 'not infinity or NaN'],
		['gateway: { listen: "127.0.0.1:70000" }', 'a port from 0 to 65535'],
		['gateway: { listen: 8787 }', 'must be a string, not a number'],
		['roles: []', 'must not be empty'],
		['roles: [edge, edge]', 'must not name a role twice'],
		['roles: [edge, gatway]', 'must be one of edge, gateway'],
		['edge: { trusted_proxies: [10.0.0.0/33] }', '1:27 edge.trusted_proxies[0]: must be an IP address or a range'],
		['edge: { gateways: [http://a.example/x] }', 'without a path'],
		['auth: { scope_base: "a b" }', 'must be a scope prefix'],
		['auth: { scope_base: tollgate/ }', 'must be a scope prefix'],
		['budgets: { warning_threshold_percent: 101 }', 'must not be above hard_limit_percent'],
		['stores: { counters: disk }', 'must be memory or a redis:// URL'],
		['teams: { unregistered_clients: refuse }', 'must be reject or {tier: NAME}'],
		['teams: { registered: [{ id: A }] }', '1:29 teams.registered[0].id: must be 1 to 64 characters'],
		['teams: { registered: [{ id: a, client_ids: [x] }, { id: a, client_ids: [x] }] }', 'is also the id of another team'],
		['teams: { registered: [{ id: a, client_ids: [x] }, { id: b, client_ids: [x] }] }', 'is already in another team'],
		['identity: { clients: [{ id: a }] }', 'needs exactly one of secret, secret_file and secret_hash'],
		['identity: { clients: [{ id: a, secret: s }, { id: a, secret: s }] }', 'is also the id of another client'],
		['identity: { listen: 0.0.0.0:8787 }', 'identity.listen: is the same address as gateway.listen'],
		['routing: { defaults: { chat: provider_z } }', 'Unknown provider `provider_z`. Did you mean'],
		['tiers: { sandbox: { monthly_budget_usd: a lot } }', 'monthly_budget_usd: must be US dollars such as "100.00"'],
		["budgets: { default_rate: { output_usd_per_million_tokens: '1,5' } }", 'must be US dollars per million tokens such as "2.50"'],
		['teams: { registered: [{ id: .. }] }', 'and not dots alone'],
		['tiers: { sandbox: { models: { allow: [] } } }', 'tiers.sandbox.models.allow: '],
		['tiers: { sandbox: { models: { deny: ["*"] } } }', 'tiers.sandbox.models.deny: denies every model of every provider'],
		['tiers: { sandbox: { providers: [nobody] } }', 'tiers.sandbox.providers[0]: is `nobody`, an unknown provider'],
		['tiers: { sandbox: { require: { region: eu } } }', 'tiers.sandbox.require.region: is `eu`, which no provider has'],
		['teams: { registered: [{ id: a, models: { allow: [x], deny: [x] } }] }', 'teams.registered[0].models.deny: leaves no model'],
		['teams: { registered: [{ id: a, models: { deny: [x], mode: log } }] }', 'teams.registered[0].models.mode'],
		['tiers: { trial: { rpm: 5 } }', 'tiers.trial.daily_tokens: is required'],
	])('rejects %j', (text, expected) => {
		expect(problems(text).join('\n')).toContain(expected);
	});

	it('allows a standalone edge an address of its own, and ignores it otherwise', () => {
		expect(problems('roles: [edge, identity]\nedge: { listen: 127.0.0.1:8789 }')).toHaveLength(1);
		expect(problems('edge: { listen: 127.0.0.1:8789 }')).toEqual([]);
		expect(problems('roles: [gateway, identity]\ngateway: { listen: 127.0.0.1:0 }\nidentity: { listen: 127.0.0.1:0 }')).toEqual([]);
	});

	it('says of one mistake one thing', () => {
		expect(problems('identity: { clients: [{ id: a, secert: s }] }')).toEqual([
			'1:32 identity.clients[0].secert: unknown key, did you mean `secret`?',
		]);
		expect(problems('providers: { mine: { base_url: https://a.example } }\nrouting: { aliases: { x: mine/y } }')).toEqual([
			'1:14 providers.mine.kind: is required',
		]);
		expect(problems('gateway: { listen: nowhere }\nadmin: { listen: 127.0.0.1:8787 }')).toHaveLength(1);
	});

	it('does not let a name reach the prototype of anything', () => {
		expect(problems('__proto__: { polluted: true }\nrouting: { aliases: { __proto__: provider_a/x } }')).toHaveLength(2);
		const { config } = parse('routing: { aliases: { constructor: provider_a/x } }\nproviders: { toString: { kind: openai } }');
		expect(config.routing.aliases['constructor']).toBe('provider_a/x');
		expect(config.routing.aliases['hasOwnProperty']).toBeUndefined();
		expect(config.providers['toString']?.kind).toBe('openai');
		expect(Object.getPrototypeOf(config.routing.aliases)).toBeNull();
		expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
	});

	it('cannot be changed', () => {
		const { config } = parse('');
		expect(() => Object.assign(config.gateway, { workers: 2 })).toThrow(TypeError);
		expect(() => Object.assign(config.roles, { 0: 'admin' })).toThrow(TypeError);
	});

	it('ends aliases of aliases before they fill the memory', () => {
		const levels = Array.from({ length: 12 }, (_, index) => `x${index + 1}: &x${index + 1} [${`*x${index},`.repeat(9)}]`);
		expect(problems(['x0: &x0 [1]', ...levels].join('\n')).join('\n')).toContain('is too large');
	});

	it('takes an alias for what it stands for', () => {
		const { config } = parse('tiers: { sandbox: &a { rpm: 7 }, standard: *a }');
		expect([config.tiers['sandbox']?.rpm, config.tiers['standard']?.rpm]).toEqual([7, 7]);
	});
});

describe('variables', () => {
	it('become what the setting is: number, boolean, text or null', () => {
		const text = [
			'enable_admin_api: ${ADMIN}',
			'gateway: { max_body_bytes: "${MAX:-4096}", listen: "${HOST}:${PORT}" }',
			'auth: { issuer: "${ISSUER:-}", audience: "${AUDIENCE}" }',
			'tiers: { sandbox: { rpm: "${RPM}", monthly_budget_usd: "${USD}" } }',
		].join('\n');
		const { config } = parse(text, { ADMIN: 'true', HOST: '127.0.0.1', PORT: '9', AUDIENCE: '12', RPM: 'null', USD: '7.50' });
		expect(config.enable_admin_api).toBe(true);
		expect(config.gateway).toMatchObject({ max_body_bytes: 4096, listen: '127.0.0.1:9' });
		expect(config.auth).toMatchObject({ issuer: null, audience: '12' });
		expect(config.tiers['sandbox']).toMatchObject({ rpm: null, monthly_budget_usd: '7.50' });
	});

	it('are reported by name and place when they are not set', () => {
		expect(problems('auth:\n  audience: ${NOWHERE}\n  issuer: ${ISSUER:?run setup first}')).toEqual([
			'2:13 auth.audience: the environment variable NOWHERE is not set; set it, or write ${NOWHERE:-default}',
			'3:11 auth.issuer: the environment variable ISSUER is required: run setup first',
		]);
	});

	it('count in values alone, not in keys, and are not looked into', () => {
		const { config } = parse('routing: { aliases: { "${A}": "provider_a/${B}" } }', { B: '${C}' });
		expect(config.routing.aliases['${A}']).toBe('provider_a/${C}');
	});

	it('do not turn a quoted text into a number where no variable is', () => {
		expect(problems('gateway: { workers: "1" }')).toEqual(['1:21 gateway.workers: must be a number, not a string']);
	});
});

describe('files', () => {
	let folder = '';
	beforeAll(() => {
		folder = mkdtempSync(join(tmpdir(), 'tollgate-config-'));
	});
	afterAll(() => rmSync(folder, { recursive: true }));
	const write = (name: string, content: string | Buffer): string => {
		writeFileSync(join(folder, name), content);
		return join(folder, name);
	};

	it('are looked for in the order --config, TOLLGATE_CONFIG, tollgate.yaml, none', () => {
		const load = (configPath?: string, env = {}): string | null => loadConfig({ configPath, env, workingDirectory: folder }).file;
		expect(load()).toBeNull();
		const defaults = write('tollgate.yaml', '');
		const other = write('other.yaml', '');
		expect(load()).toBe(defaults);
		expect(load(undefined, { TOLLGATE_CONFIG: '' })).toBe(defaults);
		expect(load(undefined, { TOLLGATE_CONFIG: 'other.yaml' })).toBe(other);
		expect(load('tollgate.yaml', { TOLLGATE_CONFIG: 'other.yaml' })).toBe(defaults);
	});

	it.each([
		['absent.yaml', undefined, 'does not exist'],
		['.', undefined, 'is a directory, not a file'],
		['large.yaml', ' '.repeat(1_048_577), 'is larger than 1048576 bytes'],
		['latin1.yaml', Buffer.from([0x23, 0xe9]), 'is not UTF-8 text'],
	])('are rejected with their name: %s', (name, content, expected) => {
		if (content !== undefined) write(name, content);
		const found = problemsOf(() => loadConfig({ configPath: join(folder, name), env: {} }));
		expect(found).toEqual([`${join(folder, name)} ${expected}`]);
	});

	it('hold secrets, named relative to the configuration and read without the closing newline', () => {
		write('key', 'sk-1\n');
		write('client', 'hush\r\n');
		const file = write(
			'secrets.yaml',
			'providers: { provider_a: { api_key_file: key } }\nidentity: { clients: [{ id: a, secret_file: ./client }] }',
		);
		const loaded = loadConfig({ configPath: file, env: { ANTHROPIC_API_KEY: 'sk-env' } });
		expect(loaded.config.providers['provider_a']?.api_key).toBe('sk-1');
		expect(loaded.config.identity.clients[0]?.secret).toBe('hush');
		expect(loaded.files).toEqual([file, join(folder, 'key'), join(folder, 'client')]);
	});

	it('of secrets are rejected when they are missing, empty, or set next to the secret itself', () => {
		write('empty', '\n');
		const file = write(
			'bad.yaml',
			'providers:\n  provider_a: { api_key_file: nowhere }\n  provider_b: { api_key: x, api_key_file: key }\n  provider_c: { api_key_file: empty }',
		);
		expect(problemsOf(() => loadConfig({ configPath: file, env: {} }))).toEqual([
			`${file}:2:31 providers.provider_a.api_key_file: names ${join(folder, 'nowhere')}, which does not exist`,
			`${file}:3:29 providers.provider_b.api_key_file: cannot be combined with api_key: set one of them`,
			`${file}:4:31 providers.provider_c.api_key_file: ${join(folder, 'empty')} is empty`,
		]);
	});
});
