import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { closeEntry } from '../../../test/support/close-entry.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { createMemoryLedger } from '../../../test/support/memory-ledger.ts';
import { createRecordingLog } from '../../../test/support/recording-log.ts';
import { requireProgram } from '../../../test/support/system-programs.ts';
import { UpstreamError } from '../../core/upstream-error.ts';
import { boundedAttributesContract } from '../contracts/attributes.contract.ts';
import { closedEntry, ledgerContract, ledgerNoonMs, openEntry } from '../contracts/ledger.contract.ts';
import { type Ledger, summaryNames } from '../contracts/ledger.ts';
import { StoreUnusable } from '../contracts/store-unusable.ts';
import { ledgerSchema } from './ledger/ledger-schema.ts';
import { migrate } from './migrate.ts';
import { openSqliteLedger, openSqliteLedgerReader, type SqliteLedgerSettings } from './sqlite-ledger.ts';

const hourMs = 3_600_000;

// Threads take long to start, so that one ledger serves all tests.
let contracted: { readonly ledger: Ledger; readonly dataDir: string } | undefined;
ledgerContract('sqlite', async () => {
	if (contracted === undefined) {
		const dataDir = makeDirectory();
		const ledger = await openSqliteLedger(settings(dataDir), { clock: new ManualClock(), log: createRecordingLog() });
		contracted = { ledger, dataDir };
	}
	const { ledger, dataDir } = contracted;
	return {
		ledger,
		async dispose() {
			// A read first writes what is queued.
			await ledger.list({ limit: 1 });
			change(dataDir, 'DELETE FROM calls; DELETE FROM hourly; DELETE FROM daily; UPDATE progress SET pruned_before_ms = 0');
		},
	};
});
afterAll(async () => {
	if (contracted === undefined) return;
	await contracted.ledger.end();
	rmSync(contracted.dataDir, { recursive: true });
});

boundedAttributesContract(async () => (await open()).ledger);

test('any sequence of operations leaves the same entries and sums as in memory', async () => {
	const { ledger } = await open();
	const model = createMemoryLedger();
	let round = 0;
	const operation = fc.record({
		kind: fc.constantFrom('open', 'open', 'close', 'close', 'close twice', 'prune'),
		request: fc.nat(12),
		team: fc.constantFrom('red', 'blue', ''),
		model: fc.constantFrom('claude', 'gpt', '__proto__'),
		endpoint: fc.constantFrom('', '/v1/messages'),
		attributes: fc.constantFrom('', '{"project":"a"}', '{"project":"a","user":"b"}'),
		hour: fc.nat(80),
		amount: fc.bigInt(0n, 10n ** 15n),
		tokens: fc.nat(10 ** 9),
		waits: fc.boolean(),
	});
	await fc.assert(
		fc.asyncProperty(fc.array(operation, { maxLength: 40 }), async (operations) => {
			round += 1;
			const pending: Promise<unknown>[] = [];
			const closes: Promise<unknown>[] = [];
			for (const { kind, request, team, model: name, endpoint, attributes, hour, amount, tokens, waits } of operations) {
				const id = request % 2 === 0 ? `req_${`${round}`.padStart(12, '0')}${`${request}`.padStart(20, '0')}` : `${round}-${request}`;
				const names = { team, model: name, endpoint, attributes };
				const opened = openEntry(id, { ...names, startedMs: ledgerNoonMs - hour * hourMs, reservedNanoUsd: amount });
				const closed = closedEntry(id, { usage: { ...closedEntry(id).usage, outputTokens: tokens }, costNanoUsd: amount });
				if (kind === 'prune') {
					await Promise.all([...pending, ...closes]);
					expect(await ledger.prune(ledgerNoonMs - hour * hourMs)).toBe(await model.prune(ledgerNoonMs - hour * hourMs));
				}
				if (kind === 'open') {
					// A batch writes its opens first, so that the close of a missing row would find one that is opened later.
					await Promise.all(closes.splice(0));
					for (const one of [ledger, model]) pending.push(Promise.resolve(one.open(opened)));
				}
				for (let times = kind === 'close' ? 1 : kind === 'close twice' ? 2 : 0; times > 0; times--) {
					const [outcome, expected] = [closeEntry(ledger, closed), await closeEntry(model, closed)];
					closes.push(outcome.then((what) => expect(what).toBe(expected)));
				}
				if (waits) await Promise.all([...pending, ...closes]);
			}
			await Promise.all([...pending, ...closes]);
			for (const period of ['hour', 'day', 'month'] as const) {
				const query = { fromMs: ledgerNoonMs - 50 * hourMs, toMs: ledgerNoonMs + hourMs, period, by: summaryNames };
				expect(await ledger.summarize(query)).toEqual(await model.summarize(query));
			}
			const [rows, expected] = [(await ledger.list({ limit: 1000 })).rows, (await model.list({ limit: 1000 })).rows];
			expect(rows).toEqual(expected);
			expect(await ledger.check()).toEqual([]);
		}),
		{ numRuns: 40 },
	);
});

