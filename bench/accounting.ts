/**
 * `node bench/accounting.ts`: CPU time that admission, ledger and usage parsing add to the thread that serves requests. The gateway's
 * handler runs with an instant provider, once with the stores of an installation and once with stores that do nothing.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { streamOf } from '../src/core/byte-stream.ts';
import type { HttpRequest } from '../src/core/handler.ts';
import { noMetrics } from '../src/core/metrics.ts';
import { createRequestIds } from '../src/io/request-ids.ts';
import { systemClock } from '../src/io/system-clock.ts';
import { measureInput } from '../src/policy/budgets/estimate.ts';
import { createGateway, type Gateway } from '../src/roles/gateway/gateway.ts';
import type { GatewayPorts } from '../src/roles/gateway/gateway-settings.ts';
import { TrafficResolver } from '../src/roles/gateway/traffic-resolver.ts';
import { UnpricedModels } from '../src/roles/gateway/unpriced-models.ts';
import { createMemoryAdmission } from '../src/stores/memory/memory-admission.ts';
import { createMemoryResponseOwners } from '../src/stores/memory/memory-response-owners.ts';
import { restoreMissing } from '../src/stores/restoring-admission.ts';
import { openSqliteLedger } from '../src/stores/sqlite/sqlite-ledger.ts';
import { noReasoningEncryption } from '../src/wire/conversation/reasoning-encryption.ts';
import { chat } from '../src/wire/dialects/chat/chat.ts';
import { parseBody } from '../src/wire/json/parse-body.ts';
import { meterResponse, readReportedUsage } from '../src/wire/usage/usage-meter.ts';
import { chatUsage } from '../src/wire/usage/usage-reader.ts';
import { callerOf, teamDirectory, testSettings } from '../test/support/gateway-bench.ts';
import { chatRequest, chatResponse } from './workloads.ts';

const rounds = 25;
const requestsPerRound = 20_000;
const callers = 64;

const log = { debug() {}, info() {}, warn: console.log, error: console.log };
const newId = createRequestIds(systemClock);
const body = Buffer.from(chatRequest(1024));
const httpResponse = Buffer.from(chatResponse);

/** Microseconds of CPU per request: of the thread that serves requests, and of all others. */
interface Cost {
	readonly serving: number;
	readonly others: number;
}

type Stores = Pick<GatewayPorts, 'admission' | 'ledger'>;

const directory = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
const ledger = await openSqliteLedger({ dataDir: directory, durability: 'process', retainDays: null }, { clock: systemClock, log });
const admission = restoreMissing(createMemoryAdmission({ clock: systemClock }), {
	clock: systemClock,
	sumUp: async (team, requested) => ({
		team,
		tokensToday: 0,
		budgets: requested.map((budget) => ({ ...budget, settledNanoUsd: 0n })),
		endedIds: [],
	}),
	endedSinceMs: () => systemClock.nowMs(),
});
const reading = { nowMs: systemClock.nowMs(), requestsThisMinute: 1, tokensToday: 1, reservedTokens: 0, rates: [], budgets: [] };
const idle: Stores = {
	ledger: { open: () => ({ failure: undefined }), close: (_row, onClosed) => onClosed('closed'), assess: () => undefined },
	admission: {
		...admission,
		admit: async () => ({ isAdmitted: true, reading }),
		settle: async () => ({ isDuplicate: false, isLate: false, budgets: [] }),
	},
};

try {
	const gateways = { idle: open(idle), real: open({ admission, ledger }) };
	const cpuUs = { idle: [] as Cost[], real: [] as Cost[] };
	for (let round = 0; round < rounds; round++) {
		// Alternation: other processes of the machine disturb both equally.
		cpuUs.idle.push(await run(gateways.idle));
		cpuUs.real.push(await run(gateways.real));
	}
	const ofBoth = (thread: keyof Cost): number => min(cpuUs.real, thread) - min(cpuUs.idle, thread);
	const stores = ofBoth('serving');
	const usage = readingUs();
	console.log(`admission and ledger: ${stores.toFixed(1)} us of the main thread a call, ${callers} calls at once`);
	console.log(`measuring the request and reading the answer's usage: ${usage.toFixed(1)} us`);
	console.log(`together: ${(stores + usage).toFixed(1)} us`);
	console.log(`beside it, the ledger's thread and those that collect garbage: ${ofBoth('others').toFixed(1)} us a call`);
} finally {
	await ledger.end();
	rmSync(directory, { recursive: true, force: true });
}

function open(stores: Stores): Gateway {
	const tier = { requestsPerMinute: 1_000_000_000, dailyTokens: 1_000_000_000_000, monthlyBudgetUsd: '1000000' };
	return createGateway(
		{ ...testSettings, tiers: { sandbox: tier, standard: tier } },
		{
			...stores,
			responseOwners: createMemoryResponseOwners({ clock: systemClock }),
			upstream: async () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: streamOf([httpResponse]) }),
			verifier: { verify: () => callerOf('client') },
			reasoningEncryption: () => noReasoningEncryption,
			teams: teamDirectory(),
			unpriced: new UnpricedModels(),
			traffic: new TrafficResolver({ clock: systemClock, log, metrics: noMetrics, chance: Math.random }),
			clock: systemClock,
			log,
			readiness: () => ({ isReady: true, dependencies: {} }),
		},
	);
}

/** Minimum over the rounds, because other processes of the machine only add cost. */
function min(costs: readonly Cost[], thread: keyof Cost): number {
	return Math.min(...costs.map((cost) => cost[thread]));
}

async function run(gateway: Gateway): Promise<Cost> {
	let left = requestsPerRound;
	const before = { serving: process.threadCpuUsage(), all: process.cpuUsage() };
	await Promise.all(
		Array.from({ length: callers }, async () => {
			while (left-- > 0) {
				const response = await gateway.handle(request());
				if (response.status !== 200) throw new Error(`status ${response.status}`);
			}
		}),
	);
	await gateway.settled();
	const serving = microseconds(process.threadCpuUsage(before.serving)) / requestsPerRound;
	return { serving, others: microseconds(process.cpuUsage(before.all)) / requestsPerRound - serving };
}

function microseconds({ user, system }: NodeJS.CpuUsage): number {
	return user + system;
}

function request(): HttpRequest {
	return {
		id: newId(),
		method: 'POST',
		path: '/v1/chat/completions',
		query: '',
		headers: { authorization: 'Bearer good', 'content-type': 'application/json' },
		peer: '127.0.0.1',
		arrivedMs: systemClock.monotonicMs(),
		announcedLength: body.length,
		body: streamOf([body]),
		onClientDisconnect: () => undefined,
	} as unknown as HttpRequest;
}

function readingUs(): number {
	const parsed = parseBody(body, new Set());
	const times = 50_000;
	const once = (): void => {
		measureInput(parsed, chat.inputContent(parsed.members), 'gpt-4o');
		meterResponse(httpResponse, readReportedUsage(httpResponse, chatUsage).usage, chatUsage, 1);
	};
	for (let warm = 0; warm < times; warm++) once();
	const before = process.threadCpuUsage();
	for (let count = 0; count < times; count++) once();
	return microseconds(process.threadCpuUsage(before)) / times;
}
