import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { createMemoryRecords } from '../../test/support/memory-records.ts';
import { createRecordingLog } from '../../test/support/recording-log.ts';
import { plainBudget } from '../core/budget.ts';
import type { RoutingRule } from '../core/routing-rule.ts';
import { UpstreamError } from '../core/upstream-error.ts';
import type { Budget, RecordStore } from './contracts/records.ts';
import { openRecordsSnapshot, type RecordsSnapshot } from './records-snapshot.ts';

const team = (id: string, clientIds: string[] = []) => ({ id, name: id, tier: 'standard', clientIds });
const budget = (id: string, of: string, model: string | null): Budget => ({
	...plainBudget,
	id,
	team: of,
	model,
	limitNanoUsd: 1n,
	warningThresholdPercent: 80,
	hardLimitPercent: 100,
	createdAtMs: 0,
	updatedAtMs: 0,
});
const price = (provider: string, model: string) => ({
	provider,
	model,
	inputPicoUsd: 1n,
	outputPicoUsd: 1n,
	cacheReadPicoUsd: 1n,
	cacheWritePicoUsd: 1n,
	updatedAtMs: 0,
});
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function open(records: RecordStore): Promise<RecordsSnapshot> {
	const snapshot = await openRecordsSnapshot(records, [], { clock: new ManualClock(), log: createRecordingLog() });
	onTestFinished(() => snapshot.close());
	return snapshot;
}

test('finds teams by id and by client, and a change at the next request', async () => {
	const records = createMemoryRecords();
	await records.teams.create(team('red', ['one', 'two']));
	const snapshot = await open(records);
	expect([snapshot.team('red')?.id, snapshot.teamOf('two')?.id, snapshot.teamOf('three'), snapshot.team('__proto__')]).toEqual([
		'red',
		'red',
		undefined,
		undefined,
	]);
	await records.teams.replace(team('red', ['three']));
	await turn();
	expect([snapshot.teamOf('two'), snapshot.teamOf('three')?.id]).toEqual([undefined, 'red']);
});

test('finds clients that may set attributes, and a change at the next request', async () => {
	const records = createMemoryRecords();
	const times = { createdAtMs: 0, updatedAtMs: 0 };
	const record = { name: 'Bot', secrets: [], scopes: ['invoke'], isDisabled: false, canSetAttributes: true, ...times };
	await records.clients.create({ ...record, id: 'may' });
	await records.clients.create({ ...record, id: 'may-not', canSetAttributes: false });
	const snapshot = await open(records);
	const found = (): boolean[] => ['may', 'may-not', 'unknown'].map((id) => snapshot.canSetAttributes(id));
	expect(found()).toEqual([true, false, false]);
	await records.clients.replace({ ...record, id: 'may', canSetAttributes: false });
	await records.clients.replace({ ...record, id: 'may-not' });
	await turn();
	expect(found()).toEqual([false, true, false]);
});

test('finds the budgets of a request', async () => {
	const records = createMemoryRecords();
	for (const record of [
		budget('red', 'red', null),
		budget('red-gpt', 'red', 'gpt'),
		budget('red-claude', 'red', 'claude'),
		budget('blue-gpt', 'blue', 'gpt'),
	]) {
		await records.budgets.create(record);
	}
	const snapshot = await open(records);
	const ids = (of: string, model: string, listed?: string): string[] =>
		snapshot.budgetsFor(of, { provider: 'p', clientId: 'c', model, listed }).map(({ id }) => id);
	expect(ids('red', 'gpt')).toEqual(['red', 'red-gpt']);
	expect(ids('red', 'gemini')).toEqual(['red']);
	expect(ids('blue', 'gpt')).toEqual(['blue-gpt']);
	expect(ids('blue', 'claude')).toEqual([]);
	expect(ids('green', 'gpt')).toEqual([]);
	expect(ids('red', 'GPT')).toEqual(['red', 'red-gpt']);
	expect(ids('red', 'gpt-2026-01-01', 'gpt')).toEqual(['red', 'red-gpt']);
	expect(ids('red', 'claude', 'gpt')).toEqual(['red', 'red-claude']);
	expect(ids('red', 'gemini', 'gemini-x')).toEqual(['red']);
	await records.budgets.delete('red');
	await turn();
	expect(ids('red', 'gpt')).toEqual(['red-gpt']);
});

function rule(id: string, more: Partial<RoutingRule>): RoutingRule {
	const match = { model: null, team: null, format: null };
	const targets = [{ provider: 'provider_b', model: null, weight: 1 }];
	return {
		id,
		name: id,
		priority: 1,
		isEnabled: true,
		mode: 'enforce',
		match,
		strategy: 'priority',
		targets,
		createdAtMs: 0,
		updatedAtMs: 0,
		...more,
	};
}

test('finds a price by provider and model', async () => {
	const records = createMemoryRecords();
	await records.priceOverrides.create(price('a', 'b/c'));
	const snapshot = await open(records);
	expect(snapshot.priceOverride('a', 'b/c')?.version).toBe(1);
	expect(snapshot.overriddenModels()).toMatchObject([{ provider: 'a', model: 'b/c' }]);
	expect([snapshot.priceOverride('a/b', 'c'), snapshot.priceOverride('a', 'x')]).toEqual([undefined, undefined]);
});