test('a team’s sums wait for none over all teams', async () => {
	const { ledger, dataDir } = await open({});
	await ledger.open(openEntry('one', { team: 'red' }));
	const database = new DatabaseSync(join(dataDir, 'ledger.db'));
	const day = Math.floor(ledgerNoonMs / (24 * hourMs));
	database.exec(`
		WITH RECURSIVE teams (id) AS (SELECT 1000 UNION ALL SELECT id + 1 FROM teams WHERE id < 60000)
		INSERT INTO daily SELECT ${day}, id, id, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0 FROM teams`);
	database.close();
	const span = { fromMs: (day - 1) * 24 * hourMs, toMs: (day + 1) * 24 * hourMs, period: 'all', limit: 1 } as const;
	await ledger.summarize({ ...span, team: 'red' });
	const order: string[] = [];
	const wide = Array.from({ length: 5 }, () => ledger.summarize({ ...span, by: ['team'] }).then(() => order.push('all teams')));
	expect(await ledger.summarize({ ...span, team: 'red' })).toMatchObject([{ team: 'red', requests: 1 }]);
	order.push('one team');
	await Promise.all(wide);
	expect(order).toHaveLength(6);
	expect(order.at(-1)).toBe('all teams');
	await ledger.end();
});

describe('the file', () => {
	test('and its directory are for their owner only, and nothing else is left', async () => {
		const dataDir = join(temporaryDirectory(), 'deep', 'data');
		const { ledger } = await open({ dataDir });
		await ledger.open(openEntry('one'));
		const names = readdirSync(dataDir);
		expect(names.map((name) => name.replace(/[0-9a-f]{16}/, 'RUN')).toSorted()).toEqual([
			'ledger-run-RUN.0.journal',
			'ledger-run-RUN.1.journal',
			'ledger-run-RUN.lock',
			'ledger.db',
			'ledger.db-shm',
			'ledger.db-wal',
		]);
		const modes = ['', ...names].map((name) => (statSync(join(dataDir, name)).mode & 0o777).toString(8));
		expect(modes).toEqual(['700', ...names.map(() => '600')]);
		await ledger.end();
		expect(readdirSync(dataDir)).toEqual(['ledger.db']);
	});

	test('takes less than 300 bytes an entry, indexes and sums included', async () => {
		const { ledger, dataDir } = await open();
		const rows = 5000;
		const write = async (index: number): Promise<void> => {
			const id = `req_${index.toString(16).padStart(32, '0')}`;
			await ledger.open(openEntry(id, { team: `team-${index % 7}` }));
			await closeEntry(ledger, closedEntry(id));
		};
		await Promise.all(Array.from({ length: rows }, (_, index) => write(index)));
		await ledger.end();
		expect(statSync(join(dataDir, 'ledger.db')).size / rows).toBeLessThan(300);
	});

	test('has its entries when it is opened again', async () => {
		const { ledger, dataDir } = await open();
		await ledger.open(openEntry('one'));
		await closeEntry(ledger, closedEntry('one'));
		await ledger.end();
		const again = await open({ dataDir });
		const { id, ...closed } = closedEntry('one');
		expect((await again.ledger.list({ limit: 9 })).rows).toEqual([{ ...openEntry(id), closed }]);
		expect(await closeEntry(again.ledger, closedEntry('one'))).toBe('closed_before');
	});

	test.each(['process', 'power'] as const)('with durability %s is written', async (durability) => {
		const { ledger } = await open({ durability });
		await ledger.open(openEntry('one'));
		expect(await closeEntry(ledger, closedEntry('one'))).toBe('closed');
	});

	test('that is no database is named, with what to do', async () => {
		const dataDir = temporaryDirectory();
		writeFileSync(join(dataDir, 'ledger.db'), 'shopping list, rather longer than one header of a database file '.repeat(40));
		await expect(open({ dataDir })).rejects.toThrow(StoreUnusable);
		await expect(open({ dataDir })).rejects.toThrow(`${join(dataDir, 'ledger.db')} is not a Tollgate database`);
	});

	test('that is a directory is named', async () => {
		const dataDir = temporaryDirectory();
		mkdirSync(join(dataDir, 'ledger.db'));
		await expect(open({ dataDir })).rejects.toThrow(`${join(dataDir, 'ledger.db')} is a directory`);
		await expect(openSqliteLedgerReader({ dataDir })).rejects.toThrow(StoreUnusable);
	});

	test('of an earlier release is migrated: the estimated share of its sums is read from its entries', async () => {
		const dataDir = temporaryDirectory();
		const database = new DatabaseSync(join(dataDir, 'ledger.db'));
		migrate(database, ledgerSchema.slice(0, 3));
		database.exec(`
			INSERT INTO names VALUES (1, 'red'), (2, 'claude');
			INSERT INTO calls SELECT value, 'call' || value, ${ledgerNoonMs}, 1, 1, 1, 2, 0, 1, 1, 1, 0, 0, 5, 200, value % 2, 1, 0, 0, 0, 1, 0, 100, 0
				FROM json_each('[1, 2, 3]');
			INSERT INTO hourly VALUES (${Math.floor(ledgerNoonMs / hourMs)}, 1, 1, 1, 2, 3, 3, 0, 0, 0, 3, 0, 300);
			INSERT INTO daily VALUES (${Math.floor(ledgerNoonMs / (24 * hourMs))}, 1, 1, 1, 2, 3, 3, 0, 0, 0, 3, 0, 300)`);
		database.close();
		const { ledger } = await open({ dataDir });
		expect(await ledger.summarize({ fromMs: ledgerNoonMs, toMs: ledgerNoonMs + 1, period: 'month' })).toMatchObject([
			{ model: 'claude', costNanoUsd: 300n, estimatedCostNanoUsd: 200n },
		]);
		expect(await ledger.check()).toEqual([]);
	});

	test('of a newer release is not changed', async () => {
		const { ledger, dataDir } = await open();
		await ledger.end();
		change(dataDir, 'PRAGMA user_version = 99');
		await expect(open({ dataDir })).rejects.toThrow('it was written by a newer release (schema 99');
	});
});

