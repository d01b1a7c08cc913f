import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { clients, runCommandLine as run } from '../../test/support/run-command-line.ts';
import { Rejection } from '../core/rejection.ts';
import { renderCliReference } from './cli-reference.ts';
import { CommandFailure } from './command-failure.ts';

describe('usage', () => {
	it.each([
		'start',
		'token',
		'proxy',
		'connect',
		'simulate',
		'config',
		'config check',
		'config print',
		'config schema',
		'client',
		'client create',
		'client list',
		'client rotate',
		'client delete',
		'client show',
		'client set',
		...['team', 'budget', 'route'].flatMap((name) => ['', ' list', ' show', ' create', ' set', ' delete'].map((verb) => name + verb)),
		'price set',
		'explain',
		'usage list',
		'usage show',
		'usage history',
		'request list',
		'audit list',
		'doctor',
		'',
	])('tollgate %s --help has an example and exits 0', async (command) => {
		const { code, out, err, calls } = await run(`${command} --help`);
		expect({ code, err, calls }).toEqual({ code: 0, err: '', calls: [] });
		expect(out).toMatch(/\nExamples?:\n.*tollgate /);
	});

	it('prints the version', async () => {
		expect(await run('--version')).toMatchObject({ code: 0, out: '1.2.3\n', err: '' });
	});

	it.each([
		['strat', 'start'],
		['client lst', 'list'],
		['start --rolse edge', '--roles'],
		['client list --jsn', '--json'],
		['token --cach', '--cache'],
	])('tollgate %s exits 1 and names %s', async (line, nearest) => {
		const { code, out, err, calls } = await run(line);
		expect({ code, out, calls }).toEqual({ code: 1, out: '', calls: [] });
		expect(err).toContain(`Did you mean ${nearest}?`);
	});

	it.each([
		'',
		'config',
		'client',
		'start extra',
		'start --config',
		'start --roles edge,gatway',
		'start --log-level loud',
		'simulate --listen 8790',
		'simulate --listen host:99999',
		'simulate --interval-ms -1',
		'simulate --interval-ms 1.5',
		'client create --id a/b',
		'client create --scopes root',
		'client create --team Search',
		`client create --team ${'t'.repeat(65)}`,
		'client rotate',
		'client rotate a --overlap-seconds soon',
		'client delete',
		'explain',
		'explain --client a',
		'explain --body x --format gemini',
		'explain --body /nonexistent/body.json',
		'explain --body /nonexistent/body.json --client a',
		'team show',
		'team create --rpm many',
		'team list --limit 0',
		'team create --metadata owner',
		'price set a/b --input 1',
		'route create --target =1',
		'budget set b --id c',
	])('tollgate %s exits 1 and does nothing', async (line) => {
		const { code, out, err, calls } = await run(line);
		expect({ code, out, calls }).toEqual({ code: 1, out: '', calls: [] });
		expect(err).not.toBe('');
	});
});

describe('start and simulate', () => {
	it('hand over what was given, and nothing else', async () => {
		expect((await run('start')).calls).toEqual([['start', { isDemo: false }]]);
		expect((await run('start --demo --config a.yaml --roles edge,gateway,edge --log-level warn --log-format json')).calls).toEqual([
			['start', { isDemo: true, configPath: 'a.yaml', roles: ['edge', 'gateway'], logLevel: 'warn', logFormat: 'json' }],
		]);
		expect((await run('simulate')).calls).toEqual([['simulate', { listen: '127.0.0.1:8790', intervalMs: 20 }]]);
		expect((await run('simulate --listen [::1]:0 --interval-ms 0')).calls).toEqual([['simulate', { listen: '[::1]:0', intervalMs: 0 }]]);
	});

	it('exit with the code of what ran', async () => {
		expect((await run('start', { start: () => Promise.resolve(2) })).code).toBe(2);
	});

	it.each([
		[new CommandFailure(1, 'no such file'), 1, 'tollgate: no such file\n'],
		[new Rejection('invalid_request', { message: 'that id is taken' }), 1, 'tollgate: that id is taken\n'],
		[
			Object.assign(new Error('listen EADDRINUSE 127.0.0.1:8787'), { code: 'EADDRINUSE' }),
			2,
			'tollgate: listen EADDRINUSE 127.0.0.1:8787\n',
		],
	])('tell a failure in one line: %s', async (failure, code, err) => {
		expect(await run('start', { start: () => Promise.reject(failure) })).toMatchObject({ code, out: '', err });
	});

	it('show the stack of an internal error', async () => {
		const { code, err } = await run('start', { start: () => Promise.reject(new TypeError('x is not a function')) });
		expect(code).toBe(2);
		expect(err).toMatch(/TypeError: x is not a function\n\s+at /);
	});
});

