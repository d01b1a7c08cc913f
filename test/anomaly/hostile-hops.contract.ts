/** A proxy of another vendor in front, mutated requests, and equal request counts on both hops. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { call, type Deployment, startDeployment, statusOf } from '../support/deployment.ts';
import { startEchoProvider } from '../support/echo-provider.ts';
import { mutate, seededNumbers } from '../support/mutations.ts';
import { startProcess } from '../support/processes.ts';
import { eventually, freePort } from '../support/product.ts';
import { RawClient } from '../support/raw-client.ts';
import { requireProgram } from '../support/system-programs.ts';

/** Running proxy, and its log of forwarded requests. */
export interface Front {
	readonly url: string;
	/** Requests sent to the gateway, in order. */
	passed(): Passed[];
}

interface Passed {
	readonly path: string;
	/** False if the client disconnected first: the request may or may not have reached the gateway. */
	readonly hasResponse: boolean;
}

export type StartFront = (product: Deployment) => Promise<Front>;

export async function startNginx({ directory, gatewayUrl }: Deployment): Promise<Front> {
	const listen = `127.0.0.1:${await freePort()}`;
	const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${directory}/${name};`).join(' ');
	const logPath = join(directory, 'front.log');
	writeFileSync(
		join(directory, 'nginx.conf'),
		`worker_processes 1; daemon off; error_log stderr crit; pid ${directory}/nginx.pid; events { worker_connections 512; }
		http { ${temporary} log_format passed '$upstream_addr $upstream_status $request_uri'; access_log ${logPath} passed;
			upstream gateways { server ${new URL(gatewayUrl).host} max_fails=0; keepalive 8; }
			server { listen ${listen}; client_header_timeout 2s; client_body_timeout 2s; ignore_invalid_headers off; underscores_in_headers on;
				location / { proxy_pass http://gateways; proxy_http_version 1.1; proxy_set_header connection ""; proxy_request_buffering off;
					proxy_next_upstream off; } } }`,
	);
	startProcess(join(requireProgram('nginx'), 'nginx'), ['-p', directory, '-c', join(directory, 'nginx.conf')]);
	return started(`http://${listen}`, () => readFileSync(logPath, 'utf8'), /^(?<server>\S+) (?<status>\S+) (?<path>\S*)/, '-');
}

export async function startHaproxy({ directory, gatewayUrl }: Deployment): Promise<Front> {
	const listen = `127.0.0.1:${await freePort()}`;
	const path = join(directory, 'haproxy.cfg');
	writeFileSync(
		path,
		`global
	log stdout format raw local0
	# Of lines that two threads write at once it drops one.
	nbthread 1
defaults
	mode http
	log global
	log-format "passed %s %Tr %HP"
	timeout client 2s
	timeout server 20s
	timeout connect 2s
	timeout http-request 2s
	option accept-invalid-http-request
	retries 0
frontend front
	bind ${listen}
	default_backend gateways
backend gateways
	http-reuse always
	server gateway ${new URL(gatewayUrl).host}
`,
	);
	const running = startProcess(join(requireProgram('haproxy'), 'haproxy'), ['-db', '-f', path]);
	return started(`http://${listen}`, () => running.stdout, /^passed (?<server>\S+) (?<status>\S+) (?<path>\S*)/, '<NOSRV>');
}

