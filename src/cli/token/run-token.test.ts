import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, chown, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runToken } from './run-token.ts';
import { cacheDirectory, cacheFileName } from './token-cache.ts';
import { readTokenSettings } from './token-settings.ts';

const secret = 's3cr3t+canary/with spaces&=%';
const nowMs = Date.parse('2026-01-01T00:00:00Z');

/** Unsigned, because the helper only reads the expiry. */
function tokenExpiringAt(expiresAtMs: number, name = 'a'): string {
	const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
	return `${encode({ alg: 'RS256' })}.${encode({ exp: expiresAtMs / 1000, name })}.c2lnbmF0dXJl`;
}

const goodToken = tokenExpiringAt(Date.now() + 3_600_000);

type Respond = (response: ServerResponse, form: URLSearchParams, request: IncomingMessage) => void;

const json =
	(value: unknown, status = 200): Respond =>
	(response) =>
		void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
const raw =
	(body: string | Buffer, status = 200): Respond =>
	(response) =>
		void response.writeHead(status).end(body);

let server: Server;
let endpoint: string;
let httpResponse: Respond;
let requests: { request: IncomingMessage; form: URLSearchParams }[] = [];
let home: string;

beforeAll(async () => {
	server = createServer((request, response) => {
		let body = '';
		request.setEncoding('utf8').on('data', (text: string) => (body += text));
		request.on('end', () => {
			const form = new URLSearchParams(body);
			requests.push({ request, form });
			httpResponse(response, form, request);
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/oauth2/token`;
});
afterAll(() => {
	server.closeAllConnections();
	server.close();
});
beforeEach(async () => {
	requests = [];
	httpResponse = json({ access_token: goodToken, expires_in: 3600 });
	home = await mkdtemp(join(tmpdir(), 'tollgate-token-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

function variables(more: Record<string, string> = {}): Record<string, string> {
	return { GATEWAY_CLIENT_ID: 'agent', GATEWAY_CLIENT_SECRET: secret, GATEWAY_TOKEN_ENDPOINT: endpoint, XDG_CACHE_HOME: home, ...more };
}

const entry = `
import { outputOf, runCli } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, '../run-cli.ts')).href)};
const { stdout, stderr, env } = process;
process.exitCode = await runCli(process.argv.slice(1), { version: '0', stdout: outputOf(stdout), stderr: outputOf(stderr), env, operations: {} });
`;

interface Outcome {
	code: number | null;
	out: string;
	err: string;
}

function start(args: readonly string[], env: Record<string, string>): ChildProcess {
	return spawn(process.execPath, ['--input-type=module', '--eval', entry, '--', ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
}

function outcomeOf(child: ChildProcess): Promise<Outcome> {
	const outcome: Outcome = { code: null, out: '', err: '' };
	child.stdout?.setEncoding('utf8').on('data', (text: string) => (outcome.out += text));
	child.stderr?.setEncoding('utf8').on('data', (text: string) => (outcome.err += text));
	return new Promise((resolve) => child.on('close', (code) => resolve({ ...outcome, code })));
}

const command = (args: readonly string[] = [], env = variables()): Promise<Outcome> => outcomeOf(start(['token', ...args], env));

async function runHere(
	options: {
		canCache?: boolean;
		shouldRefresh?: boolean;
		timeoutSeconds?: number;
		isDemo?: boolean;
		nowMs?: number;
		env?: Record<string, string>;
	} = {},
): Promise<Outcome> {
	const outcome: Outcome = { code: null, out: '', err: '' };
	const write = (key: 'out' | 'err') => ({
		isTty: false,
		write: (text: string) => {
			outcome[key] += text;
			return Promise.resolve();
		},
	});
	const { canCache = false, shouldRefresh = false, timeoutSeconds = 5, isDemo = false, env = variables() } = options;
	outcome.code = await runToken(
		{ canCache, shouldRefresh, timeoutSeconds, isDemo },
		{ stdout: write('out'), stderr: write('err'), env },
		() => options.nowMs ?? nowMs,
	);
	return outcome;
}

function expectSilent({ out, err }: Outcome): void {
	expect(out).toBe('');
	expect(err).not.toBe('');
	const spellings = [secret, encodeURIComponent(secret), new URLSearchParams({ s: secret }).toString().slice(2)];
	for (const spelling of spellings) expect(err).not.toContain(spelling);
	expect(err).not.toContain(Buffer.from(secret).toString('base64'));
	expect(err).not.toContain(goodToken);
}

describe('the command', () => {
	it('prints the raw token, a newline and nothing else', async () => {
		expect(await command()).toEqual({ code: 0, out: `${goodToken}\n`, err: '' });
		const [{ request, form } = expect.fail('no request')] = requests;
		expect(request.method).toBe('POST');
		expect(request.headers['content-type']).toBe('application/x-www-form-urlencoded');
		expect(request.headers.authorization).toBeUndefined();
		expect(Object.fromEntries(form)).toEqual({ grant_type: 'client_credentials', client_id: 'agent', client_secret: secret });
	});

	it('sends the scope when there is one', async () => {
		expect((await command([], variables({ GATEWAY_SCOPE: 'tollgate/admin tollgate/invoke' }))).code).toBe(0);
		expect(requests[0]?.form.get('scope')).toBe('tollgate/admin tollgate/invoke');
	});

	it('exits 1 and names each missing variable', async () => {
		const outcome = await command([], { GATEWAY_CLIENT_SECRET: secret, GATEWAY_CLIENT_ID: '' });
		expect(outcome.code).toBe(1);
		expectSilent(outcome);
		expect(outcome.err).toMatch(/GATEWAY_CLIENT_ID, GATEWAY_TOKEN_ENDPOINT\n$/);
		expect(requests).toHaveLength(0);
	});

	it.each([['--cashe'], ['--timeout-seconds', '0'], ['--timeout-seconds'], ['extra']])(
		'exits 1 on the arguments %s %s',
		async (...args) => {
			const outcome = await command(args);
			expect(outcome.code).toBe(1);
			expectSilent(outcome);
			expect(requests).toHaveLength(0);
		},
	);

	it('names the nearest option', async () => {
		expect((await command(['--cach'])).err).toContain('Did you mean --cache?');
	});

	it('takes the whole form of its options too', async () => {
		expect(await command(['--timeout-seconds', '7', '--cache'])).toEqual({ code: 0, out: `${goodToken}\n`, err: '' });
		expect(await command(['--cache'])).toEqual({ code: 0, out: `${goodToken}\n`, err: '' });
		httpResponse = json({ access_token: 'renewed' });
		expect(await command(['--cache'])).toMatchObject({ out: `${goodToken}\n` });
		expect(await command(['--refresh'])).toEqual({ code: 0, out: 'renewed\n', err: '' });
		expect(await command(['--cache'])).toMatchObject({ out: 'renewed\n' });
		expect(requests).toHaveLength(2);
	});

	it('exits 2 when the response takes longer than its timeout', async () => {
		httpResponse = () => undefined;
		const outcome = await command(['--timeout-seconds', '1']);
		expect(outcome.code).toBe(2);
		expectSilent(outcome);
		expect(outcome.err).toContain('did not respond within 1 s');
	});

	it('uses no proxy, even when the environment names one', async () => {
		const outcome = await command(
			[],
			variables({ NODE_USE_ENV_PROXY: '1', HTTP_PROXY: 'http://127.0.0.1:9', http_proxy: 'http://127.0.0.1:9' }),
		);
		expect(outcome).toMatchObject({ code: 0, out: `${goodToken}\n` });
	});

	it('ends quietly when the reader of its output has gone', async () => {
		let child: ChildProcess | undefined;
		httpResponse = (response, form, request) => {
			child?.stdout?.destroy();
			setImmediate(() => json({ access_token: goodToken })(response, form, request));
		};
		child = start(['token'], variables());
		const { code, err } = await outcomeOf(child);
		expect({ code, err }).toEqual({ code: 0, err: '' });
	});

	it.runIf(process.platform === 'linux')('exits 2 when its output cannot be written', async () => {
		const child = spawn('sh', ['-c', '"$0" --input-type=module --eval "$1" -- token > /dev/full', process.execPath, entry], {
			env: variables(),
		});
		const outcome = await outcomeOf(child);
		expect(outcome.code).toBe(2);
		expect(outcome.err).toContain('ENOSPC');
		expect(outcome.err).not.toContain(goodToken);
	});
});

describe('an endpoint that no request can be sent to', () => {
	it.each(['not an address', 'ftp://127.0.0.1/token', 'http://user:password@127.0.0.1/token', secret])(
		'is exit code 2, and never repeated: %s',
		async (address) => {
			const outcome = await runHere({ env: variables({ GATEWAY_TOKEN_ENDPOINT: address }) });
			expect(outcome.code).toBe(2);
			expectSilent(outcome);
			expect(outcome.err).not.toContain(address);
		},
	);
});

describe('exit code 2', () => {
	const cases: Record<string, Respond> = {
		'status 500': json({ error: 'server_error' }, 500),
		'status 500 with a token': json({ access_token: goodToken }, 500),
		'status 201': json({ access_token: goodToken }, 201),
		'status 204': raw('', 204),
		'status 401 that echoes the secret': (response, form) =>
			json({ error: form.get('client_secret'), error_description: form.toString() }, 401)(response, form, response.req),
		'a redirect': (response) => void response.writeHead(307, { location: endpoint }).end(),
		'a truncated body': (response) => {
			response.writeHead(200, { 'content-length': '1000' }).write('{"access_token":"');
			setImmediate(() => response.destroy());
		},
		'a connection closed without an answer': (response) => void response.destroy(),
		'an answer that is not HTTP': (response) => void response.socket?.end('220 mail.example.com ready\r\n\r\n'),
		'a head that is too large': (response) => void response.socket?.end(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}\r\n\r\n`),
		'a huge error page': raw(Buffer.alloc(2_000_000, 'x'), 503),
	};

	it.each(Object.entries(cases))('for %s', async (_name, given) => {
		httpResponse = given;
		const outcome = await runHere();
		expect(outcome.code).toBe(2);
		expectSilent(outcome);
		expect(requests).toHaveLength(1);
	});

	it('for a refused connection', async () => {
		const closed = createServer();
		await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
		const { port } = closed.address() as AddressInfo;
		await new Promise((resolve) => closed.close(resolve));
		const outcome = await runHere({ env: variables({ GATEWAY_TOKEN_ENDPOINT: `http://127.0.0.1:${port}/oauth2/token` }) });
		expect(outcome.code).toBe(2);
		expectSilent(outcome);
		expect(outcome.err).toContain('ECONNREFUSED');
	});

	it('for a body that trickles past the time limit', async () => {
		httpResponse = (response) => {
			response.write('{"access');
			const timer = setInterval(() => response.write(' '), 5);
			response.on('close', () => clearInterval(timer));
		};
		const outcome = await runHere({ timeoutSeconds: 0.05 });
		expect(outcome.code).toBe(2);
		expectSilent(outcome);
	});

	it('for http to a TLS port, and for https to a plain port', async () => {
		const outcome = await runHere({ env: variables({ GATEWAY_TOKEN_ENDPOINT: endpoint.replace('http:', 'https:') }) });
		expect(outcome.code).toBe(2);
		expectSilent(outcome);
	});

	it('says how to start the demo if it does not run', async () => {
		const hint = ': start the demo in this directory with `npm start` or `tollgate start --demo`\n';
		httpResponse = json({}, 503);
		expect((await runHere({ isDemo: true })).err).toContain(hint);
		expect((await runHere()).err).not.toContain(hint);
		httpResponse = json({ error: 'invalid_client' }, 401);
		expect((await runHere({ isDemo: true })).err).not.toContain(hint);
	});

	it('explains the error codes of RFC 6749', async () => {
		httpResponse = json({ error: 'invalid_scope', error_description: secret }, 400);
		const outcome = await runHere();
		expectSilent(outcome);
		expect(outcome.err).toBe(
			'tollgate token: the token endpoint returned HTTP 400, invalid_scope: the client does not have the requested scope; ' +
				'Tollgate grants tollgate/invoke by default and tollgate/admin only if requested (GATEWAY_SCOPE is not set)\n',
		);
	});

	it.each([401, 404, 405])('for another address than the token endpoint, status %i: says which it asked', async (status) => {
		httpResponse = raw('<!doctype html><title>Not here</title>', status);
		const outcome = await runHere({ env: variables({ GATEWAY_TOKEN_ENDPOINT: `${endpoint}?key=hidden` }) });
		expectSilent(outcome);
		expect(outcome).toMatchObject({ code: 2 });
		expect(outcome.err).toContain(`returned HTTP ${status} at ${endpoint}: is this the token endpoint?`);
		expect(outcome.err).not.toContain('hidden');
	});
});

