import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { recordedRequest, rejectedRequest } from '../../test/support/recorded-request.ts';
import { runCommandLine } from '../../test/support/run-command-line.ts';
import { parseConfig } from '../config/load.ts';
import { silentLog } from '../core/log.ts';
import { noUsage } from '../core/usage.ts';
import { systemClock } from '../io/system-clock.ts';
import type { RecordedRequest, RequestRecordReader } from '../stores/contracts/request-records.ts';
import { openAdmin } from './open-admin.ts';
import { openLedger, openRecords, openRequestRecords } from './open-stores.ts';
import { createReplayer } from './replayer.ts';

const fromMs = Date.UTC(2026, 10, 21, 14, 30);
const deps = { clock: systemClock, log: silentLog };
const usage = { ...noUsage, inputTokens: 1000, outputTokens: 1000 };
/** Cost of the usage with gpt-4o, in nano-dollars. */
const costNanoUsd = 12_500_000n;

function served(startedMs: number, sequence: number, changed: Partial<RecordedRequest> = {}): RecordedRequest {
	return recordedRequest(startedMs, sequence, { usage, costNanoUsd, ...changed });
}

describe('a replay over the stores of a configuration', () => {
	let folder: string;
	let file: string;
	beforeEach(() => {
		folder = mkdtempSync(join(tmpdir(), 'replay-'));
		file = join(folder, 'tollgate.yaml');
	});
	afterEach(() => rmSync(folder, { recursive: true }));

	const configure = (tier: string): void =>
		writeFileSync(
			file,
			`data_dir: ${join(folder, 'data')}\ntiers: {sandbox: {${tier}}}\nteams: {registered: [{id: red, tier: sandbox, client_ids: [red-bot]}]}\n`,
		);

	const record = async (requests: readonly RecordedRequest[], spentMs: readonly number[] = []): Promise<void> => {
		const { config } = parseConfig(`data_dir: ${join(folder, 'data')}\n`, { file, env: {} });
		const records = await openRequestRecords(config, deps);
		for (const request of requests) records.add(request);
		await records.end();
		const ledger = await openLedger(config, deps);
		for (const [index, startedMs] of spentMs.entries()) {
			const id = `req_spent${index}`;
			await ledger.open({
				id,
				startedMs,
				team: 'red',
				clientId: 'red-bot',
				provider: 'provider_b',
				model: 'gpt-4o',
				dialect: 'chat',
				isStreaming: false,
				priceVersion: 'x',
				reservedNanoUsd: 0n,
				budgets: ['*'],
				endpoint: '/v1/chat/completions',
				attributes: '',
			});
			const closed = { id, endedMs: startedMs, outcome: 'complete' as const, status: 200, usage, costNanoUsd, isEstimated: false };
			await new Promise<void>((resolve) => ledger.close(closed, () => resolve()));
		}
		await ledger.end();
	};

	const run = async (more: string) =>
		runCommandLine(`replay --config ${file} --from 2026-11-21T14:30:00Z --to 2026-11-21T15:30:00Z --json ${more}`, {
			openAdmin: (options) => openAdmin(options, {}),
		});

	it('counts what the ledger has before the span, and requests of the hour as recorded', async () => {
		// Each costs 0.0125: four before the hour, four in the hour before the span, and four in it.
		const hourMs = Date.UTC(2026, 10, 21, 14);
		const spent = [-3, -2, -1].map((days) => hourMs + days * 86_400_000);
		const before = [0, 1, 2, 3].map((index) => served(hourMs + index * 60_000, index));
		const inside = [0, 1, 2, 3].map((index) => served(fromMs + index * 60_000, 10 + index));
		const outside = served(fromMs + 3_600_000, 20);
		await record([...before, ...inside, outside], [...spent, hourMs - 1, ...before.map((_, index) => hourMs + index * 60_000)]);
		configure('monthly_budget_usd: "0.125"');
		const { code, out, err } = await run('');
		expect(err).toBe('');
		expect(code).toBe(0);
		expect(JSON.parse(out)).toMatchObject({
			requests: 4,
			same: 2,
			rejected: 2,
			rejected_by_code: { budget_exceeded: 2 },
			cost_usd_before: '0.05',
			cost_usd_after: '0.025',
			teams: [{ team: 'red', requests: 4, rejected: 2 }],
			examples: [{ change: 'rejected', code: 'budget_exceeded', target_before: 'provider_b/gpt-4o', target_after: null }, {}],
		});
	});

	it('exits with 3 if the condition is met', async () => {
		await record([0, 1, 2].map((index) => served(fromMs + index, index)));
		configure('rpm: 2');
		expect(await run('--fail-if rejected>33%')).toMatchObject({ code: 3, err: '--fail-if rejected>33%: the condition is met\n' });
		expect(await run('--fail-if rejected>34%')).toMatchObject({ code: 0, err: '' });
		expect(await run('--fail-if rejects>34%')).toMatchObject({ code: 1, err: expect.stringContaining('unknown field rejects') as string });
	});

	it('reports admitted, rerouted and capped requests, and keeps what other rules decided', async () => {
		await record([
			served(fromMs, 0, { ...rejectedRequest, code: 'rpm_limit_exceeded' }),
			served(fromMs + 1000, 1, { ...rejectedRequest, code: 'guardrail_blocked', status: 400 }),
			served(fromMs + 2000, 2, { modelRequested: 'aliased' }),
			served(fromMs + 3000, 3),
		]);
		configure('rpm: null');
		writeFileSync(
			file,
			`data_dir: ${join(folder, 'data')}\nteams: {registered: [{id: red, tier: sandbox, client_ids: [red-bot]}]}\nrouting: {aliases: {aliased: provider_b/gpt-4o-mini}}\nbudgets: {default_max_output_tokens: {models: {gpt-4o: 500}}}\n`,
		);
		const { out } = await run('');
		expect(JSON.parse(out)).toMatchObject({ requests: 4, same: 1, rejected: 0, admitted: 1, rerouted: 1, capped: 1 });
	});

	it('runs once at a time, within its bounds, and names the mistakes of a patch', async () => {
		await record(Array.from({ length: 40 }, (_, index) => served(fromMs + index, index)));
		const { config } = parseConfig(`data_dir: ${join(folder, 'data')}\n`, { file, env: {} });
		const records = await openRecords(config, deps);
		const requestRecords: RequestRecordReader = await openRequestRecords(config, deps);
		const ledger = await openLedger(config, deps);
		const stores = { records, requestRecords, ledger, clock: systemClock };
		const replay = createReplayer(() => config, stores, { maxRequests: 10, maxMs: 60_000 });
		const span = { configPatch: {}, fromMs, toMs: fromMs + 20 };
		const [first, second] = await Promise.allSettled([replay({ ...span, toMs: fromMs + 10 }), replay(span)]);
		expect(first).toMatchObject({ status: 'fulfilled', value: { requests: 10 } });
		expect(second).toMatchObject({ reason: { code: 'replay_running' } });
		await expect(replay({ ...span, toMs: fromMs + 40 })).rejects.toMatchObject({ code: 'replay_too_large' });
		await expect(replay({ ...span, configPatch: { tiers: { sandbox: { rpm: 'x' } } } })).rejects.toMatchObject({
			code: 'fields_invalid',
			errors: [{ path: 'config_patch.tiers.sandbox.rpm' }],
		});
		await Promise.all([requestRecords.end(), ledger.end(), records.close()]);
	});
});
