import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { randomFrom } from '../../test/support/policy-trace.ts';
import { recordedRequest } from '../../test/support/recorded-request.ts';
import { parseConfig } from '../config/load.ts';
import { silentLog } from '../core/log.ts';
import { noUsage } from '../core/usage.ts';
import { systemClock } from '../io/system-clock.ts';
import { openLedger, openRecords, openRequestRecords } from './open-stores.ts';
import { createReplayer } from './replayer.ts';

const requests = Number(process.env['REPLAY_REQUESTS'] ?? 1_000_000);
const teams = 50;
const maxSeconds = 60;
const maxBlockMs = 10;

/** Measures the CPU time of each turn of the event loop, which other processes on the machine do not lengthen. */
class TurnMeter {
	readonly #turnsMs: number[] = [];
	#lastMs = 0;
	#isRunning = false;

	start(): void {
		this.#isRunning = true;
		this.#lastMs = cpuMs();
		setImmediate(() => this.#turn());
	}

	stop(): { readonly p99Ms: number; readonly p999Ms: number; readonly maxMs: number } {
		this.#isRunning = false;
		const sorted = this.#turnsMs.toSorted((one, other) => one - other);
		const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
		return { p99Ms: at(0.99), p999Ms: at(0.999), maxMs: at(1) };
	}

	#turn(): void {
		const nowMs = cpuMs();
		this.#turnsMs.push(nowMs - this.#lastMs);
		this.#lastMs = nowMs;
		if (this.#isRunning) setImmediate(() => this.#turn());
	}
}

function cpuMs(): number {
	const { user, system } = process.threadCpuUsage();
	return (user + system) / 1000;
}

test(`replays ${requests} requests in under ${maxSeconds} s, without a block of the event loop over ${maxBlockMs} ms`, async () => {
	const folder = mkdtempSync(join(tmpdir(), 'replay-'));
	const registered = Array.from({ length: teams }, (_, team) => `{id: t${team}, tier: standard, client_ids: [t${team}-bot]}`);
	const text = `data_dir: ${folder}\nteams: {registered: [${registered.join(', ')}]}\n`;
	const { config } = parseConfig(text, { file: null, env: {} });
	const deps = { clock: systemClock, log: silentLog };
	const requestRecords = await openRequestRecords(config, deps);
	const random = randomFrom(1);
	const fromMs = Date.UTC(2026, 10, 1);
	let startedMs = fromMs;
	for (let index = 0; index < requests; index++) {
		startedMs += random(80);
		const team = `t${random(teams)}`;
		const durationMs = 200 + random(9000);
		requestRecords.add(
			recordedRequest(startedMs, index, {
				team,
				clientId: `${team}-bot`,
				durationMs,
				usage: { ...noUsage, inputTokens: random(3000), outputTokens: random(900) },
				targets: [{ provider: 'provider_b', model: 'gpt-4o', status: 200, code: null, ms: durationMs }],
			}),
		);
		if (index % 50_000 === 0) await requestRecords.find('req_000000000000');
	}
	await requestRecords.find('req_000000000000');
	const [records, ledger] = [await openRecords(config, deps), await openLedger(config, deps)];
	const replay = createReplayer(() => config, { records, ledger, requestRecords, clock: systemClock });
	const configPatch = { tiers: { standard: { rpm: 33, daily_tokens: 400_000_000, monthly_budget_usd: '300' } } };
	const turns = new TurnMeter();
	const [cpu, startMs] = [process.cpuUsage(), performance.now()];
	turns.start();
	const result = await replay({ configPatch, fromMs, toMs: startedMs + 1 });
	const block = turns.stop();
	const seconds = (performance.now() - startMs) / 1000;
	const { user, system } = process.cpuUsage(cpu);
	process.stdout.write(`${JSON.stringify({ seconds, cpuSeconds: (user + system) / 1e6, ...block, ...result, teams: 0, examples: 0 })}\n`);
	await Promise.all([requestRecords.end(), ledger.end(), records.close()]);
	rmSync(folder, { recursive: true });
	expect(result).toMatchObject({ requests });
	expect(seconds).toBeLessThan(maxSeconds);
	expect(block.p999Ms).toBeLessThan(maxBlockMs);
});
