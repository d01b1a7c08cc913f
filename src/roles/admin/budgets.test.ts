import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { type AdminSubject, adminStartMs, startAdmin } from '../../../test/support/admin.ts';
import { createRecordingLog } from '../../../test/support/recording-log.ts';
import { systemClock } from '../../io/system-clock.ts';
import { CountersUnreachable } from '../../stores/contracts/admission.ts';
import { createMemoryAdmission } from '../../stores/memory/memory-admission.ts';
import { openSqliteRecords } from '../../stores/sqlite/sqlite-records.ts';

let subject: AdminSubject;
const send: AdminSubject['send'] = (...request) => subject.send(...request);

async function start(...parameters: Parameters<typeof startAdmin>): Promise<void> {
	subject = await startAdmin(...parameters);
	await send('POST', '/teams', { id: 'red', tier: 'standard' });
}

afterEach(() => subject.stop());

const usage = {
	period_start: '2026-11-01T00:00:00.000Z',
	period_end: '2026-12-01T00:00:00.000Z',
	spent_usd: '0.00',
	reserved_usd: '0.00',
	remaining_usd: '100.00',
	utilization_percent: 0,
	state: 'ok',
};

describe('a budget', () => {
	test('is created, read, changed and deleted', async () => {
		await start();
		const made = await send('POST', '/budgets', { team: 'red', limit_usd: '100' });
		expect(made.status).toBe(201);
		const id = String(made.body['id']);
		expect(made.headers.get('location')).toBe(`/budgets/${id}`);
		const budget = {
			id,
			team: 'red',
			model: null,
			scope: { team: 'red', client: null, model: null, provider: null, attribute: null },
			window: 'month',
			period: 'monthly',
			timezone: 'UTC',
			week_start: 'monday',
			when_exceeded: 'reject',
			fallback_model: null,
			raise: null,
			mode: 'enforce',
			limit_usd: '100.00',
			warning_threshold_percent: 80,
			hard_limit_percent: 100,
			created_at: '2026-11-21T12:00:05.000Z',
			updated_at: '2026-11-21T12:00:05.000Z',
			usage,
		};
		expect(made.body).toEqual(budget);
		expect((await send('GET', `/budgets/${id}`)).body).toEqual(budget);
		expect((await send('GET', '/budgets')).body).toEqual({ data: [budget], next_cursor: null });
		expect((await send('GET', '/budgets?team=blue')).body['data']).toEqual([]);
		const changed = await send('PUT', `/budgets/${id}`, { limit_usd: '0.000000001', hard_limit_percent: 200 });
		expect([changed.status, changed.body]).toMatchObject([
			200,
			{ limit_usd: '0.000000001', hard_limit_percent: 200, warning_threshold_percent: 80, usage: { remaining_usd: '0.000000002' } },
		]);
		expect((await send('PUT', `/budgets/${id}`, changed.body)).body).toEqual(changed.body);
		expect((await send('DELETE', `/budgets/${id}`)).status).toBe(204);
		expect((await send('GET', `/budgets/${id}`)).status).toBe(404);
	});

	test.each<[string, object, number, string]>([
		['an unknown team', { team: 'absent', limit_usd: '1' }, 422, 'team'],
		['a negative number', { team: 'red', limit_usd: -1 }, 422, 'limit_usd'],
		['a number of ten decimals', { team: 'red', limit_usd: 1.0000000001 }, 422, 'limit_usd'],
		['a number that JSON writes with an exponent', { team: 'red', limit_usd: 1e-7 }, 422, 'limit_usd'],
		['a truth value', { team: 'red', limit_usd: true }, 422, 'limit_usd'],
		['a negative amount', { team: 'red', limit_usd: '-1' }, 422, 'limit_usd'],
		['ten decimals', { team: 'red', limit_usd: '1.0000000001' }, 422, 'limit_usd'],
		['an exponent', { team: 'red', limit_usd: '1e9' }, 422, 'limit_usd'],
		['digits of another script', { team: 'red', limit_usd: '١٢٣' }, 422, 'limit_usd'],
		['an absurd amount', { team: 'red', limit_usd: '1000000000000' }, 422, 'limit_usd'],
		['no amount', { team: 'red' }, 422, 'limit_usd'],
		['a warning above the limit', { team: 'red', limit_usd: '1', warning_threshold_percent: 101 }, 422, 'warning_threshold_percent'],
		['another period', { team: 'red', limit_usd: '1', period: 'daily' }, 422, 'period'],
		['a window that the period contradicts', { team: 'red', limit_usd: '1', window: 'day', period: 'monthly' }, 422, 'period'],
		['an unknown window', { team: 'red', limit_usd: '1', window: 'year' }, 422, 'window'],
		['an unknown time zone', { team: 'red', limit_usd: '1', timezone: 'Mars/Olympus' }, 422, 'timezone'],
		['an offset as time zone', { team: 'red', limit_usd: '1', timezone: '+05:30' }, 422, 'timezone'],
		['an unknown first day', { team: 'red', limit_usd: '1', week_start: 'someday' }, 422, 'week_start'],
		['two teams', { team: 'red', limit_usd: '1', scope: { team: 'blue' } }, 422, 'scope.team'],
		['two models', { team: 'red', limit_usd: '1', model: 'a', scope: { model: 'b' } }, 422, 'scope.model'],
		['an unknown provider', { team: 'red', limit_usd: '1', scope: { provider: 'provider_z' } }, 422, 'scope.provider'],
		['an attribute without a value', { team: 'red', limit_usd: '1', scope: { attribute: 'project' } }, 422, 'scope.attribute'],
		['an unknown part of a scope', { team: 'red', limit_usd: '1', scope: { planet: 'mars' } }, 422, 'scope.planet'],
		['a fallback without a model', { team: 'red', limit_usd: '1', when_exceeded: 'fallback_model' }, 422, 'fallback_model'],
		['a model without a fallback', { team: 'red', limit_usd: '1', fallback_model: 'm' }, 422, 'fallback_model'],
		[
			'a fallback to itself',
			{ team: 'red', limit_usd: '1', model: 'gpt-*', when_exceeded: 'fallback_model', fallback_model: 'provider_b/GPT-5' },
			422,
			'fallback_model',
		],
		[
			'a fallback to a pattern',
			{ team: 'red', limit_usd: '1', when_exceeded: 'fallback_model', fallback_model: 'gpt-*' },
			422,
			'fallback_model',
		],
		[
			'a raise that has ended',
			{ team: 'red', limit_usd: '1', raise: { limit_usd: '2', until: '2026-11-21T12:00:05Z' } },
			422,
			'raise.until',
		],
		[
			'a raise that lowers',
			{ team: 'red', limit_usd: '1', raise: { limit_usd: '1', until: '2026-12-01T00:00:00Z' } },
			422,
			'raise.limit_usd',
		],
		['an unknown mode', { team: 'red', limit_usd: '1', mode: 'dream' }, 422, 'mode'],
		['the scope and window of another', { team: 'red', limit_usd: '1', window: 'day', timezone: 'Asia/Tokyo' }, 409, 'window'],
		['an empty model', { team: 'red', limit_usd: '1', model: '' }, 422, 'model'],
		['the scope of another', { team: 'red', limit_usd: '1', model: 'gpt-4o' }, 409, 'model'],
		['the id of another', { id: 'first', team: 'red', limit_usd: '1' }, 409, 'id'],
	])('with %s is rejected and names the field', async (_title, body, status, path) => {
		await start();
		await send('POST', '/budgets', { id: 'first', team: 'red', limit_usd: '1', model: 'gpt-4o' });
		await send('POST', '/budgets', { id: 'daily', team: 'red', limit_usd: '1', window: 'day' });
		const before = await subject.state();
		const response = await send('POST', '/budgets', body);
		expect([response.status, response.body['errors']]).toMatchObject([status, [{ path }]]);
		expect(await subject.state()).toBe(before);
	});

	test('that is changed to the scope of another is 409; to an unknown team 422', async () => {
		await start();
		await send('POST', '/budgets', { id: 'all', team: 'red', limit_usd: '1' });
		await send('POST', '/budgets', { id: 'one', team: 'red', limit_usd: '1', model: 'm' });
		expect((await send('PUT', '/budgets/one', { model: null })).status).toBe(409);
		expect((await send('PUT', '/budgets/one', { team: 'absent' })).status).toBe(422);
		expect((await send('PUT', '/budgets/one', { warning_threshold_percent: 200 })).status).toBe(422);
		expect((await send('PUT', '/budgets/one', { limit_usd: '2' }, { 'if-match': '"0"' })).status).toBe(412);
	});

	test('of every window and scope is stored, read back as it was given, and metered in its window', async () => {
		await start();
		const given = {
			id: 'b',
			scope: { team: 'red', client: 'bot', model: 'gpt-*', provider: 'provider_b', attribute: 'project=a=b' },
			window: 'week',
			timezone: 'America/New_York',
			week_start: 'sunday',
			limit_usd: '5.00',
			when_exceeded: 'fallback_model',
			fallback_model: 'claude-haiku-4-5',
			raise: { limit_usd: '9.00', until: '2026-12-01T00:00:00.000Z' },
			mode: 'monitor',
		};
		const made = await send('POST', '/budgets', given);
		expect([made.status, made.body]).toMatchObject([
			201,
			{
				...given,
				team: 'red',
				model: 'gpt-*',
				period: null,
				usage: { period_start: '2026-11-15T05:00:00.000Z', period_end: '2026-11-22T05:00:00.000Z', remaining_usd: '9.00' },
			},
		]);
		expect((await send('PUT', '/budgets/b', made.body)).body).toEqual(made.body);
		const changed = await send('PUT', '/budgets/b', { scope: { client: 'other' }, window: 'hour', when_exceeded: 'warn', raise: null });
		expect(changed.body).toMatchObject({
			scope: { team: 'red', client: 'other', model: null, provider: null, attribute: null },
			window: 'hour',
			fallback_model: null,
			raise: null,
			usage: { period_start: '2026-11-21T12:00:00.000Z', period_end: '2026-11-21T13:00:00.000Z', remaining_usd: '5.00' },
		});
	});

	test('keeps a raise that has ended when it is sent back', async () => {
		await start();
		const raise = { limit_usd: '2.00', until: '2026-11-21T12:00:06.000Z' };
		const made = await send('POST', '/budgets', { id: 'b', team: 'red', limit_usd: '1', raise });
		expect(made.body['usage']).toMatchObject({ remaining_usd: '2.00' });
		subject.clock.advance(1000);
		const changed = await send('PUT', '/budgets/b', { limit_usd: '1.50', raise });
		expect([changed.status, changed.body['raise'], changed.body['usage']]).toMatchObject([200, raise, { remaining_usd: '1.50' }]);
	});

	test('accepts its limit as a text or as a number, and returns it as a text', async () => {
		await start();
		const made = await send('POST', '/budgets', { id: 'b', team: 'red', limit_usd: 250.5 });
		expect([made.status, made.body['limit_usd']]).toEqual([201, '250.50']);
		expect((await send('PUT', '/budgets/b', { limit_usd: 3 })).body['limit_usd']).toBe('3.00');
	});

	test('can belong to a team of the configuration, a client on its own, and a deleted team with usage', async () => {
		await start();
		await send('POST', '/clients', { id: 'loner', name: 'Loner' });
		await subject.book({ team: 'gone' });
		for (const team of ['pinned', 'loner', 'gone']) {
			expect((await send('POST', '/budgets', { team, limit_usd: '1' })).status).toBe(201);
		}
		expect((await send('POST', '/budgets', { team: 'pinned-client', limit_usd: '1' })).status).toBe(422);
	});

	test('default shares follow the configuration; a lower hard limit lowers the warning too', async () => {
		await start();
		const { body } = await send('POST', '/budgets', { team: 'red', limit_usd: '1', hard_limit_percent: 50 });
		expect(body).toMatchObject({ warning_threshold_percent: 50, hard_limit_percent: 50, usage: { remaining_usd: '0.50' } });
	});
});

