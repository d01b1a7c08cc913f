/** Upgrades from a release that knew two dialects, and stored them as a number, and from one without endpoints and attributes. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { closeEntry } from '../../../../test/support/close-entry.ts';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { createRecordingLog } from '../../../../test/support/recording-log.ts';
import { closedEntry, ledgerNoonMs, openEntry } from '../../contracts/ledger.contract.ts';
import { type LedgerEntry, summaryNames } from '../../contracts/ledger.ts';
import type { SpooledEntry } from '../../contracts/ledger-spool.ts';
import { migrate } from '../migrate.ts';
import { openSpoolingLedger, openSqliteLedger, openSqliteLedgerReader, type SpoolingLedger } from '../sqlite-ledger.ts';
import { ledgerSchema } from './ledger-schema.ts';

const hour = Math.floor(ledgerNoonMs / 3_600_000);
const earlierSchema = ledgerSchema.slice(0, 4);
/** Dialect and streaming by the number that stood for them. */
const meant = [
	['chat', false],
	['messages', false],
	['chat', true],
	['messages', true],
] as const;
const ofForm = (form: number, id: string): string => `${JSON.stringify(earlierLine(form, id))}\n`;

test('entries, their outbox and the sums are read as before', async () => {
	const dataDir = earlierFile();
	const ledger = await start(dataDir);
	const { rows } = await ledger.list({ limit: 9 });
	expect(rows.map(shown)).toEqual(
		meant.map(([dialect, isStreaming], form) => [`form${form}`, dialect, isStreaming, form === 0]).toReversed(),
	);
	const { id, ...closed } = closedEntry('form3');
	expect(rows[0]).toEqual({ ...openEntry(id, { dialect: 'messages', endpoint: '' }), closed });
	const spooled = JSON.parse((await ledger.spool.read(9)).rows) as SpooledEntry[];
	expect(spooled.map(([spooledId, , , , , , dialect, isStreaming]) => [spooledId, dialect, isStreaming])).toEqual([
		['form1', 'messages', false],
		['form2', 'chat', true],
	]);
	expect(await ledger.check()).toEqual([]);
});

test('assessments under the former names are those of moderation providers', async () => {
	const ledger = await start(earlierFile());
	const { assessments } = await ledger.listAssessments({ limit: 9 });
	expect(assessments.map(({ policy, category, outcome }) => [policy, category, outcome])).toEqual([
		['words', 'engine', 'matched'],
		['moderation', 'mod.hate', 'matched'],
	]);
});

test('entries are written next to them, and open ones are closed', async () => {
	const dataDir = earlierFile();
	const ledger = await start(dataDir);
	expect((await ledger.closeInterrupted()).map(({ id }) => id)).toEqual(['form0']);
	await ledger.open(openEntry('new', { dialect: 'responses', isStreaming: false }));
	expect(await closeEntry(ledger, closedEntry('new'))).toBe('closed');
	expect((await ledger.list({ limit: 1 })).rows.map(shown)).toEqual([['new', 'responses', false, false]]);
	expect(await ledger.check()).toEqual([]);
	await ledger.end();
	// The existing columns keep their order, and nothing is converted a second time.
	const again = await start(dataDir);
	expect((await again.list({ limit: 9 })).rows.map(({ dialect }) => dialect)).toEqual([
		'responses',
		...meant.map(([name]) => name).toReversed(),
	]);
});

test('a reader that is the first to open the file brings it up to date', async () => {
	const reader = await openSqliteLedgerReader({ dataDir: earlierFile() });
	onTestFinished(() => reader.end());
	expect((await reader.list({ limit: 9 })).rows.map(({ dialect }) => dialect)).toEqual(meant.map(([name]) => name).toReversed());
});

test('a file without requests gets no unused names', async () => {
	const dataDir = temporaryDirectory();
	await (await openSqliteLedger(settings(dataDir), parts())).end();
	const database = new DatabaseSync(join(dataDir, 'ledger.db'));
	onTestFinished(() => database.close());
	expect(database.prepare('SELECT count(*) AS names FROM names').get()).toEqual({ names: 0 });
});

test('its journal is taken over: closed entries as closed, the others as interrupted', async () => {
	const dataDir = earlierFile();
	const opens = meant.map((_, form) => ofForm(form, `journal${form}`)).join('');
	const close = ['journal2', ledgerNoonMs + 900, 0, 200, 0, 1, 20, 300, 100, 4000, 50, 1234];
	// `form1` is in the file already, and the line after it is torn.
	writeFileSync(join(dataDir, 'ledger-run-00000000000000aa.0.journal'), `1\n${ofForm(1, 'form1')}${opens}`);
	writeFileSync(join(dataDir, 'ledger-run-00000000000000aa.1.journal'), `2\n${JSON.stringify(close)}\n${ofForm(3, 'torn').slice(0, -3)}`);
	const ledger = await start(dataDir);
	expect((await ledger.closeInterrupted()).map(({ id }) => id)).toEqual(['form0', 'journal0', 'journal1', 'journal3']);
	const { rows } = await ledger.list({ limit: 4 });
	expect(rows.map(shown)).toEqual(
		meant.map(([dialect, isStreaming], form) => [`journal${form}`, dialect, isStreaming, false]).toReversed(),
	);
	expect(rows.map(({ closed }) => [closed?.outcome, closed?.costNanoUsd])).toEqual([
		['interrupted', 5000n],
		['complete', 1234n],
		['interrupted', 5000n],
		['interrupted', 5000n],
	]);
	expect(await ledger.check()).toEqual([]);
	expect(readdirSync(dataDir).filter((name) => name.includes('00000000000000aa'))).toEqual([]);
});

