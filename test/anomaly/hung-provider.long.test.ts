/** Measurements assume an otherwise idle machine. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { print } from '../support/accounting-print.ts';
import { client, planProduct, untilReady } from '../support/deployment.ts';
import { loadSteadily, p99Ms, type TimedResponse } from '../support/open-load.ts';
import { launcher, startProcess } from '../support/processes.ts';
import { fetchAccessToken } from '../support/product.ts';
import { startLeisurelyProvider } from '../support/slow-provider.ts';

test('a provider that hangs changes the p99 of the other by less than a fifth', async () => {
	const provider = { kind: 'anthropic', api_key: 'k', allow_private_network: true };
	const [steady, hanging] = [await startLeisurelyProvider(200), await startLeisurelyProvider(undefined)];
	const plan = await planProduct({
		providers: {
			steady: { ...provider, base_url: steady.url },
			hung: { ...provider, base_url: hanging.url },
		},
		edge: { firewall: { per_ip: { requests: 1_000_000 } }, overload: { loop_delay_ms: 60_000 } },
		log: { level: 'warn' },
	});
	const gateway = startProcess(process.execPath, [launcher, 'start', '--config', plan.configPath]);
	await untilReady(plan.gatewayUrl, gateway);
	const accessToken = await fetchAccessToken(`${plan.identityUrl}/oauth2/token`, client);
	const load = (model: string, perSecond: number, seconds: number): Promise<TimedResponse[]> => {
		const body = JSON.stringify({ model, max_tokens: 9, messages: [{ role: 'user', content: 'a few words' }] });
		const bytes =
			`POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${accessToken}\r\nContent-Type: application/json\r\n` +
			`Content-Length: ${body.length}\r\n\r\n${body}`;
		return loadSteadily({ port: Number(new URL(plan.gatewayUrl).port), bytes, perSecond, seconds });
	};
	await load('steady/x', 100, 5);
	const alone = await load('steady/x', 100, 15);
	const responses = load('hung/x', 50, 16);
	await sleep(1000);
	const beside = await load('steady/x', 100, 15);
	const report = { aloneP99Ms: p99Ms(alone), besideP99Ms: p99Ms(beside), hung: hanging.calls, answered: (await responses).length };
	print(JSON.stringify(report));
	for (const { status } of [...alone, ...beside]) expect(status).toBe(200);
	expect([report.hung > 700, report.answered]).toEqual([true, 0]);
	expect(report.besideP99Ms).toBeLessThan(1.2 * report.aloneP99Ms);
}, 120_000);