test('without PostgreSQL nothing is noted for it', async () => {
	const { ledger, dataDir } = await open();
	await ledger.open(openEntry('one'));
	await closeEntry(ledger, closedEntry('one'));
	await ledger.open(openEntry('two'));
	await ledger.end();
	await (await open({ dataDir })).ledger.closeInterrupted();
	const database = new DatabaseSync(join(dataDir, 'ledger.db'));
	onTestFinished(() => database.close());
	expect(database.prepare("SELECT count(*) AS noted FROM sqlite_sequence WHERE name = 'outbox'").get()).toEqual({ noted: 0 });
});

describe('dead processes', () => {
	test('entries that an ended ledger left open are charged their reservation, once', async () => {
		const { ledger, dataDir } = await open();
		await ledger.open(openEntry('left', { team: 'blue', reservedNanoUsd: 777n, budgets: ['x', 'y'] }));
		await ledger.open(openEntry('closed'));
		await closeEntry(ledger, closedEntry('closed'));
		await ledger.end();
		const { ledger: next, clock } = await open({ dataDir });
		const { clientId, provider, model, dialect } = openEntry('left', { team: 'blue' });
		const names = { clientId, provider, model, dialect };
		const notified = { ...names, id: 'left', team: 'blue', startedMs: ledgerNoonMs, budgets: ['x', 'y'], costNanoUsd: 777n };
		expect(await next.closeInterrupted()).toEqual([notified]);
		expect(await next.closeInterrupted()).toEqual([]);
		const remaining = (await next.list({ team: 'blue', limit: 1 })).rows[0];
		expect(remaining?.closed).toMatchObject({
			outcome: 'interrupted',
			costNanoUsd: 777n,
			isEstimated: true,
			status: 0,
			endedMs: clock.nowMs(),
		});
		expect(await closeEntry(next, closedEntry('left'))).toBe('closed_before');
		expect(await next.check()).toEqual([]);
	});

	test('two that share the file do not interrupt each other, in one process or several', async () => {
		const { ledger, dataDir } = await open();
		await ledger.open(openEntry('ours'));
		const { ledger: second } = await open({ dataDir });
		await second.open(openEntry('theirs'));
		expect(await second.closeInterrupted()).toEqual([]);
		expect(await inAnotherProcess(dataDir, 'write("third"); print(await ledger.closeInterrupted())')).toBe('[]');
		expect(await closeEntry(ledger, closedEntry('ours'))).toBe('closed');
		expect((await ledger.closeInterrupted()).map(({ id }) => id)).toEqual(['third']);
		expect(await closeEntry(second, closedEntry('theirs'))).toBe('closed');
		expect(await ledger.check()).toEqual([]);
	});

	test('leave neither lock nor journal behind for long', async () => {
		const dataDir = temporaryDirectory();
		const body = 'write("one"); await ledger.open(row("two")); setImmediate(() => process.kill(process.pid, "SIGKILL"))';
		await inAnotherProcess(dataDir, body).catch(() => undefined);
		const files = (): string[] => readdirSync(dataDir).filter((name) => name.includes('-run-'));
		const remaining = files();
		expect(remaining).toHaveLength(3);
		const { ledger } = await open({ dataDir });
		expect((await ledger.closeInterrupted()).map(({ id }) => id)).toEqual(['one', 'two']);
		expect(files()).toHaveLength(3);
		expect(files().filter((name) => remaining.includes(name))).toEqual([]);
	});
});

