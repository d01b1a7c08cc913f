import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { temporaryDirectory } from '../../test/support/processes.ts';
import { createRecordingLog } from '../../test/support/recording-log.ts';
import { createClientsAdministration } from '../stores/contracts/clients-administration.ts';
import { openSqliteRecords } from '../stores/sqlite/sqlite-records.ts';
import { ensureDemoClient } from './demo-client.ts';

const clock = new ManualClock(1000);
const startOn = (dataDir: string) => {
	// The records are in another directory, because this test covers the secret's file only.
	const records = openSqliteRecords({ dataDir: temporaryDirectory() }, { clock, log: createRecordingLog() });
	onTestFinished(() => records.close());
	return { records, start: () => ensureDemoClient(records, clock, dataDir) };
};

test('every start has the same secret, readable by its owner only', async () => {
	const dataDir = join(temporaryDirectory(), 'data');
	const { start } = startOn(dataDir);
	const first = await start();
	expect(first.secret).toMatch(/^[\w-]{43}$/);
	expect(await start()).toEqual(first);
	const file = join(dataDir, 'demo-secret');
	expect(statSync(file).mode & 0o777).toBe(0o600);
	expect(readFileSync(file, 'utf8')).toBe(`${first.secret}\n`);
});

test('a process that ends before the client is created loses no secret', async () => {
	const dataDir = temporaryDirectory();
	const { secret } = await startOn(dataDir).start();
	expect((await startOn(dataDir).start()).secret).toBe(secret);
});

test('a rotated secret is no longer shown once it is invalid', async () => {
	const dataDir = temporaryDirectory();
	const { records, start } = startOn(dataDir);
	const { secret } = await start();
	const clients = createClientsAdministration({ clients: records.clients, clock });
	await clients.rotateSecret('demo', 60);
	expect((await start()).secret, 'within the overlap').toBe(secret);
	clock.advance(60_001);
	expect((await start()).secret).toBeUndefined();
});

test.each(['', 'short', 'two words that are long enough for a secret'])('a file with %j is no secret', async (text) => {
	const dataDir = temporaryDirectory();
	writeFileSync(join(dataDir, 'demo-secret'), text, { mode: 0o644 });
	const { secret } = await startOn(dataDir).start();
	expect(secret).toMatch(/^[\w-]{43}$/);
	expect(statSync(join(dataDir, 'demo-secret')).mode & 0o777).toBe(0o600);
});
