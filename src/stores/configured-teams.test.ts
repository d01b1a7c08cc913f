import { expect, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { createMemoryRecords } from '../../test/support/memory-records.ts';
import { createRecordingLog } from '../../test/support/recording-log.ts';
import type { Team } from '../core/team.ts';
import { openRecordsSnapshot } from './records-snapshot.ts';

function team(id: string, ...clientIds: string[]): Team {
	return { id, name: id, tier: 'sandbox', clientIds };
}

async function settle(): Promise<void> {
	await new Promise((resolve) => setImmediate(resolve));
}

async function start(stored: readonly Team[], configured: readonly Team[]) {
	const records = createMemoryRecords();
	for (const one of stored) await records.teams.create(one);
	const log = createRecordingLog();
	const directory = await openRecordsSnapshot(records, configured, { clock: new ManualClock(), log });
	const idOf = (clientId: string): string | undefined => directory.teamOf(clientId)?.id;
	return { records, directory, log, idOf };
}

test('configured teams win over stored ones of the same id, and over stored claims on their clients', async () => {
	const { idOf } = await start(
		[team('search', 'one', 'two'), team('sales', 'three', 'four')],
		[team('search', 'one'), team('ops', 'four')],
	);
	expect(['one', 'two', 'three', 'four', 'five'].map(idOf)).toEqual(['search', undefined, 'sales', 'ops', undefined]);
});

test('follows the store', async () => {
	const { records, idOf } = await start([team('search', 'one')], [team('ops', 'four')]);
	await records.teams.create(team('sales', 'two'));
	await records.teams.replace(team('search', 'three'));
	await settle();
	expect(['one', 'two', 'three', 'four'].map(idOf)).toEqual([undefined, 'sales', 'search', 'ops']);
	await records.teams.delete('sales');
	await settle();
	expect(idOf('two')).toBeUndefined();
});

test('takes other configured teams at once, without the store', async () => {
	const { directory, idOf } = await start([team('search', 'one')], [team('ops', 'one', 'two')]);
	expect(['one', 'two'].map(idOf)).toEqual(['ops', 'ops']);
	directory.configure([team('sales', 'two')]);
	expect(['one', 'two'].map(idOf)).toEqual(['search', 'sales']);
});

/** A store that responds when the test says so, in any order. */
function scriptedStore() {
	let listener: () => void = () => undefined;
	const reads: { resolve: (teams: Team[]) => void; reject: (cause: Error) => void }[] = [];
	const isStopped = { value: false };
	const empty = { list: () => Promise.resolve([]) };
	const records = {
		clients: empty,
		budgets: empty,
		priceOverrides: empty,
		routingRules: empty,
		teams: { list: () => new Promise<Team[]>((resolve, reject) => reads.push({ resolve, reject })) },
		onChange(run: () => void) {
			listener = run;
			return () => void (isStopped.value = true);
		},
	};
	return { records: records as unknown as Parameters<typeof openRecordsSnapshot>[0], reads, change: () => listener(), isStopped };
}

test('a slow read that began earlier does not undo a later one; a failing one keeps what is known', async () => {
	const { records, reads, change, isStopped } = scriptedStore();
	const log = createRecordingLog();
	const opening = openRecordsSnapshot(records, [], { clock: new ManualClock(), log });
	reads[0]?.resolve([team('first', 'one')]);
	const directory = await opening;
	change();
	change();
	reads[2]?.resolve([team('third', 'one')]);
	reads[1]?.resolve([team('second', 'one')]);
	await settle();
	expect(directory.teamOf('one')?.id).toBe('third');
	change();
	reads[3]?.reject(new Error('disk'));
	await settle();
	expect(directory.teamOf('one')?.id).toBe('third');
	expect(log.lines).toMatchObject([{ level: 'error', fields: { cause: 'Error: disk' } }]);
	directory.close();
	expect(isStopped.value).toBe(true);
});
