/** Four times the capacity of one core for a minute. Measurements assume an otherwise idle machine. */
import { execFileSync } from 'node:child_process';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { print } from '../support/accounting-print.ts';
import { call, client, planProduct, requestStatus, simulatedProviders, untilReady, writeSettings } from '../support/deployment.ts';
import { loadSteadily, p99Ms, type TimedResponse } from '../support/open-load.ts';
import { cpuMs } from '../support/process-memory.ts';
import { launcher, startProcess } from '../support/processes.ts';
import { eventually, fetchAccessToken, freePort } from '../support/product.ts';
import { readStream } from '../support/read-stream.ts';
import { startLeisurelyProvider } from '../support/slow-provider.ts';

const withStatus = (responses: readonly TimedResponse[], status: number): TimedResponse[] =>
	responses.filter((response) => response.status === status);

test('accepted requests stay fast, others are rejected at once, health responds, streams continue, then all recovers', async () => {
	const seconds = Number(process.env['OVERLOAD_SECONDS'] ?? 60);
	const base = await planProduct({ roles: ['identity', 'simulator'] });
	// Clients and provider share one core. The gateway's main thread, the bottleneck, has another.
	execFileSync('taskset', ['-a', '-p', '-c', '1', String(process.pid)], { stdio: 'ignore' });
	startProcess('taskset', ['-c', '1', process.execPath, launcher, 'start', '--config', base.configPath]);
	const jwks = `${base.identityUrl}/.well-known/jwks.json`;
	await eventually(
		'the identity is there',
		async () => ((await fetch(jwks).catch(() => undefined))?.ok === true ? true : undefined),
		15_000,
	);
	const port = await freePort();
	const url = `http://127.0.0.1:${port}`;
	const configPath = `${base.directory}/gateway.json`;
	writeSettings(configPath, {
		roles: ['edge', 'gateway'],
		auth: { issuer: base.identityUrl, jwks_uri: jwks },
		data_dir: `${base.directory}/gateway`,
		gateway: { listen: `127.0.0.1:${port}` },
		edge: { firewall: { per_ip: { requests: 100_000_000 } } },
		teams: { unregistered_clients: { tier: 'enterprise' } },
		providers: {
			...simulatedProviders(base.simulatorUrl),
			leisurely: { kind: 'anthropic', base_url: (await startLeisurelyProvider(200)).url, api_key: 'k', allow_private_network: true },
		},
		enable_guardrails: true,
		enforce_guardrails: true,
		log: { level: 'warn' },
	});
	const gateway = startProcess('taskset', ['-c', '0,1', process.execPath, launcher, 'start', '--config', configPath]);
	await untilReady(url, gateway);
	const token = await fetchAccessToken(`${base.identityUrl}/oauth2/token`, client);
	// Long conversation, translated and checked by guardrails: much work for the gateway and little for the client. The rates stay within the
	// capacity of the test, so the gateway is the bottleneck.
	const messages = Array.from({ length: 1200 }, () => ({ role: 'user', content: 'a few words' }));
	const body = JSON.stringify({ model: 'leisurely/x', max_tokens: 9, messages });
	const bytes =
		`POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n` +
		`Content-Length: ${body.length}\r\n\r\n${body}`;
	const load = (perSecond: number, forSeconds: number): Promise<TimedResponse[]> =>
		loadSteadily({ port, bytes, perSecond, seconds: forSeconds });

	// Warm-up: the cost of a request falls with compiled code and with load.
	for (const rate of [25, 50, 100]) await load(rate, 4);
	const cpuBefore = cpuMs(gateway.pid);
	const calm = await load(100, 5);
	const cpuPerRequest = (cpuMs(gateway.pid) - cpuBefore) / calm.length;
	const capacity = Math.round(1000 / cpuPerRequest);
	const normal = await load(capacity / 4, 8);
	const p99NormalMs = p99Ms(normal);

	let isOver = false;
	const healthMs: number[] = [];
	const health = (async () => {
		while (!isOver) {
			const startMs = performance.now();
			const status = (await fetch(`${url}/healthz`)).status;
			if (status !== 200) throw new Error(`health: ${status}`);
			healthMs.push(performance.now() - startMs);
			await sleep(100);
		}
	})();
	const stream = call(url, token, { isStreaming: true, model: 'gpt-sim-tokens-200-interval-50' }).then(async (response) =>
		readStream(response),
	);
	await sleep(200);
	const lag = monitorEventLoopDelay({ resolution: 5 });
	lag.enable();
	const overload = await load(4 * capacity, seconds);
	lag.disable();
	isOver = true;
	await health;
	const steady = overload.filter(({ sentMs }) => sentMs > 5000);
	const accepted = withStatus(steady, 200);
	const rejected = withStatus(steady, 503);
	const endedMs = performance.now();
	await eventually(
		'all is taken again',
		async () => {
			for (let index = 0; index < 20; index++) if ((await requestStatus(url, token)) !== 200) return undefined;
			return true;
		},
		30_000,
	);
	const report = {
		capacity,
		p99NormalMs: Math.round(p99NormalMs),
		offered: overload.length,
		accepted: accepted.length,
		rejected: rejected.length,
		lost: steady.length - accepted.length - rejected.length,
		acceptedP99Ms: Math.round(p99Ms(accepted)),
		rejectedP99Ms: Math.round(p99Ms(rejected)),
		ownLagP99Ms: Math.round(lag.percentile(99) / 1e6),
		healthP99Ms: Math.round(healthMs.toSorted((left, right) => left - right)[Math.floor(healthMs.length * 0.99)] ?? Number.NaN),
		recoveredMs: Math.round(performance.now() - endedMs),
	};
	print(JSON.stringify(report));
	const { text, isBroken } = await stream;
	expect([isBroken, text.endsWith('data: [DONE]\n\n')]).toEqual([false, true]);
	expect(accepted.length).toBeGreaterThan(0);
	expect(report.acceptedP99Ms).toBeLessThan(3 * p99NormalMs);
	expect(report.rejectedP99Ms).toBeLessThan(50);
	expect(report.healthP99Ms).toBeLessThan(100);
	expect(report.recoveredMs).toBeLessThan(5000);
}, 300_000);