test('separates enforced from monitored routing rules, by priority, and omits disabled ones', async () => {
	const records = createMemoryRecords();
	await records.routingRules.create(rule('b', { priority: 2 }));
	await records.routingRules.create(rule('off', { isEnabled: false, mode: 'monitor' }));
	const snapshot = await open(records);
	const found = (): string[][] => [snapshot.routingRules(), snapshot.routingRulesWithMonitored()].map((rules) => rules.map(({ id }) => id));
	expect(found()).toEqual([['b'], []]);
	await records.routingRules.create(rule('a', { priority: 1, mode: 'monitor' }));
	await turn();
	expect(found()).toEqual([['b'], ['a', 'b']]);
	await records.routingRules.replace(rule('a', { priority: 1 }));
	await turn();
	expect(found()).toEqual([['a', 'b'], []]);
});

test('keeps the last known records while the store cannot be read, and tries again each second by itself', async () => {
	const { records, shaky, outage } = createShakyRecords();
	await records.teams.create(team('red', ['one']));
	const [log, clock] = [createRecordingLog(), new ManualClock()];
	const snapshot = await openRecordsSnapshot(shaky, [], { clock, log });
	outage.isOn = true;
	await records.teams.create(team('blue', ['two']));
	await turn();
	clock.advance(5000);
	await turn();
	expect([snapshot.teamOf('one')?.id, snapshot.teamOf('two')]).toEqual(['red', undefined]);
	expect(log.lines.map(({ level }) => level)).toEqual(['error']);
	outage.isOn = false;
	clock.advance(1000);
	await turn();
	expect(snapshot.teamOf('two')?.id).toBe('blue');
	expect(log.lines.map(({ event }) => event)).toEqual([expect.stringContaining('stay active'), 'records are readable again']);
	expect(clock.pending).toBe(0);
	snapshot.close();
	await records.teams.delete('blue');
	await turn();
	expect(snapshot.teamOf('two')?.id).toBe('blue');
});

test('opened while the store cannot be read it knows nothing, says so, and learns by itself', async () => {
	const { records, shaky, outage } = createShakyRecords();
	await records.teams.create(team('red', ['one']));
	const [log, clock] = [createRecordingLog(), new ManualClock()];
	outage.isOn = true;
	const snapshot = await openRecordsSnapshot(shaky, [team('own', ['two'])], { clock, log });
	expect(snapshot.isLoaded).toBe(false);
	snapshot.configure([team('own', ['three'])]);
	for (const query of [
		() => snapshot.team('red'),
		() => snapshot.teamOf('two'),
		() => snapshot.budgetsFor('red', { provider: 'p', clientId: 'c', model: 'gpt' }),
		() => snapshot.budgetsOf('red'),
		() => snapshot.priceOverride('a', 'b'),
		() => snapshot.routingRules(),
		() => snapshot.routingRulesWithMonitored(),
	]) {
		expect(query).toThrow(expect.objectContaining({ code: 'records_unavailable' }));
	}
	outage.isOn = false;
	clock.advance(1000);
	await turn();
	expect(snapshot.isLoaded).toBe(true);
	expect([snapshot.teamOf('one')?.id, snapshot.teamOf('two'), snapshot.teamOf('three')?.id]).toEqual(['red', undefined, 'own']);
	snapshot.close();
});

test('a store that is slow is not waited for beyond a second, nor asked again once it is closed', async () => {
	const { records, shaky, outage } = createShakyRecords();
	await records.teams.create(team('red'));
	const clock = new ManualClock();
	const response = Promise.withResolvers<void>();
	outage.until = response.promise;
	const opening = openRecordsSnapshot(shaky, [], { clock, log: createRecordingLog() });
	clock.advance(1000);
	const snapshot = await opening;
	expect(snapshot.isLoaded).toBe(false);
	response.resolve();
	await turn();
	expect(snapshot.team('red')?.id).toBe('red');
	outage.isOn = true;
	await records.teams.create(team('blue'));
	await turn();
	snapshot.close();
	expect(clock.pending).toBe(0);
});

test('has caught up with a change once what was read after it is in force, however fast more changes follow', async () => {
	const { records, shaky, outage } = createShakyRecords();
	const snapshot = await openRecordsSnapshot(shaky, [], { clock: new ManualClock(), log: createRecordingLog() });
	const response = Promise.withResolvers<void>();
	outage.until = response.promise;
	await records.teams.create(team('red'));
	let hasCaughtUp = false;
	const caughtUp = snapshot.caughtUp().then(() => {
		hasCaughtUp = true;
	});
	// The next change is read only after the test ends.
	outage.until = new Promise(() => undefined);
	await records.teams.create(team('blue'));
	await turn();
	expect([hasCaughtUp, snapshot.team('red')]).toEqual([false, undefined]);
	response.resolve();
	await caughtUp;
	expect(snapshot.team('red')?.id).toBe('red');
	outage.until = undefined;
	outage.isOn = true;
	await records.teams.create(team('green'));
	await snapshot.caughtUp();
	expect(snapshot.team('green')).toBeUndefined();
	snapshot.close();
});

/** Records whose budgets fail to load, or load late, when the test says so. */
function createShakyRecords() {
	const records = createMemoryRecords();
	const outage: { isOn: boolean; until: Promise<void> | undefined } = { isOn: false, until: undefined };
	const shaky: RecordStore = {
		...records,
		budgets: {
			...records.budgets,
			async list() {
				await outage.until;
				if (outage.isOn) throw new UpstreamError('records_unavailable');
				return records.budgets.list();
			},
		},
	};
	return { records, shaky, outage };
}
