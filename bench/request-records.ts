/** CPU of a request's record, all threads included: `node bench/request-records.ts [CLIENTS]`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { recordRequests } from '../src/composition/record-requests.ts';
import { silentLog } from '../src/core/log.ts';
import { RequestRecord } from '../src/core/request-record.ts';
import { createRequestIds } from '../src/io/request-ids.ts';
import type { RequestLogEntry } from '../src/io/request-log.ts';
import { systemClock } from '../src/io/system-clock.ts';
import { openSqliteRequestRecords } from '../src/stores/sqlite/sqlite-request-records.ts';

const clients = Number(process.argv[2] ?? 1);
const requests = 50_000;
const requestsPerMs = 20;
const rounds = 9;

const newId = createRequestIds(systemClock);

function entryOf(index: number): RequestLogEntry {
	const model = 'gpt-4o-mini';
	const provider = 'provider_b';
	const record = Object.assign(new RequestRecord(), {
		endpoint: '/v1/chat/completions',
		clientId: `client-${index % clients}`,
		team: `team-${index % Math.ceil(clients / 10)}`,
		modelRequested: model,
		provider,
		model,
		firstByteMs: 3 + (index % 70) / 10,
		isStreaming: false,
		requestBytes: 1000 + (index % 50),
		inputTokens: 200 + (index % 90),
		outputTokens: 20 + (index % 40),
		costNanoUsd: BigInt(1000 + index),
		targets: [{ provider, model, status: 200, code: null, ms: 2 + (index % 60) / 10 }],
	});
	return {
		requestId: newId(),
		method: 'POST',
		target: '/v1/chat/completions',
		status: 200,
		outcome: 'complete',
		durationMs: 4 + (index % 80) / 10,
		requestBytes: 1000,
		responseBytes: 700,
		peer: '127.0.0.1',
		code: undefined,
		record,
	};
}

/** @returns microseconds of CPU for each request. */
async function measure(observe: (entry: RequestLogEntry) => void, written: () => Promise<unknown>): Promise<number> {
	const before = process.cpuUsage();
	for (let index = 0; index < requests; index++) {
		observe(entryOf(index));
		if (index % (requestsPerMs * 10) === 0) await sleep(1);
	}
	await written();
	const { user, system } = process.cpuUsage(before);
	return (user + system) / requests;
}

const dataDir = mkdtempSync(join(tmpdir(), 'bench-request-records-'));
const records = openSqliteRequestRecords({ dataDir, retainDays: 30, maxBytes: 2 ** 31 }, { clock: systemClock, log: silentLog });
const record = recordRequests(records).observe;
const written = (): Promise<unknown> => records.find('req_');
await measure(record, written);
const differences: number[] = [];
for (let round = 0; round < rounds; round++) {
	const off = await measure(
		() => undefined,
		async () => undefined,
	);
	const on = await measure(record, written);
	differences.push(on - off);
}
await records.end();
rmSync(dataDir, { recursive: true });
const sorted = differences.toSorted((one, other) => one - other);
const shown = (value: number | undefined): string => (value ?? 0).toFixed(2);
process.stdout.write(
	`${clients} clients: ${shown(sorted[Math.floor(rounds / 2)])} µs a request (${shown(sorted[0])} to ${shown(sorted.at(-1))})\n`,
);