describe('usage of a budget', () => {
	test('comes from the counters, including the reservations of in-flight requests', async () => {
		const admission = createMemoryAdmission({ clock: { ...systemClock, nowMs: () => adminStartMs } });
		const month = { budget: 'all', period: '2026-11' };
		await admission.restore({ team: 'red', tokensToday: 0, endedIds: [], budgets: [{ ...month, settledNanoUsd: 79_990_000_000n }] });
		await start({}, { admission });
		await send('POST', '/budgets', { id: 'b', team: 'red', limit_usd: '100' });
		const reservation = { ...month, limitNanoUsd: 100_000_000_000n, amountNanoUsd: 10_000_000n, check: 'before' as const };
		await admission.admit({
			id: 'c',
			team: 'red',
			limits: [],
			reservations: [reservation],
			reservationMs: 60_000,
		});
		const read = async () => (await send('GET', '/budgets/b')).body['usage'];
		expect(await read()).toEqual({
			...usage,
			spent_usd: '79.99',
			reserved_usd: '0.01',
			remaining_usd: '20.00',
			utilization_percent: 79.99,
		});
		const settle = (id: string, costNanoUsd: bigint) =>
			admission.settle({ id, team: 'red', admittedMs: adminStartMs, tokens: 0, costNanoUsd, budgets: [month] });
		await settle('c', 10_000_000n);
		expect(await read()).toMatchObject({ utilization_percent: 80, state: 'warning' });
		await settle('d', 20_000_000_000n);
		expect(await read()).toMatchObject({ remaining_usd: '0.00', state: 'exhausted' });
		await settle('e', 50_000_000_000n);
		expect(await read()).toMatchObject({ spent_usd: '150.00', remaining_usd: '0.00', utilization_percent: 150, state: 'exhausted' });
	});

	test('is computed from the ledger while the counters are unavailable, by team, model and month', async () => {
		const admission = { read: () => Promise.reject(new CountersUnreachable('away')) };
		await start({}, { admission });
		await send('POST', '/budgets', { id: 'all', team: 'red', limit_usd: '10' });
		await send('POST', '/budgets', { id: 'one', team: 'red', limit_usd: '10', model: 'gpt-4o' });
		await subject.book({ model: 'gpt-4o', costNanoUsd: 1_000_000_000n });
		await subject.book({ model: 'other', costNanoUsd: 2_000_000_000n });
		await subject.book({ team: 'blue', costNanoUsd: 4_000_000_000n });
		await subject.book({ startedMs: Date.UTC(2026, 9, 31, 23), costNanoUsd: 8_000_000_000n });
		const spent = async (id: string) => ((await send('GET', `/budgets/${id}`)).body['usage'] as { spent_usd: string }).spent_usd;
		expect([await spent('all'), await spent('one')]).toEqual(['3.00', '1.00']);
		await subject.book({ model: 'gpt-4o-2026-11-20', costNanoUsd: 500_000_000n });
		await subject.book({ model: 'GPT-4o', costNanoUsd: 20_000_000n });
		expect([await spent('all'), await spent('one')], 'under all of its names').toEqual(['3.52', '1.52']);
		expect(subject.log.lines.some(({ event }) => event.startsWith('counters cannot be read'))).toBe(true);
	});

	test('with a limit of zero is exhausted', async () => {
		await start();
		const { body } = await send('POST', '/budgets', { team: 'red', limit_usd: '0' });
		expect(body['usage']).toMatchObject({ utilization_percent: 100, state: 'exhausted' });
	});
});