describe('exit code 3', () => {
	const cases: Record<string, Respond> = {
		'an HTML page': raw('<!doctype html><title>Sign in</title>'),
		'an empty body': raw(''),
		'half a JSON object': raw('{"access_token":"abc'),
		'bytes that are not text': raw(Buffer.from([0xff, 0xfe, 0x00, 0x80])),
		'a JSON array': json([goodToken]),
		'JSON null': raw('null'),
		'no access_token': json({ token: goodToken }),
		'a null access_token': json({ access_token: null }),
		'an access_token that is a number': json({ access_token: 12_345 }),
		'an access_token that is an object': json({ access_token: { value: goodToken } }),
		'an empty access_token': json({ access_token: '' }),
		'an access_token with a newline': json({ access_token: `${goodToken}\nsecond line` }),
		'an access_token with a blank': json({ access_token: `Bearer ${goodToken}` }),
		'an access_token with an escape character': json({ access_token: '\u001b[2J' }),
		'an access_token beyond ASCII': json({ access_token: 'tokén' }),
		'a huge body': raw(Buffer.alloc(1_048_577, ' ')),
	};

	it.each(Object.entries(cases))('for %s', async (_name, given) => {
		httpResponse = given;
		const outcome = await runHere();
		expect(outcome.code).toBe(3);
		expectSilent(outcome);
	});
});

