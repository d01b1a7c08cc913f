/** Values that clients choose, in every position. They are forwarded or rejected, without other effects. */
import { beforeEach, describe, expect, test } from 'vitest';
import { client, type Deployment, startDeployment } from '../support/deployment.ts';
import { type EchoProvider, startEchoProvider } from '../support/echo-provider.ts';
import { hostileStrings, sqlStrings } from '../support/hostile-strings.ts';
import { fetchAccessToken, freePort } from '../support/product.ts';
import { RawClient } from '../support/raw-client.ts';

const formats = [
	{ path: '/v1/chat/completions', provider: 'echo-chat' },
	{ path: '/v1/messages', provider: 'echo-messages' },
] as const;

interface TextResponse {
	readonly status: number;
	readonly text: string;
	readonly headers: Headers;
}

let echo: EchoProvider;
let product: Deployment;
let token: string;
let adminToken: string;
let adminUrl: string;

beforeEach(async () => {
	echo = await startEchoProvider();
	const port = await freePort();
	adminUrl = `http://127.0.0.1:${port}`;
	const provider = { base_url: echo.origin, api_key: 'key', allow_private_network: true };
	product = await startDeployment({
		enable_admin_api: true,
		roles: ['edge', 'gateway', 'identity', 'simulator', 'admin'],
		admin: { listen: `127.0.0.1:${port}` },
		identity: { max_attempts_per_minute: 100_000 },
		edge: { firewall: { per_ip: { requests: 1_000_000 } } },
		providers: { 'echo-chat': { ...provider, kind: 'openai' }, 'echo-messages': { ...provider, kind: 'anthropic' } },
	});
	token = await product.accessToken();
	adminToken = await fetchAccessToken(`${product.identityUrl}/oauth2/token`, client, 'tollgate/admin');
});

async function ask(url: string, body: unknown, { method = 'POST', ...headers }: Record<string, string> = {}): Promise<TextResponse> {
	const response = await fetch(url, {
		method,
		headers: { authorization: `Bearer ${url.startsWith(adminUrl) ? adminToken : token}`, 'content-type': 'application/json', ...headers },
		...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
	});
	return { status: response.status, text: await response.text(), headers: response.headers };
}

function call(format: (typeof formats)[number], content: string, more: object = {}): Promise<TextResponse> {
	const body = { model: `${format.provider}/m`, max_tokens: 9, messages: [{ role: 'user', content }], ...more };
	return ask(product.gatewayUrl + format.path, body);
}

/** Baseline: requests that the provider receives from an ordinary client, and the client's responses. */
async function control(): Promise<unknown[]> {
	const responses = await Promise.all(formats.map((format) => call(format, 'control')));
	const seen = echo.seen.splice(0).toSorted((one, other) => (one.line < other.line ? -1 : 1));
	const listed = await ask(`${adminUrl}/teams`, undefined, { method: 'GET' });
	return [
		responses.map(({ status, text }) => [status, text]),
		seen.map(({ line, rawHeaders, body }) => [line, rawHeaders, body]),
		listed.status,
	];
}

/** Calls `act` for each text, a dozen at a time. */
async function forEach(texts: readonly string[], act: (text: string, index: number) => Promise<void>): Promise<void> {
	const rest = texts.entries();
	const work = async (): Promise<void> => {
		for (const [index, text] of rest) await act(text, index);
	};
	await Promise.all(Array.from({ length: 12 }, work));
}

const internalErrors = (): unknown[] => product.log.filter((line) => line['level'] === 'error');