describe('several processes', () => {
	test('another process reads while this one writes', async () => {
		const { ledger, dataDir } = await open();
		const writing = Promise.all(Array.from({ length: 500 }, async (_, index) => ledger.open(openEntry(`r${index}`))));
		const script = `
			import { openSqliteLedgerReader } from ${JSON.stringify(join(import.meta.dirname, 'sqlite-ledger.ts'))};
			const reader = await openSqliteLedgerReader({ dataDir: ${JSON.stringify(dataDir)} });
			for (let round = 0; round < 20; round++) {
				const differences = await reader.check();
				if (differences.length > 0) throw new Error(JSON.stringify(differences));
			}
			console.log((await reader.list({ limit: 1000 })).rows.length);
			await reader.end();`;
		await writing;
		const more = (async () => {
			for (let index = 0; index < 100; index++) await ledger.open(openEntry(`more${index}`));
		})();
		const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
		expect(Number(stdout)).toBeGreaterThanOrEqual(500);
		await more;
		expect((await ledger.list({ limit: 1000 })).rows).toHaveLength(600);
	});

	test('two processes write', async () => {
		const { ledger, dataDir } = await open();
		const theirs = inAnotherProcess(dataDir, 'for (let n = 0; n < 200; n++) await write("theirs" + n, true)');
		for (let index = 0; index < 200; index++) {
			await ledger.open(openEntry(`ours${index}`));
			await closeEntry(ledger, closedEntry(`ours${index}`));
		}
		await theirs;
		expect((await ledger.list({ limit: 1000 })).rows).toHaveLength(400);
		expect(await ledger.check()).toEqual([]);
		expect(await ledger.closeInterrupted()).toEqual([]);
	});
});