it('accepts an opaque token, extra members and a body just below the limit', async () => {
	const token = 'opaque-token_~+/=';
	const text = JSON.stringify({ access_token: token, extra: '' });
	httpResponse = raw(text.slice(0, -2) + 'x'.repeat(1_048_576 - text.length) + text.slice(-2));
	expect(await runHere()).toEqual({ code: 0, out: `${token}\n`, err: '' });
});

it('warns of plain http to what is not this machine by its name', async () => {
	const outcome = await runHere({ env: variables({ GATEWAY_TOKEN_ENDPOINT: endpoint.replace('127.0.0.1', '0.0.0.0') }) });
	expect(outcome).toMatchObject({ code: 0, out: `${goodToken}\n` });
	expect(outcome.err).toContain('plain http');
});

describe('--cache', () => {
	const token = tokenExpiringAt(nowMs + 3_600_000);
	const later = tokenExpiringAt(nowMs + 7_200_000, 'later');
	const cached = (atMs: number, env = variables()): Promise<Outcome> => runHere({ canCache: true, nowMs: atMs, env });
	const file = (): string => join(home, 'tollgate', cacheFileName(readTokenSettings(variables())));
	const after = (seconds: number): number => nowMs + seconds * 1000;

	beforeEach(async () => {
		httpResponse = json({ access_token: token, expires_in: 3600 });
		expect(await cached(nowMs)).toEqual({ code: 0, out: `${token}\n`, err: '' });
		httpResponse = json({ access_token: later, expires_in: 3600 });
		requests = [];
	});

	it('asks again after 3000 s and not before', async () => {
		expect((await cached(after(2999.999))).out).toBe(`${token}\n`);
		expect(requests).toHaveLength(0);
		expect((await cached(after(3000))).out).toBe(`${later}\n`);
		expect((await cached(after(3001))).out).toBe(`${later}\n`);
		expect(requests).toHaveLength(1);
	});

	it('asks again when the token itself ends within 60 s', async () => {
		const short = tokenExpiringAt(after(3100 + 300), 'short');
		httpResponse = json({ access_token: short, expires_in: 3600 });
		await cached(after(3100));
		httpResponse = json({ access_token: later });
		expect((await cached(after(3100 + 239))).out).toBe(`${short}\n`);
		expect((await cached(after(3100 + 240))).out).toBe(`${later}\n`);
	});

	it('requests a new token at once if one was rejected, and caches it', async () => {
		expect(await runHere({ canCache: true, shouldRefresh: true, nowMs })).toEqual({ code: 0, out: `${later}\n`, err: '' });
		expect((await cached(nowMs)).out).toBe(`${later}\n`);
		expect(requests).toHaveLength(1);
	});

	it('does not print a rejected token while the endpoint is down', async () => {
		httpResponse = json({}, 503);
		const outcome = await runHere({ canCache: true, shouldRefresh: true, nowMs });
		expect(outcome.code).toBe(2);
		expectSilent(outcome);
		expect((await cached(nowMs)).out).toBe(`${token}\n`);
	});

	it('keeps the file to its owner, without secret or client id', async () => {
		expect((await stat(file())).mode & 0o777).toBe(0o600);
		expect((await stat(join(home, 'tollgate'))).mode & 0o777).toBe(0o700);
		const [name = ''] = await readdir(join(home, 'tollgate'));
		const text = await readFile(file(), 'utf8');
		expect(name).toMatch(/^token-[0-9a-f]{32}\.json$/);
		for (const hidden of [secret, 'agent']) expect(name + text).not.toContain(hidden);
	});

	it('separates the tokens of endpoints, clients and scopes', async () => {
		const others = [{ GATEWAY_CLIENT_ID: 'other' }, { GATEWAY_SCOPE: 'tollgate/admin' }, { GATEWAY_TOKEN_ENDPOINT: `${endpoint}?x` }];
		for (const other of others) expect((await cached(nowMs, variables(other))).out).toBe(`${later}\n`);
		expect((await cached(nowMs)).out).toBe(`${token}\n`);
		expect(requests).toHaveLength(3);
	});

	it.each([
		'',
		'{',
		'null',
		'[]',
		'{"accessToken":"x"}',
		JSON.stringify({ accessToken: 'a\nb', fetchedAtMs: nowMs, expiresAtMs: null }),
		'\0'.repeat(99),
	])('ignores and replaces a file that holds %j', async (text) => {
		await writeFile(file(), text);
		expect(await cached(nowMs)).toEqual({ code: 0, out: `${later}\n`, err: '' });
		expect((await cached(nowMs)).out).toBe(`${later}\n`);
		expect(requests).toHaveLength(1);
	});

	it('does not trust a token from the future', async () => {
		expect((await cached(after(-10))).out).toBe(`${later}\n`);
	});

	it('uses neither a file nor a directory that others may open', async () => {
		await chmod(file(), 0o640);
		const wide = await cached(nowMs);
		expect(wide).toMatchObject({ code: 0, out: `${later}\n` });
		expect(wide.err).toContain('accessible to other users');
		await chmod(file(), 0o600);
		await chmod(join(home, 'tollgate'), 0o755);
		expect((await cached(nowMs)).out).toBe(`${later}\n`);
		await chmod(join(home, 'tollgate'), 0o700);
		expect(await cached(nowMs)).toEqual({ code: 0, out: `${token}\n`, err: '' });
	});

	it.runIf(process.getuid?.() === 0)('does not use a file of another user', async () => {
		await chown(file(), 65_534, 65_534);
		const outcome = await cached(nowMs);
		expect(outcome).toMatchObject({ code: 0, out: `${later}\n` });
		expect(outcome.err).toContain('another user');
	});

	it('follows no link, and leaves what it points to alone', async () => {
		const target = join(home, 'target');
		await writeFile(target, await readFile(file(), 'utf8'), { mode: 0o600 });
		await rm(file());
		await symlink(target, file());
		const outcome = await cached(nowMs);
		expect(outcome).toMatchObject({ code: 0, out: `${later}\n` });
		expect(outcome.err).toContain('symbolic link');
		expect(await readFile(target, 'utf8')).toContain(token);
	});

	it('still prints the token when there is nowhere to keep it', async () => {
		await rm(join(home, 'tollgate'), { recursive: true });
		await writeFile(join(home, 'tollgate'), '');
		const outcome = await cached(nowMs);
		expect(outcome).toMatchObject({ code: 0, out: `${later}\n` });
		expect(outcome.err).toContain('cache is not used');
	});

	it('prints the cached token with a warning while the issuer is down and the token lives', async () => {
		httpResponse = raw('', 503);
		const outcome = await cached(after(3599));
		expect(outcome).toMatchObject({ code: 0, out: `${token}\n` });
		expect(outcome.err).toContain('HTTP 503; printing the cached token');
		expect((await cached(after(3600))).code).toBe(2);
	});

	it('does not hide a rejection or an unusable response behind the cached token', async () => {
		httpResponse = json({ error: 'invalid_client' }, 401);
		expect(await cached(after(3000))).toMatchObject({ code: 2, out: '' });
		httpResponse = json({});
		expect(await cached(after(3000))).toMatchObject({ code: 3, out: '' });
	});

	it('leaves one whole file when many run at once', async () => {
		await rm(file());
		const outcomes = await Promise.all(Array.from({ length: 20 }, () => cached(nowMs)));
		expect(new Set(outcomes.map(({ out }) => out))).toEqual(new Set([`${later}\n`]));
		expect(await readdir(join(home, 'tollgate'))).toHaveLength(1);
		expect((await cached(nowMs)).err).toBe('');
	});

	it('lies where an absolute path says, and nowhere else', () => {
		expect(cacheDirectory({ XDG_CACHE_HOME: '/cache' }, '')).toBe('/cache/tollgate');
		expect(cacheDirectory({ XDG_CACHE_HOME: 'relative' }, '/home/agent')).toBe('/home/agent/.cache/tollgate');
		for (const relative of ['', 'home']) expect(() => cacheDirectory({ XDG_CACHE_HOME: '' }, relative)).toThrow('absolute path');
	});
});