describe('names of prototypes', () => {
	const members =
		'"__proto__":{"isPolluted":"yes","model":"x","stream":true,"authorization":"x"},"constructor":{"prototype":{"isPolluted":"yes"}}';
	const places = (model: string): string[] => {
		const head = `"model":"${model}","max_tokens":9`;
		const user = '{"role":"user","content":"hi"}';
		return [
			`{${members},${head},"messages":[${user}]}`,
			`{${head},"messages":[${user}],${members}}`,
			`{${head},"messages":[{${members},"role":"user","content":"hi"}]}`,
			`{${head},"messages":[{"role":"user","content":[{"type":"text","text":"hi",${members}}]}]}`,
			`{${head},"messages":[${user}],"metadata":{${members}}}`,
			`{${head},"messages":[${user}],"tools":[{${members},"type":"function","name":"f","input_schema":{"type":"object"},"function":{"name":"f","parameters":{${members}}}}]}`,
			`{${head},"messages":[${user}],"stream_options":{${members}}}`,
			`{${head},"messages":[${user}],"response_format":{"type":"json_object",${members}}}`,
			`{${head},"messages":{${members}}}`,
			`{"model":{${members}},"messages":[${user}]}`,
			`{"model":"__proto__","messages":[${user}]}`,
			`{"model":"__proto__/m","messages":[${user}]}`,
			`{"model":"constructor/prototype","messages":[${user}]}`,
		];
	};

	test('change nothing for the next request, in 50 positions', async () => {
		const before = await control();
		let places50 = 0;
		const isUnchanged = async (what: string): Promise<void> => {
			places50++;
			expect([what, await control()]).toEqual([what, before]);
		};
		for (const { path, provider } of formats) {
			for (const body of places(`${provider}/m`)) {
				const { status } = await ask(product.gatewayUrl + path, body);
				expect([body, status]).toEqual([body, expect.toSatisfy((code: number) => code < 500 || code === 502)]);
				echo.seen.splice(0);
				await isUnchanged(body);
			}
		}
		const adminBodies: [string, string][] = ['/teams', '/budgets', '/clients', '/routing'].flatMap((path): [string, string][] => [
			[path, `{${members},"id":"a","name":"a","tier":"standard"}`],
			[path, `{"id":"__proto__","name":"constructor","tier":"__proto__","client_ids":["__proto__"]}`],
			[path, `{"__proto__":{"id":"a","name":"a","tier":"standard"}}`],
			[`${path}/__proto__`, `{${members}}`],
			[`${path}/constructor`, `{${members}}`],
		]);
		for (const [path, body] of adminBodies) {
			const { status } = await ask(adminUrl + path, body);
			expect([path, body, status]).toEqual([path, body, expect.toSatisfy((code: number) => code >= 400 && code < 500)]);
			await isUnchanged(body);
		}
		expect(places50).toBeGreaterThan(40);
		expect(internalErrors()).toEqual([]);
	}, 60_000);
});

describe('strings that often break programs', () => {
	async function carriesPrompts(): Promise<void> {
		for (const format of formats) {
			await forEach(hostileStrings, async (text) => {
				const { status, text: response } = await call(format, text);
				expect([text.slice(0, 50), status]).toEqual([text.slice(0, 50), 200]);
				const body = JSON.parse(response) as { choices?: [{ message: { content: string } }]; content?: [{ text: string }] };
				expect(body.choices?.[0].message.content ?? body.content?.[0].text).toBe(text);
			});
		}
		expect(echo.seen).toHaveLength(2 * hostileStrings.length);
	}

	async function servesOrRejects(): Promise<void> {
		const statuses = new Set<number>();
		await forEach(hostileStrings, async (text, index) => {
			const format = formats[index % 2] ?? formats[0];
			statuses.add((await call(format, 'hi', { model: text })).status);
			statuses.add((await call(format, 'hi', { model: `${format.provider}/${text}` })).status);
			statuses.add((await call(format, 'hi', { user: text, metadata: { user_id: text } })).status);
			if (!text.isWellFormed()) return;
			const inQuery = await ask(`${product.gatewayUrl}/v1/models?q=${encodeURIComponent(text)}`, undefined, { method: 'GET' });
			// Excludes requests that the firewall blocked because of the query.
			if (inQuery.headers.get('x-amzn-waf-action') === null) statuses.add(inQuery.status);
		});
		// Status 502: no provider has such a model.
		expect([...statuses].filter((status) => ![200, 400, 404, 413, 431, 502].includes(status))).toEqual([]);
	}

	async function storesNames(): Promise<void> {
		let stored = 0;
		await forEach(hostileStrings, async (name, index) => {
			const { status, text } = await ask(`${adminUrl}/teams`, { id: `team-${index}`, name, tier: 'standard' });
			expect([name.slice(0, 50), status]).toEqual([name.slice(0, 50), expect.toSatisfy((code: number) => code === 201 || code === 422)]);
			if (status !== 201) return;
			stored++;
			expect((JSON.parse(text) as { name: string }).name).toBe(name);
			const again = JSON.parse((await ask(`${adminUrl}/teams/team-${index}`, undefined, { method: 'GET' })).text) as { name: string };
			expect(again.name).toBe(name);
		});
		expect(stored).toBeGreaterThan(80);
	}

	test('as prompts carried there and back; as models, users and queries served or rejected; as names stored and given back', async () => {
		expect(new Set(hostileStrings).size).toBeGreaterThan(100);
		await carriesPrompts();
		await servesOrRejects();
		await storesNames();
		expect(internalErrors()).toEqual([]);
	}, 120_000);
});