describe('a temporary failure', () => {
	test('a failing database rejects opens at once, is logged once, loses no accepted entry, and recovers by itself', async () => {
		const { ledger, dataDir, clock, log } = await open();
		await ledger.open(openEntry('before'));
		expect((await ledger.list({ limit: 9 })).rows).toHaveLength(1);
		change(dataDir, 'ALTER TABLE hourly RENAME TO elsewhere');
		// The entry that meets the failure first is already durable.
		await ledger.open(openEntry('kept'));
		const rejected = await closeEntry(ledger, closedEntry('kept')).catch((cause: unknown) => cause);
		expect(rejected).toBeInstanceOf(UpstreamError);
		expect(rejected).toMatchObject({ code: 'records_unavailable', message: expect.stringContaining('no such table') as string });
		await expect(ledger.open(openEntry('at once'))).rejects.toThrow('the disk cannot be written');
		await expect(closeEntry(ledger, closedEntry('before'))).rejects.toThrow('the entry is kept');
		expect(ledger.health()).toMatchObject({ isWritable: false, rejectedEntries: 3, queuedEntries: 3 });
		expect(log.lines.map(({ level, event }) => `${level}: ${event}`)).toEqual(['error: the ledger cannot be written']);

		change(dataDir, 'ALTER TABLE elsewhere RENAME TO hourly');
		await passUntil(clock, () => ledger.health().isWritable);
		await ledger.open(openEntry('after'));
		expect((await ledger.list({ limit: 9 })).rows.map(({ id, closed }) => [id, closed?.outcome])).toEqual([
			['after', undefined],
			['kept', 'complete'],
			['before', 'complete'],
		]);
		expect(ledger.health()).toMatchObject({ isWritable: true, queuedEntries: 0, unknownCloses: 0, lostCloses: 0, rejectedEntries: 3 });
		expect(log.lines.map(({ level }) => level)).toEqual(['error', 'info']);
		expect(await ledger.check()).toEqual([]);
	});

	test('an entry that cannot be stored takes no other with it', async () => {
		const { ledger, dataDir, log } = await open();
		change(dataDir, "CREATE TRIGGER picky BEFORE INSERT ON calls WHEN NEW.id = 'b' BEGIN SELECT RAISE(ABORT, 'not this one'); END");
		await Promise.all(['a', 'b', 'c'].map(async (id) => ledger.open(openEntry(id))));
		expect((await ledger.list({ limit: 9 })).rows.map(({ id }) => id)).toEqual(['c', 'a']);
		const closes = ['a', 'b', 'c'].map((id) => closeEntry(ledger, closedEntry(id, { costNanoUsd: 2n ** 63n - 1n })));
		expect((await Promise.allSettled(closes)).map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : 'refused'))).toEqual([
			'closed',
			'unknown',
			'refused',
		]);
		expect(ledger.health()).toMatchObject({ isWritable: true, lostCloses: 1, rejectedEntries: 1, unknownCloses: 1 });
		expect((await ledger.list({ limit: 9 })).rows.map(({ id, closed }) => [id, closed?.outcome])).toEqual([
			['c', undefined],
			['a', 'complete'],
		]);
		expect(log.lines.map(({ event, fields }) => `${event}: ${String(fields['id'])}`)).toEqual([
			'a ledger entry cannot be stored: b',
			'a ledger entry cannot be stored: c',
		]);
		expect(await ledger.check()).toEqual([]);
	});

	test('a disk that takes no more: everything acknowledged is there, and nothing else', async () => {
		const dataDir = temporaryDirectory();
		// Blocks of 512 or 1024 bytes, depending on the shell.
		const printed = await inAnotherProcess(
			dataDir,
			`let written = 0;
			const caller = async (name) => {
				for (let number = 0; number < 1e5; number++) {
					await write(name + '-' + number, true);
					written++;
				}
			};
			const outcomes = await Promise.allSettled(['a', 'b', 'c'].map(caller));
			const health = ledger.health();
			print({ written, faults: outcomes.map(({ reason }) => reason.code), isWritable: health.isWritable })`,
			'ulimit -f 2000; exec "$0" "$@"',
		);
		const { written, faults, isWritable } = JSON.parse(printed) as { written: number; faults: string[]; isWritable: boolean };
		expect({ faults, isWritable }).toEqual({ faults: Array.from({ length: 3 }, () => 'records_unavailable'), isWritable: false });
		expect(written).toBeGreaterThan(10);
		const { ledger } = await open({ dataDir });
		await ledger.closeInterrupted();
		const [sum] = await ledger.summarize({ fromMs: 0, toMs: ledgerNoonMs + hourMs, period: 'month' });
		// Each client may have opened one entry that it could not close.
		expect(sum?.requests).toBeGreaterThanOrEqual(written);
		expect(sum?.requests).toBeLessThanOrEqual(written + 3);
		expect(await ledger.check()).toEqual([]);
	});

	test('a disk that fails to sync: what it had not synced is not acknowledged, and is again once it does', async () => {
		requireProgram('strace');
		const dataDir = temporaryDirectory();
		const printed = await inAnotherProcess(
			dataDir,
			`const written = [], refused = [];
			for (let number = 0; refused.length === 0 || written.at(-1) < refused.at(-1); number++) {
				if (number > 1000) throw new Error('it never failed, or never healed');
				await write('r' + number, true).then(() => written.push(number), () => refused.push(number));
				if (refused.at(-1) === number) await new Promise((resolve) => setTimeout(resolve, 50));
			}
			print({ written, refused })`,
			'exec strace -f -qq -o /dev/null -e trace=fdatasync,fsync -e inject=fdatasync,fsync:error=EIO:when=60..66 "$0" "$@"',
			'power',
		);
		const { written, refused: rejected } = JSON.parse(printed) as { written: number[]; refused: number[] };
		expect(written.length).toBeGreaterThan(20);
		const { ledger } = await open({ dataDir });
		await ledger.closeInterrupted();
		const { rows } = await ledger.list({ limit: 1000 });
		const complete = rows.filter(({ closed }) => closed?.outcome === 'complete').map(({ id }) => id);
		expect(complete).toEqual(expect.arrayContaining(written.map((number) => `r${number}`)));
		// A rejected close is kept, and written in the end.
		expect(rows.length).toBeLessThanOrEqual(written.length + rejected.length);
		expect(await ledger.check()).toEqual([]);
	});

	test('negative money, money beyond the range of a column, and half a millisecond are internal errors', async () => {
		const { ledger } = await open();
		for (const startedMs of [0.5, Number.NaN, 2 ** 53]) {
			await expect(ledger.open(openEntry('one', { startedMs }))).rejects.toThrow(RangeError);
		}
		await expect(ledger.open(openEntry('one', { reservedNanoUsd: -1n }))).rejects.toThrow(RangeError);
		await ledger.open(openEntry('one'));
		await expect(closeEntry(ledger, closedEntry('one', { costNanoUsd: 2n ** 63n }))).rejects.toThrow(RangeError);
		expect(await closeEntry(ledger, closedEntry('one'))).toBe('closed');
	});

	test('implausible token counts, as a provider may claim, lose no entry', async () => {
		const { ledger } = await open();
		const claims = [Number.NaN, -5, 0.4, Number.POSITIVE_INFINITY, 1e300];
		for (const tokens of claims) {
			await ledger.open(openEntry(`${tokens}`));
			const closed = closedEntry(`${tokens}`, { usage: { ...closedEntry('').usage, inputTokens: tokens } });
			expect(await closeEntry(ledger, closed)).toBe('closed');
		}
		const { rows } = await ledger.list({ limit: 9 });
		expect(rows.map(({ closed }) => closed?.usage.inputTokens).toReversed()).toEqual([0, 0, 0, 1e12, 1e12]);
	});

	test('names of any length are kept up to 256 characters', async () => {
		const { ledger } = await open();
		await ledger.open(openEntry('one', { model: 'm'.repeat(100_000) }));
		expect((await ledger.list({ limit: 1 })).rows[0]?.model).toBe('m'.repeat(256));
	});

	test('operations after the end are rejected', async () => {
		const { ledger } = await open();
		await ledger.open(openEntry('one'));
		const closing = closeEntry(ledger, closedEntry('one'));
		const ending = ledger.end();
		expect(await closing).toBe('closed');
		await ending;
		await expect(ledger.open(openEntry('two'))).rejects.toThrow('the process is shutting down');
		await expect(closeEntry(ledger, closedEntry('two'))).rejects.toThrow('the process is shutting down');
	});

	test('sums that were tampered with are found', async () => {
		const { ledger, dataDir } = await open();
		await ledger.open(openEntry('one'));
		await closeEntry(ledger, closedEntry('one'));
		change(dataDir, 'UPDATE hourly SET cost_nano_usd = 7; DELETE FROM calls WHERE 0; UPDATE daily SET requests = 5');
		expect(await ledger.check()).toEqual([
			{ what: '2026-11-21T10 team red endpoint /v1/chat/completions: cost_nano_usd', expected: '1234', found: '7' },
			{ what: '2026-11-21 team red endpoint /v1/chat/completions: requests', expected: '1', found: '5' },
			{ what: '2026-11-21 team red endpoint /v1/chat/completions: cost_nano_usd', expected: '7', found: '1234' },
		]);
		change(dataDir, 'DELETE FROM calls');
		expect((await ledger.check()).map(({ what }) => what)).toContain('2026-11-21T10 team red endpoint /v1/chat/completions: requests');
	});
});