describe('from a release without endpoints and attributes', () => {
	const span = { fromMs: 0, toMs: ledgerNoonMs * 2 } as const;
	const byAll = { ...span, period: 'hour', by: summaryNames } as const;

	test('every sum stays, and entries of both releases share the tables', async () => {
		const dataDir = fileWithoutEndpoints();
		const ledger = await start(dataDir);
		const sums = await ledger.summarize(byAll);
		expect(sums.map(({ team, model, endpoint, attributes, requests }) => [team, model, endpoint, attributes, requests])).toEqual([
			['red', 'claude', '', '', 2],
			['red', 'gpt', '', '', 1],
		]);
		expect(sums.map(({ costNanoUsd, estimatedCostNanoUsd, usage }) => [costNanoUsd, estimatedCostNanoUsd, usage])).toEqual([
			[1234n, 1234n, closedEntry('one').usage],
			[2n ** 62n, 0n, { ...closedEntry('two').usage, inputTokens: 7 }],
		]);
		expect(await ledger.summarize({ ...byAll, period: 'day' })).toEqual(sums.map((sum) => ({ ...sum, period: '2026-11-21' })));
		expect(await ledger.check()).toEqual([]);
		// The open entry fails over and ends, and a new one has attributes.
		await ledger.open(openEntry('open', { model: 'gpt' }));
		expect(await closeEntry(ledger, closedEntry('open', { costNanoUsd: 6n }))).toBe('closed');
		await ledger.open(openEntry('new', { attributes: '{"project":"search"}' }));
		expect(await closeEntry(ledger, closedEntry('new', { costNanoUsd: 9n }))).toBe('closed');
		const of = [null, { name: 'project', value: 'search' }].map((attribute) => ({ team: 'red', model: null, attribute }));
		expect(await ledger.sumCosts({ ...span, of })).toEqual([1234n + 2n ** 62n + 6n + 9n, 9n]);
		expect(await ledger.check()).toEqual([]);
	});

	test('its journal is taken over', async () => {
		const dataDir = fileWithoutEndpoints();
		const line = (id: string): string => `${JSON.stringify(lineWithoutEndpoint(id))}\n`;
		const close = ['journal1', ledgerNoonMs + 900, 0, 200, 0, 1, 20, 300, 100, 4000, 50, 1234];
		writeFileSync(
			join(dataDir, 'ledger-run-00000000000000aa.0.journal'),
			`1\n${line('journal0')}${line('journal1')}${JSON.stringify(close)}\n${line('open')}`,
		);
		const ledger = await start(dataDir);
		expect((await ledger.closeInterrupted()).map(({ id }) => id)).toEqual(['open', 'journal0']);
		const { rows } = await ledger.list({ limit: 2 });
		expect(rows.map(({ id, endpoint, attributes, closed }) => [id, endpoint, attributes, closed?.costNanoUsd])).toEqual([
			['journal1', '', '', 1234n],
			['journal0', '', '', 5000n],
		]);
		expect(await ledger.check()).toEqual([]);
	});

	test('a million sums are copied within seconds', () => {
		const dataDir = fileWithoutEndpoints();
		const database = new DatabaseSync(join(dataDir, 'ledger.db'));
		onTestFinished(() => database.close());
		database.exec(`
			WITH RECURSIVE sums (at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM sums WHERE at < 1000000)
			INSERT INTO hourly SELECT at / 100, at % 100, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, at, 0 FROM sums`);
		const before = database.prepare('SELECT count(*) AS rows, sum(cost_nano_usd % 1000) AS cost FROM hourly').get();
		const startMs = performance.now();
		migrate(database, ledgerSchema);
		expect(performance.now() - startMs).toBeLessThan(20_000);
		expect(database.prepare('SELECT count(*) AS rows, sum(cost_nano_usd % 1000) AS cost FROM hourly').get()).toEqual(before);
	});
});

function shown({ id, dialect, isStreaming, closed }: LedgerEntry): readonly unknown[] {
	return [id, dialect, isStreaming, closed === undefined];
}