test('the largest amounts are stored to the last digit', async () => {
	const dataDir = mkdtempSync(join(tmpdir(), 'admin-'));
	const records = openSqliteRecords({ dataDir }, { clock: systemClock, log: createRecordingLog() });
	onTestFinished(async () => {
		await records.close();
		rmSync(dataDir, { recursive: true });
	});
	await start({}, { records });
	const limit = '999999999.999999999';
	const made = await send('POST', '/budgets', { id: 'b', team: 'red', limit_usd: limit, hard_limit_percent: 1000 });
	expect([made.status, made.body['limit_usd']]).toEqual([201, limit]);
	const rate = '999999999.999999';
	const price = await send('PUT', '/pricing/provider_a/m', { input_usd_per_million_tokens: rate, output_usd_per_million_tokens: '0' });
	expect([price.status, price.body['cache_write_usd_per_million_tokens']]).toEqual([200, rate]);
	expect((await send('GET', '/budgets/b')).body['usage']).toMatchObject({ remaining_usd: '9999999999.99999999' });
	const name = 'a\u0001\u0000\u202e‮𝒜 \'"; DROP TABLE teams; --';
	expect((await send('POST', '/teams', { id: 'odd', name })).body['name']).toBe(name);
	expect((await send('GET', '/teams/odd')).body['name']).toBe(name);
});