/** @param none logged in place of a server's name. */
async function started(url: string, log: () => string, line: RegExp, none: string): Promise<Front> {
	await eventually('the front is there', async () => ((await statusOf(`${url}/healthz`)) === 200 ? true : undefined), 10_000);
	const read = (text: string): Passed[] => {
		const { server = none, status = '', path = '' } = line.exec(text)?.groups ?? {};
		// The log escapes unusual characters as hexadecimal bytes.
		const plain = path.replaceAll(/(?:#|\\x)([0-9A-F]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
		const passed = { path: plain.split('?')[0] ?? '', hasResponse: status !== '-' && status !== '-1' };
		return server === none || passed.path === '/healthz' ? [] : [passed];
	};
	return { url, passed: () => log().split('\n').flatMap(read) };
}

/** Ways to mark the end of a request that hops are known to parse differently. */
const framings: readonly (readonly [fields: string, body: string])[] = [
	['Content-Length: 5', 'hello'],
	['Transfer-Encoding: chunked', '5\r\nhello\r\n0\r\n\r\n'],
	['Content-Length: 5\r\nTransfer-Encoding: chunked', '0\r\n\r\n'],
	['Transfer-Encoding: chunked\r\nContent-Length: 200', '0\r\n\r\n'],
	['Content-Length: 0\r\nContent-Length: 5', 'hello'],
	['Transfer-Encoding: xchunked', '0\r\n\r\n'],
	['Transfer-Encoding : chunked', '0\r\n\r\n'],
	['Transfer-Encoding:\tchunked', '0\r\n\r\n'],
	['Transfer-Encoding: chunked, identity', '0\r\n\r\n'],
	['Transfer-Encoding: identity, chunked', '0\r\n\r\n'],
	['Transfer_Encoding: chunked\r\nContent-Length: 5', 'hello'],
	['X: y\nTransfer-Encoding: chunked', '0\r\n\r\n'],
	['Content-Length: 5\r\n X: y', 'hello'],
	['Content-Length: +5', 'hello'],
	['Content-Length: 5, 5', 'hello'],
	['Content-Length: 0x5', 'hello'],
	['Transfer-Encoding: chunked', '0x5\r\nhello\r\n0\r\n\r\n'],
	['Transfer-Encoding: chunked', '5;a\nb\r\nhello\r\n0\r\n\r\n'],
	['Transfer-Encoding: chunked', '5\nhello\r\n0\r\n\r\n'],
	['Transfer-Encoding: chunked', '5\r\nhelloXX0\r\n\r\n'],
	['Transfer-Encoding: chunked', '00000000000000005\r\nhello\r\n0\r\n\r\n'],
	['Transfer-Encoding: chunked', '0\r\nContent-Length: 200\r\n\r\n'],
	['Expect: 100-continue\r\nContent-Length: 5', 'hello'],
	['Connection: content-length\r\nContent-Length: 5', 'hello'],
	['Connection: close, transfer-encoding\r\nTransfer-Encoding: chunked', '5\r\nhello\r\n0\r\n\r\n'],
	['Upgrade: h2c\r\nConnection: upgrade\r\nContent-Length: 5', 'hello'],
];

/** Request with another one hidden behind it, damaged in up to two positions that `next` determines. */
function mutant(index: number, token: string, next: () => number): string {
	const [fields, body] = framings[index % framings.length] ?? ['', ''];
	const hidden = `GET /hidden/${index} HTTP/1.1\r\nHost: hidden\r\nAuthorization: Bearer ${token}\r\n\r\n`;
	const method = next() < 0.8 ? 'POST' : 'GET';
	let text = `${method} /mutant/${index} HTTP/1.1\r\nHost: a\r\n${fields}\r\n\r\n${body}`;
	// First of each kind: sent without damage.
	if (index >= framings.length) for (let times = 1 + Math.floor(next() * 2); times > 0; times--) text = mutate(text, next);
	return text + hidden;
}

interface HopsReport {
	readonly passed: number;
	readonly unanswered: number;
	readonly rejectedByFront: number;
}

/** Fails if the gateway counts more or fewer requests than the proxy, or a client gets the response of another. */
export async function smuggle(startFront: StartFront, count: number, seed: number): Promise<HopsReport> {
	const echo = await startEchoProvider();
	const product = await startDeployment({
		edge: { firewall: { per_ip: { requests: 1_000_000 } }, limits: { headers_timeout_ms: 2000, body_timeout_ms: 2000 } },
		providers: { echo: { kind: 'openai', base_url: echo.origin, api_key: 'k', allow_private_network: true } },
	});
	const token = await product.accessToken();
	const front = await startFront(product);
	const next = seededNumbers(seed);

	let isOver = false;
	const strange: string[] = [];
	let good = 0;
	const users = Array.from({ length: 3 }, async (_, user) => {
		for (let index = 0; !isOver || index < 20; index++) {
			const text = `words of user ${user}, call ${index}`;
			const response = await call(front.url, token, { model: 'echo/m', text });
			const httpResponse = await response.text();
			if (response.status !== 200 || !httpResponse.includes(`"${text}"`)) {
				strange.push(`${text}: ${response.status} ${httpResponse.slice(0, 200)}`);
			}
			good++;
			await sleep(5);
		}
	});
	const port = Number(new URL(front.url).port);
	let sent = 0;
	const attack = async (): Promise<void> => {
		while (sent < count) {
			const client = new RawClient(port).send(mutant(sent++, token, next));
			const untilMs = performance.now() + 400;
			while (!client.isEnded && !client.isClosed && performance.now() < untilMs) await sleep(10);
			client.destroy();
		}
	};
	await Promise.all(Array.from({ length: 6 }, attack));
	isOver = true;
	await Promise.all(users);
	expect(strange, `seed ${seed}`).toEqual([]);

	const received = (): string[] =>
		product.log.filter((line) => line['msg'] === 'request' && line['path'] !== '/healthz').map((line) => String(line['path']));
	const withResponse = (): Passed[] => front.passed().filter(({ hasResponse }) => hasResponse);
	await eventually(
		`all that was answered has been received: ${withResponse().length} answered, ${received().length} received, seed ${seed}`,
		() => (withResponse().length <= received().length ? true : undefined),
		10_000,
	);
	// The proxy logs a request at its end, some time after the gateway does.
	await eventually(
		`all that was received has been passed on: ${received().length} received, ${front.passed().length} passed on, seed ${seed}`,
		() => (received().length <= front.passed().length ? true : undefined),
		10_000,
	);
	const passed = front.passed();
	// Requests with a malformed head have no path in the gateway's log.
	const known = received().filter((path) => path !== '');
	const times = (path: string, paths: readonly string[]): number => paths.filter((one) => one === path).length;
	const fromFront = passed.map(({ path }) => path);
	const hidden = [...new Set(known)].filter((path) => times(path, known) > times(path, fromFront));
	expect(hidden, `nobody sent these, seed ${seed}`).toEqual([]);
	expect(good).toBeGreaterThan(50);
	const mutants = passed.filter(({ path }) => path.startsWith('/mutant/')).length;
	return { passed: mutants, unanswered: passed.length - withResponse().length, rejectedByFront: count - mutants };
}