/** A row of each form: the first is open and its process is dead; the second and third are spooled. */
function earlierFile(): string {
	const dataDir = temporaryDirectory();
	const database = new DatabaseSync(join(dataDir, 'ledger.db'));
	migrate(database, earlierSchema);
	database.exec(`
		INSERT INTO names (id, name) VALUES (1, 'red'), (2, 'red-client'), (3, 'provider_a'), (4, 'claude'), (5, 'default:2026-11-01'),
			(6, '["red"]'), (7, '00000000000000bb'), (8, 'chat');
		INSERT INTO calls (id, started_ms, team, client, provider, model, form, price_version, budgets, run, hold_nano_usd, is_spooled)
			SELECT 'form' || value, ${ledgerNoonMs}, 1, 2, 3, 4, value, 5, 6, 7, 5000, iif(value IN (1, 2), 1, NULL)
			FROM json_each('[0, 1, 2, 3]');
		UPDATE calls SET outcome = 0, duration_ms = 900, status = 200, is_estimated = 0, input_tokens = 1, cache_read_tokens = 20,
			cache_write_tokens = 300, cache_write_hour_tokens = 100, output_tokens = 4000, reasoning_tokens = 50, cost_nano_usd = 1234
			WHERE form > 0;
		INSERT INTO outbox (call, noted_ms) SELECT sequence, started_ms FROM calls WHERE is_spooled = 1;
		INSERT INTO assessments (id, at_ms, team, stage, policy, category, action, outcome, count) VALUES
			('form1', ${ledgerNoonMs}, 'red', 0, 'engine', 'mod.hate', 2, 4, 1), ('form1', ${ledgerNoonMs}, 'red', 0, 'words', 'engine', 2, 4, 1);
		INSERT INTO hourly VALUES (${hour}, 1, 2, 3, 4, 4, 3, 60, 900, 300, 12000, 150, 3702, 0);
		INSERT INTO daily VALUES (${Math.floor(hour / 24)}, 1, 2, 3, 4, 4, 3, 60, 900, 300, 12000, 150, 3702, 0)`);
	database.close();
	return dataDir;
}

/** Two closed entries, one open entry of a dead process, and their sums. */
function fileWithoutEndpoints(): string {
	const dataDir = temporaryDirectory();
	const database = new DatabaseSync(join(dataDir, 'ledger.db'));
	migrate(database, ledgerSchema.slice(0, 6));
	database.exec(`
		INSERT INTO names (id, name) VALUES (1, 'red'), (2, 'red-client'), (3, 'provider_a'), (4, 'claude'), (5, 'default:2026-11-01'),
			(6, '["red"]'), (7, '00000000000000bb'), (8, 'chat'), (9, 'gpt');
		INSERT INTO calls (id, started_ms, team, client, provider, model, dialect, is_streamed, price_version, budgets, run, hold_nano_usd)
			SELECT value ->> 0, ${ledgerNoonMs}, 1, 2, 3, value ->> 1, 8, 1, 5, 6, 7, 5000
			FROM json_each('[["one", 4], ["two", 9], ["open", 4]]');
		UPDATE calls SET outcome = 0, duration_ms = 900, status = 200, is_estimated = 0, input_tokens = 1, cache_read_tokens = 20,
			cache_write_tokens = 300, cache_write_hour_tokens = 100, output_tokens = 4000, reasoning_tokens = 50, cost_nano_usd = 1234
			WHERE id <> 'open';
		UPDATE calls SET input_tokens = 7, cost_nano_usd = ${2n ** 62n} WHERE id = 'two'`);
	for (const [table, period] of [
		['hourly', hour],
		['daily', Math.floor(hour / 24)],
	] as const) {
		database.exec(`INSERT INTO ${table} VALUES (${period}, 1, 2, 3, 4, 2, 1, 20, 300, 100, 4000, 50, 1234, 1234),
			(${period}, 1, 2, 3, 9, 1, 7, 20, 300, 100, 4000, 50, ${2n ** 62n}, 0)`);
	}
	database.exec(`UPDATE calls SET is_estimated = 1 WHERE id = 'one'`);
	database.close();
	return dataDir;
}

/** The line in the journal of a release without endpoints and attributes. */
function lineWithoutEndpoint(id: string): readonly unknown[] {
	const { startedMs, team, clientId, provider, model, dialect, priceVersion, budgets } = openEntry(id);
	return [id, startedMs, team, clientId, provider, model, dialect, 1, priceVersion, JSON.stringify(budgets), 5000];
}

/** The line in the journal. */
function earlierLine(form: number, id: string): readonly unknown[] {
	const { startedMs, team, clientId, provider, model, priceVersion, budgets } = openEntry(id);
	return [id, startedMs, team, clientId, provider, model, form, priceVersion, JSON.stringify(budgets), 5000];
}

async function start(dataDir: string): Promise<SpoolingLedger> {
	const ledger = await openSpoolingLedger(settings(dataDir), parts(), () => undefined);
	onTestFinished(() => ledger.end());
	return ledger;
}

function settings(dataDir: string) {
	return { dataDir, durability: 'process', retainDays: null } as const;
}

function parts() {
	return { clock: new ManualClock(), log: createRecordingLog() };
}

function temporaryDirectory(): string {
	const path = mkdtempSync(join(tmpdir(), 'tollgate-earlier-'));
	onTestFinished(() => rmSync(path, { recursive: true }));
	return path;
}