describe('client', () => {
	it('create prints id and secret once, and closes the store', async () => {
		const { code, out, calls } = await run('client create --id search --name Search --scopes invoke,admin --team t1 --config a.yaml');
		expect({ code, out }).toEqual({ code: 0, out: 'client id:     search\nclient secret: the-secret\n' });
		expect(calls).toEqual([
			['openClients', { configPath: 'a.yaml', canCreate: true }],
			['create', { id: 'search', name: 'Search', scopes: ['invoke', 'admin'], team: 't1' }],
			['close'],
		]);
	});

	it('create requests the invoke scope by default', async () => {
		expect((await run('client create')).calls[1]).toEqual(['create', { name: 'client', scopes: ['invoke'] }]);
	});

	it.each([true, false])('create says whether it created the team: %s', async (isTeamNew) => {
		const create = () => Promise.resolve({ id: 'a', secret: 's', isTeamNew });
		const { code, err } = await run('client create --id a --team serach', { openClients: () => Promise.resolve({ ...clients, create }) });
		expect(code).toBe(0);
		expect(err.includes('Team serach did not exist: it was created in tier sandbox.\n')).toBe(isTeamNew);
	});

	it('create exits 1 when the id is taken', async () => {
		const operations = { ...clients, create: () => Promise.resolve('id_taken' as const) };
		const { code, out, err } = await run('client create --id search', { openClients: () => Promise.resolve(operations) });
		expect({ code, out }).toEqual({ code: 1, out: '' });
		expect(err).toContain('client id search is already used');
	});

	it('create --json prints an object', async () => {
		expect(JSON.parse((await run('client create --json')).out)).toEqual({ client_id: 'random', client_secret: 'the-secret' });
	});

	it('list shows no secret', async () => {
		const { code, out } = await run('client list');
		expect(code).toBe(0);
		expect(out).toBe(
			'ID      NAME            TEAM  SCOPES        STATE    SECRETS  CREATED\nsearch  Search service  red   invoke,admin  enabled  1        1970-01-01T00:00:00.000Z\n',
		);
		const json = (await run('client list --json')).out;
		expect(JSON.parse(json)).toEqual([
			{
				client_id: 'search',
				name: 'Search service',
				team: 'red',
				scopes: ['invoke', 'admin'],
				disabled: false,
				may_set_attributes: false,
				secret_count: 1,
				created_at: '1970-01-01T00:00:00.000Z',
			},
		]);
	});

	it('list keeps what a terminal would obey out of the table', async () => {
		const hostile = {
			id: 'a',
			name: '\u001b[2J\n',
			team: null,
			scopes: [],
			secrets: [],
			isDisabled: true,
			canSetAttributes: false,
			createdAtMs: 0,
		};
		const { out } = await run('client list', { clients: { list: () => Promise.resolve([hostile]) } });
		expect(out.split('\n')).toHaveLength(3);
		expect(out).not.toContain('\u001b');
	});

	it('a client that could not join its team gives its secret all the same, then fails', async () => {
		const create = () => Promise.resolve({ id: 'a', secret: 'the-secret', teamFailure: new CommandFailure(2, 'the team is gone') });
		const { code, out, err } = await run('client create --id a --team t', {
			openClients: () => Promise.resolve({ ...clients, create }),
		});
		expect({ code, out }).toEqual({ code: 2, out: 'client id:     a\nclient secret: the-secret\n' });
		expect(err).toContain('tollgate: the team is gone\n');
	});

	it('rotate and delete exit 1 for a client that is not there', async () => {
		expect((await run('client rotate search')).out).toContain('client secret: the-new-secret\n');
		expect(await run('client delete search')).toMatchObject({ code: 0, out: '' });
		for (const line of ['client rotate other', 'client delete other']) {
			const { code, out, err } = await run(line);
			expect({ code, out }).toEqual({ code: 1, out: '' });
			expect(err).toContain('"other"');
		}
	});

	it('closes the store also when the work fails', async () => {
		const { code, calls } = await run('client list', { clients: { list: () => Promise.reject(new CommandFailure(2, 'broken')) } });
		expect(code).toBe(2);
		expect(calls.at(-1)).toEqual(['close']);
	});
});

it('migrate says what it changed', async () => {
	expect(await run('migrate')).toMatchObject({ code: 0, out: 'records: from version 0 to 2\nledger: version 1, up to date\n' });
	const none = await run('migrate', { migrate: () => Promise.resolve([]) });
	expect(none).toMatchObject({ code: 0, out: expect.stringContaining('stores.records is sqlite') as unknown });
});

describe('doctor', () => {
	const checks = [
		{ name: 'issuer', isOk: true, detail: 'key set read' },
		{ name: 'provider_a', isOk: false, detail: 'no key is set' },
	];

	it('exits 2 when a check fails', async () => {
		expect(await run('doctor')).toMatchObject({ code: 0, out: 'RESULT  CHECK   DETAIL\nok      issuer  key set read\n' });
		const { code, out } = await run('doctor', { doctor: () => Promise.resolve(checks) });
		expect(code).toBe(2);
		expect(out).toContain('\nFAILED  provider_a  no key is set\n');
	});

	it('prints JSON', async () => {
		const { code, out } = await run('doctor --json', { doctor: () => Promise.resolve(checks) });
		expect(code).toBe(2);
		expect(JSON.parse(out)).toEqual(checks.map(({ name, isOk, detail }) => ({ name, ok: isOk, detail })));
	});

	it('has colour on a terminal only', async () => {
		expect((await run('doctor', { doctor: () => Promise.resolve(checks) })).out).not.toContain('\u001b');
		expect((await run('doctor', { isTty: true, doctor: () => Promise.resolve(checks) })).out).toContain('\u001b[31mFAILED');
	});
});

describe('config', () => {
	it('exits 1 and names the file that is not there', async () => {
		const { code, err } = await run('config check --config /nonexistent/tollgate.yaml');
		expect(code).toBe(1);
		expect(err).toContain('/nonexistent/tollgate.yaml');
	});

	it('prints the schema as JSON', async () => {
		const { code, out } = await run('config schema');
		expect(code).toBe(0);
		expect((await run('config schema --json')).out).toBe(out);
		expect(JSON.parse(out)).toHaveProperty('properties');
	});
});

it('docs/reference/cli.md is current (npm run docs writes it)', async () => {
	const page = await readFile(join(import.meta.dirname, '../../docs/reference/cli.md'), 'utf8');
	expect(renderCliReference()).toBe(page);
});