test('old entries are deleted at the start and every hour', async () => {
	const { ledger, dataDir } = await open();
	const { clock } = await (async () => {
		for (const days of [40, 31, 1]) {
			const id = `${days} days`;
			await ledger.open(openEntry(id, { startedMs: ledgerNoonMs - days * 24 * hourMs }));
			await closeEntry(ledger, closedEntry(id));
		}
		await ledger.end();
		return open({ dataDir, retainDays: 35 }, new ManualClock(ledgerNoonMs));
	})();
	const reader = await openSqliteLedgerReader({ dataDir });
	onTestFinished(() => reader.end());
	const idsBecome = async (ids: string[]): Promise<void> =>
		expect.poll(async () => (await reader.list({ limit: 9 })).rows.map(({ id }) => id), { interval: 5 }).toEqual(ids);
	await idsBecome(['1 days', '31 days']);
	clock.advance(5 * 24 * hourMs);
	await idsBecome(['1 days']);
	expect(await reader.check()).toEqual([]);
	expect(existsSync(join(dataDir, 'ledger.db'))).toBe(true);
});

interface Opened {
	readonly ledger: Ledger;
	readonly dataDir: string;
	readonly clock: ManualClock;
	readonly log: ReturnType<typeof createRecordingLog>;
}

async function open(differences: Partial<SqliteLedgerSettings> = {}, clock = new ManualClock()): Promise<Opened> {
	const dataDir = differences.dataDir ?? temporaryDirectory();
	const log = createRecordingLog();
	const ledger = await openSqliteLedger({ ...settings(dataDir), ...differences }, { clock, log });
	onTestFinished(() => ledger.end());
	return { ledger, dataDir, clock, log };
}