describe('SQL in every string that the way to an identity touches', () => {
	const header = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

	test('is a wrong value like any other', async () => {
		const tokenUrl = `${product.identityUrl}/oauth2/token`;
		const form = (fields: Record<string, string>): Promise<TextResponse> =>
			fetch(tokenUrl, { method: 'POST', body: new URLSearchParams({ grant_type: 'client_credentials', ...fields }) }).then(
				async (response) => ({
					status: response.status,
					text: await response.text(),
					headers: response.headers,
				}),
			);
		const kinds = new Map<string, Set<string>>();
		const note = (kind: string, { status, text }: TextResponse): void => {
			const code = /"(?:code|error)":\s*"(\w+)"/.exec(text)?.[1] ?? '';
			kinds.set(kind, (kinds.get(kind) ?? new Set()).add(`${status} ${code}`.trim()));
		};
		const [, payload = '', signature = ''] = token.split('.');
		await forEach(sqlStrings, async (text) => {
			const plain = encodeURIComponent(text);
			note('bearer', await ask(`${product.gatewayUrl}/v1/models`, undefined, { method: 'GET', authorization: `Bearer ${plain}` }));
			const forged = `${header({ alg: 'RS256', typ: 'at+jwt', kid: text })}.${payload}.${signature}`;
			note('kid', await ask(`${product.gatewayUrl}/v1/models`, undefined, { method: 'GET', authorization: `Bearer ${forged}` }));
			note('admin kid', await ask(`${adminUrl}/teams`, undefined, { method: 'GET', authorization: `Bearer ${forged}` }));
			note('client id', await form({ client_id: text, client_secret: 'secret-of-the-agent-0123456789' }));
			note('secret', await form({ client_id: 'agent', client_secret: text }));
			note('scope', await form({ client_id: 'agent', client_secret: 'secret-of-the-agent-0123456789', scope: text }));
			note('team in a path', await ask(`${adminUrl}/teams/${plain}`, undefined, { method: 'GET' }));
			note('client in a path', await ask(`${adminUrl}/clients/${plain}`, undefined, { method: 'GET' }));
			note('budget in a path', await ask(`${adminUrl}/budgets/${plain}`, undefined, { method: 'GET' }));
			note('usage of a team', await ask(`${adminUrl}/usage/${plain}`, undefined, { method: 'GET' }));
			note('a filter', await ask(`${adminUrl}/budgets?team=${plain}`, undefined, { method: 'GET' }));
		});
		const allowed: Record<string, RegExp> = {
			bearer: /^401$/,
			kid: /^401$/,
			'admin kid': /^401/,
			'client id': /^401 invalid_client$/,
			secret: /^401 invalid_client$/,
			scope: /^400 invalid_scope$/,
			'team in a path': /^404/,
			'client in a path': /^404/,
			'budget in a path': /^404/,
			'usage of a team': /^404/,
			'a filter': /^(200|400|404|422)/,
		};
		const odd = [...kinds].flatMap(([kind, seen]) =>
			[...seen].filter((one) => allowed[kind]?.test(one) !== true).map((one) => `${kind}: ${one}`),
		);
		expect(odd).toEqual([]);
		expect(internalErrors()).toEqual([]);
		expect((await control())[2], 'all is still there').toBe(200);
		expect((await form({ client_id: 'agent', client_secret: 'secret-of-the-agent-0123456789' })).status).toBe(200);
	}, 60_000);
});

