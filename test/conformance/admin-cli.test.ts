/** Commands through a running admin API, and directly on the stores of its configuration. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { AdminOptions, CliOperations } from '../../src/cli/environment.ts';
import { runCli } from '../../src/cli/run-cli.ts';
import { openAdmin } from '../../src/composition/open-admin.ts';
import { openClients } from '../../src/composition/open-clients.ts';
import { runTollgate, temporaryDirectory } from '../support/processes.ts';
import { freePort, operator } from '../support/product.ts';
import { describeOwn, useSubject } from './subject.ts';

const port = await freePort();
const adminUrl = `http://127.0.0.1:${port}`;

describeOwn('the command line', 'a configuration of its own', () => {
	const subject = useSubject({
		enable_admin_api: true,
		roles: ['edge', 'gateway', 'identity', 'simulator', 'admin'],
		admin: { listen: `127.0.0.1:${port}` },
		teams: { registered: [{ id: 'pinned', tier: 'standard' }] },
	});

	/** Runs the command line in this process, because a process per command would be slow. */
	const run = async (line: string, env: Record<string, string> = {}): Promise<{ code: number; stdout: string; stderr: string }> => {
		const written = { stdout: '', stderr: '' };
		const output = (name: 'stdout' | 'stderr') => ({
			isTty: false,
			write: async (text: string) => {
				written[name] += text;
			},
		});
		const operations = {
			openAdmin: (options: AdminOptions) => openAdmin(options, env),
			openClients: (options: AdminOptions) => openClients(options, env),
		} as CliOperations;
		const code = await runCli(line.split(' '), { version: '', stdout: output('stdout'), stderr: output('stderr'), env, operations });
		return { code, ...written };
	};
	const overApi = (line: string) =>
		run(line, {
			TOLLGATE_ADMIN_URL: adminUrl,
			GATEWAY_CLIENT_ID: operator.id,
			GATEWAY_CLIENT_SECRET: operator.secret,
			GATEWAY_TOKEN_ENDPOINT: subject.current.product?.tokenEndpoint ?? '',
		});
	const overStore = (line: string) => run(`${line} --config ${subject.current.product?.configPath ?? ''}`);
	const jsonOf = async (ran: ReturnType<typeof run>): Promise<unknown> => JSON.parse((await ran).stdout) as unknown;
	const limitOfTeam = async () => {
		const response = await fetch(`${subject.current.baseUrl}/v1/limits`, {
			headers: { authorization: `Bearer ${await subject.current.accessToken()}` },
		});
		const text = await response.text();
		if (response.status !== 200) throw new Error(`${response.status} ${text}`);
		return (JSON.parse(text) as { requests: { limit: number } | null }).requests?.limit;
	};

	it('makes a team over the API, changes it in the store, and the gateway follows; the audit log has both', async () => {
		const client = subject.current.client.id;
		const made = await overApi(`team create --id red --tier standard --clients ${client} --rpm 7`);
		expect(made).toMatchObject({ code: 0, stderr: '' });
		expect(made.stdout).toMatch(/^FIELD +VALUE\nid +red\n[^]*limits\.rpm +7\nlimits\.daily_tokens +-\n/);
		expect(await limitOfTeam()).toBe(7);
		expect(await jsonOf(overStore('team set red --rpm 9 --json'))).toMatchObject({
			limits: { rpm: 9, daily_tokens: null },
			tier: 'standard',
		});
		await expect.poll(limitOfTeam, { timeout: 3000 }).toBe(9);
		const audit = (await jsonOf(overApi('audit list --kind team --json'))) as object[];
		expect(audit).toMatchObject([
			{ actor: 'cli', action: 'replace', before: { limits: { rpm: 7 } }, after: { limits: { rpm: 9 } } },
			{ actor: `client:${operator.id}`, action: 'create' },
		]);
		expect((await overStore('team list')).stdout).toMatch(/^ID +NAME[^\n]*\npinned +pinned[^\n]*config\nred +red[^\n]*api\n$/);
	});

	it('manages budgets, prices, rules and clients, and reports usage, the same both ways', async () => {
		for (const [way, name] of [
			[overApi, 'a'],
			[overStore, 's'],
		] as const) {
			const lines = [
				`budget create --id ${name} --team red --model m-${name} --limit-usd 1.50`,
				`budget set ${name} --limit-usd 2`,
				`budget show ${name}`,
				`budget list --team red`,
				`price set provider_b/org/model:${name} --input 1 --output 2`,
				`price show provider_b/org/model:${name}`,
				`price delete provider_b/org/model:${name}`,
				`price list --provider provider_a --limit 3`,
				`route create --id ${name} --name Rule --match-model x-${name} --target provider_b/gpt-4o-mini`,
				`route set ${name} --enabled false`,
				`route list`,
				`route delete ${name}`,
				`client create --id client-${name} --team red`,
				`client set client-${name} --disabled true`,
				`client show client-${name}`,
				`client rotate client-${name}`,
				`client list`,
				`client delete client-${name}`,
				`usage list --group-by model`,
				`usage show red --group-by day`,
				`usage history red`,
				`request list --team red --status 200 --limit 5`,
				`budget delete ${name}`,
			];
			for (const line of lines) expect(await way(line), `tollgate ${line}`).toMatchObject({ code: 0 });
			expect(await jsonOf(way('team show red --json'))).toMatchObject({ client_ids: [subject.current.client.id] });
		}
	}, 60_000);

	it('explains a request as the gateway then treats it', async () => {
		const body = join(subject.current.product?.dataDirectory ?? '', 'request.json');
		const requested = JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 50, messages: [{ role: 'user', content: 'Say hello.' }] });
		writeFileSync(body, requested);
		const client = subject.current.client.id;
		const make = async () => {
			const headers = { authorization: `Bearer ${await subject.current.accessToken()}`, 'content-type': 'application/json' };
			return fetch(`${subject.current.baseUrl}/v1/chat/completions`, { method: 'POST', headers, body: requested });
		};
		for (const way of [overApi, overStore]) {
			const explained = await jsonOf(way(`explain --client ${client} --body ${body} --json`));
			expect(explained).toMatchObject({
				outcome: { admitted: true },
				identity: { client_id: client, scopes: expect.arrayContaining(['tollgate/invoke']) as unknown },
				team: { id: 'red' },
				route: { decided_by: 'family', targets: [{ provider: 'provider_a', model: 'claude-sonnet-4-5', code: null }] },
				upstream: { translated: true },
			});
		}
		const made = await make();
		expect([made.status, made.headers.get('x-gateway-provider')]).toEqual([200, 'provider_a']);
		await overApi('budget create --id stop --team red --limit-usd 0');
		const rejected = await overApi(`explain --client ${client} --body ${body}`);
		expect(rejected).toMatchObject({ code: 0, stderr: '' });
		expect(rejected.stdout).toMatch(/^FIELD +VALUE\noutcome\.admitted +false\noutcome\.status +429\noutcome\.code +budget_exceeded\n/);
		expect(rejected.stdout).toMatch(/\nroute\.targets\nPROVIDER +MODEL/);
		expect((await make()).status).toBe(429);
		expect((await overStore(`explain --team red --body ${body}`)).stdout).toMatch(/outcome\.code +budget_exceeded/);
		await overApi('budget delete stop');
	});

	it('reports errors by field, and exits 1; without a response it exits 2', async () => {
		for (const way of [overApi, overStore]) {
			expect(await way('team create --id Red --tier standart')).toMatchObject({
				code: 1,
				stdout: '',
				stderr: expect.stringMatching(/^tollgate: One or more fields are invalid \(422 fields_invalid\)\n {2}id: must be /) as unknown,
			});
			expect(await way('team set pinned --rpm 1')).toMatchObject({
				code: 1,
				stderr: expect.stringContaining('(409 record_read_only)') as unknown,
			});
			expect(await way('team show nobody')).toMatchObject({
				code: 1,
				stderr: expect.stringContaining('Team `nobody` does not exist') as unknown,
			});
		}
		const env = { TOLLGATE_ADMIN_TOKEN: 'no-token' };
		const nobody = await freePort();
		expect(await run(`team list --url ${adminUrl}`, env)).toMatchObject({
			code: 1,
			stderr: expect.stringContaining('(401 token_invalid)') as unknown,
		});
		expect(await run(`team list --url http://127.0.0.1:${nobody}`, env)).toMatchObject({
			code: 2,
			stderr: `tollgate: http://127.0.0.1:${nobody} could not be reached: ECONNREFUSED\n`,
		});
		expect(await run(`team list --url ${adminUrl}`)).toMatchObject({
			code: 1,
			stderr: expect.stringContaining('TOLLGATE_ADMIN_TOKEN') as unknown,
		});
	});

	it('runs as a program of its own', async () => {
		const inNowhere = { cwd: temporaryDirectory() };
		expect(await runTollgate(['team', 'list'], inNowhere)).toMatchObject({
			code: 1,
			stderr: expect.stringContaining('no data directory') as unknown,
		});
		const env = {
			TOLLGATE_ADMIN_URL: adminUrl,
			TOLLGATE_ADMIN_TOKEN: (await subject.current.product?.accessToken(operator, 'tollgate/admin')) ?? '',
		};
		const listed = await runTollgate(['team', 'list', '--json'], { ...inNowhere, env });
		expect(listed).toMatchObject({ code: 0, stderr: '' });
		expect(JSON.parse(listed.stdout)).toMatchObject([{ id: 'pinned' }, { id: 'red' }]);
		const { TOLLGATE_ADMIN_TOKEN: _admin, ...withoutToken } = env;
		expect(await runTollgate(['team', 'list'], { ...inNowhere, env: withoutToken })).toMatchObject({
			code: 1,
			stderr: expect.stringContaining('no access token: set TOLLGATE_ADMIN_TOKEN') as unknown,
		});
	});
});