function settings(dataDir: string): SqliteLedgerSettings {
	return { dataDir, durability: 'process', retainDays: null };
}

/** Changes a file as an operator or an accident would. */
function change(dataDir: string, sql: string): void {
	const database = new DatabaseSync(join(dataDir, 'ledger.db'), { timeout: 1000 });
	database.exec(sql);
	database.close();
}

async function inAnotherProcess(
	dataDir: string,
	body: string,
	shell?: string,
	durability: 'process' | 'power' = 'process',
): Promise<string> {
	const script = `
		import { openSqliteLedger } from ${JSON.stringify(join(import.meta.dirname, 'sqlite-ledger.ts'))};
		const after = (delayMs, task) => {
			const timer = setTimeout(task, delayMs).unref();
			return { cancel: () => clearTimeout(timer) };
		};
		const clock = { nowMs: () => 0, monotonicMs: () => performance.now(), after };
		const log = { debug() {}, info() {}, warn() {}, error() {} };
		const ledger = await openSqliteLedger(${JSON.stringify({ ...settings(dataDir), durability })}, { clock, log });
		const row = (id) => ({ ...${JSON.stringify({ ...openEntry(''), reservedNanoUsd: null })}, id, reservedNanoUsd: 5n });
		const closed = (id) => ({ ...${JSON.stringify({ ...closedEntry(''), costNanoUsd: null })}, id, costNanoUsd: 5n });
		const write = async (id, isClosed) => {
			await ledger.open(row(id));
			if (isClosed) await new Promise((done) => ledger.close(closed(id), done));
		};
		const print = (value) => console.log(JSON.stringify(value));
		${body};
		await ledger.end();`;
	const command = [...(shell === undefined ? [] : ['sh', '-c', shell]), process.execPath, '--input-type=module', '-e', script];
	return (await promisify(execFile)(command[0] ?? '', command.slice(1))).stdout.trim();
}

async function passUntil(clock: ManualClock, isTrue: () => boolean): Promise<void> {
	for (let round = 0; !isTrue(); round++) {
		if (round > 400) throw new Error('It has not come true');
		clock.advance(250);
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
}

function temporaryDirectory(): string {
	const path = makeDirectory();
	onTestFinished(() => rmSync(path, { recursive: true }));
	return path;
}

function makeDirectory(): string {
	return mkdtempSync(join(tmpdir(), 'tollgate-ledger-'));
}
