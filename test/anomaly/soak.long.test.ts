/**
 * Soak test with every layer on, for SOAK_MINUTES (30), at SOAK_RPS requests per second (300) with SOAK_STREAMS open streams (200). Nothing
 * fails, latencies stay low, and neither memory nor handles grow. Durations assume an otherwise idle machine.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { print } from '../support/accounting-print.ts';
import { client, planProduct, simulatedProviders, statusOf, untilReady, writeSettings } from '../support/deployment.ts';
import { megabyte, residentBytes } from '../support/process-memory.ts';
import { launcher, startProcess } from '../support/processes.ts';
import { eventually, freePort } from '../support/product.ts';
import type { SoakPlan, SoakReport } from '../support/soak-load.ts';

const numberOf = (name: string, otherwise: number): number => Number(process.env[name] ?? otherwise);
const minutes = numberOf('SOAK_MINUTES', 30);
const perSecond = numberOf('SOAK_RPS', 300);
const streams = numberOf('SOAK_STREAMS', 200);
/** Warm-up, whose growth is not a leak: caches, pools, compiled code. */
const warmUpMinutes = Math.min(5, minutes / 3);
const sampleMs = 2000;
const maxAddedMs = 20;
const windows = 10;

interface Sample {
	readonly minute: number;
	readonly megabytes: number;
	readonly handles: number;
}

test(
	'nothing fails and nothing grows',
	async () => {
		const base = await planProduct({ roles: ['identity', 'simulator'] });
		const hub = startProcess(process.execPath, [launcher, 'start', '--config', base.configPath]);
		const keySetUrl = `${base.identityUrl}/.well-known/jwks.json`;
		await eventually('the identity is there', async () => ((await statusOf(keySetUrl)) === 200 ? true : undefined), 20_000);
		const [gatewayPort, metricsPort, adminPort] = [await freePort(), await freePort(), await freePort()];
		const gatewayUrl = `http://127.0.0.1:${gatewayPort}`;
		const path = join(base.directory, 'gateway.json');
		writeSettings(path, {
			roles: ['edge', 'gateway', 'admin'],
			enable_admin_api: true,
			data_dir: join(base.directory, 'gateway'),
			auth: { issuer: base.identityUrl, jwks_uri: keySetUrl },
			gateway: { listen: `127.0.0.1:${gatewayPort}` },
			admin: { listen: `127.0.0.1:${adminPort}` },
			metrics: { listen: `127.0.0.1:${metricsPort}` },
			edge: { firewall: { per_ip: { requests: 100_000_000 } }, overload: { loop_delay_ms: 60_000 } },
			tiers: { enterprise: { rpm: 1_000_000, daily_tokens: 1_000_000_000_000, monthly_budget_usd: '1000000' } },
			teams: { unregistered_clients: { tier: 'enterprise' } },
			enable_guardrails: true,
			enforce_guardrails: true,
			guardrails: {
				content: { hate: 'medium', violence: 'medium', sexual: 'medium', misconduct: 'medium', prompt_attack: 'medium' },
				pii: { types: { ssn: 'block', card: 'block', email: 'mask', phone: 'mask' } },
				words: ['project falke'],
			},
			providers: simulatedProviders(base.simulatorUrl),
		});
		const gateway = startProcess(process.execPath, [launcher, 'start', '--config', path]);
		await untilReady(gatewayUrl, gateway);
		const plan: SoakPlan = {
			gatewayUrl,
			simulatorUrl: base.simulatorUrl,
			tokenUrl: `${base.identityUrl}/oauth2/token`,
			client,
			perSecond,
			streams,
			warmUpMs: warmUpMinutes * 60_000,
		};
		const load = startProcess(process.execPath, [join(import.meta.dirname, '../support/soak-load.ts'), JSON.stringify(plan)]);
		const lastReport = (): SoakReport | undefined => load.log.at(-1) as SoakReport | undefined;

		const samples: Sample[] = [];
		const startMs = performance.now();
		let nextPrintMinute = 0;
		for (let minute = 0; minute < minutes; minute = (performance.now() - startMs) / 60_000) {
			await sleep(sampleMs);
			samples.push({ minute, megabytes: residentBytes(gateway.pid) / megabyte, handles: handlesOf(gateway.pid) });
			await fetch(`http://127.0.0.1:${metricsPort}/metrics`).then((response) => response.arrayBuffer());
			if (minute >= nextPrintMinute) print(`${nextPrintMinute++} min: ${JSON.stringify(samples.at(-1))} ${JSON.stringify(lastReport())}`);
			expect([gateway.child.exitCode, load.child.exitCode, hub.child.exitCode], `${gateway.stderr}${load.stderr}`).toEqual([
				null,
				null,
				null,
			]);
		}
		load.child.kill('SIGTERM');
		expect(await load.ended).toEqual({ code: 0, signal: null });

		const report = lastReport();
		const steady = samples.filter(({ minute }) => minute >= warmUpMinutes);
		const slope = slopeOf(floorsOf(steady));
		const [first, last] = [steady.slice(0, steady.length / 4), steady.slice(-steady.length / 4)];
		const handles = {
			maxAtFirst: Math.max(...first.map((one) => one.handles)),
			minAtLast: Math.min(...last.map((one) => one.handles)),
		};
		const addedP99 = (report?.gatewayP99 ?? Number.NaN) - (report?.directP99 ?? Number.NaN);
		print(JSON.stringify({ minutes, perSecond, streams, slope, handles, addedP99, first: first[0], last: last.at(-1), report }));

		expect(report?.failures).toEqual({});
		expect(report?.skipped, 'this machine carries the rate').toBe(0);
		expect(report?.answered).toBeGreaterThan(minutes * 60 * perSecond * 0.95);
		expect(report?.streamed).toBeGreaterThan(streams);
		expect(addedP99, 'milliseconds').toBeLessThan(maxAddedMs);
		// Limit of growth. Within a few minutes the heap's fluctuation exceeds a leak, so the limit is the total that half an hour may
		// accumulate.
		expect(slope, 'megabytes a minute').toBeLessThan(Math.max(1, 25 / (minutes - warmUpMinutes)));
		expect(handles.minAtLast, 'handles').toBeLessThanOrEqual(handles.maxAtFirst);
	},
	(minutes + 3) * 60_000,
);

function handlesOf(pid: number): number {
	return readdirSync(`/proc/${pid}/fd`).length;
}

/** Minimum memory of each window: a leak raises the memory that remains after a collection. */
function floorsOf(samples: readonly Sample[]): Sample[] {
	const length = Math.ceil(samples.length / windows);
	return Array.from({ length: windows }, (_, index) => samples.slice(index * length, (index + 1) * length))
		.filter((window) => window.length > 0)
		.map((window) => window.reduce((min, one) => (one.megabytes < min.megabytes ? one : min)));
}

/** Slope by least squares, in megabytes per minute. */
function slopeOf(samples: readonly Sample[]): number {
	const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
	const minute = mean(samples.map((one) => one.minute));
	const level = mean(samples.map((one) => one.megabytes));
	const rise = samples.reduce((sum, one) => sum + (one.minute - minute) * (one.megabytes - level), 0);
	return rise / samples.reduce((sum, one) => sum + (one.minute - minute) ** 2, 0);
}