describe('line ends, NUL and bytes above ASCII', () => {
	const evil = [
		'a\r\nx-injected: yes',
		'a\nx-injected: yes',
		'a\rx-injected: yes',
		'a\0b',
		'caf\u00e9',
		'\u00ff\u00fe',
		'a\x0bb',
		'a\x7fb',
	];
	const isEvil = (text: string): boolean => text === 'x-injected' || /[^\x20-\x7e\t]/.test(text);

	test('in values that JSON and URLs carry never become header fields, of either side', async () => {
		await forEach([...evil, '\u560d\u560ax-injected: yes', '%0d%0ax-injected: yes'], async (text) => {
			const plain = encodeURIComponent(text);
			const responses: TextResponse[] = [];
			for (const format of formats) {
				responses.push(await call(format, 'hi', { model: `${format.provider}/${text}` }));
				responses.push(await call(format, 'hi', { model: text }));
				responses.push(await call(format, text, { user: text, metadata: { user_id: text }, service_tier: text }));
				responses.push(
					await ask(`${product.gatewayUrl}${format.path}?beta=${plain}`, { model: `${format.provider}/m`, max_tokens: 9, messages: [] }),
				);
			}
			for (const path of [`/${plain}`, `/v1/models?a=${plain}`]) {
				responses.push(await ask(product.gatewayUrl + path, undefined, { method: 'GET' }));
			}
			for (const path of [`/teams/${plain}`, `/clients/${plain}`, `/usage/${plain}?from=${plain}`, `/teams?cursor=${plain}`]) {
				responses.push(await ask(adminUrl + path, undefined, { method: 'GET' }));
			}
			responses.push(await ask(`${adminUrl}/teams`, { id: text, name: text, tier: text }));
			for (const { headers } of responses) expect([...headers].flat().filter(isEvil)).toEqual([]);
		});
		expect(echo.seen.length).toBeGreaterThan(20);
		for (const { rawHeaders, line } of echo.seen) expect([line, ...rawHeaders].filter(isEvil)).toEqual([]);
		expect(internalErrors()).toEqual([]);
	}, 60_000);

	test('in header fields are rejected, or not forwarded', async () => {
		const port = Number(new URL(product.gatewayUrl).port);
		const names = [
			'anthropic-beta',
			'anthropic-version',
			'openai-organization',
			'x-gateway-provider',
			'x-request-id',
			'user-agent',
			'accept',
			'x-session-id',
		];
		await forEach(evil, async (value) => {
			for (const name of names) {
				const body = JSON.stringify({ model: 'echo-messages/m', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] });
				const raw = new RawClient(port).send(
					`POST /v1/messages HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n` +
						`${name}: ${value}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
				);
				await raw.untilClosed();
				const [head = ''] = raw.text.split('\r\n\r\n');
				expect([200, 400]).toContain(raw.statuses[0]);
				expect(head.split('\r\n').filter((line) => isEvil(line) || line.startsWith('x-injected'))).toEqual([]);
			}
		});
		for (const { rawHeaders } of echo.seen) expect(rawHeaders.filter((text) => /[^\x20-\x7e\t]/.test(text))).toEqual([]);
		expect(echo.seen.flatMap(({ rawHeaders }) => rawHeaders).filter((text) => text === 'x-injected')).toEqual([]);
		expect(internalErrors()).toEqual([]);
	}, 60_000);
});
