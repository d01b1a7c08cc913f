/** What every record store does. Each backend runs this unchanged. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Team } from '../../core/team.ts';
import type { ClientRecord, RecordStore, SigningKeyRecord } from './records.ts';

export interface RecordsSubject {
	/** Two ways into the same records, as two processes have; one and the same store where there is only one process. */
	readonly stores: readonly [RecordStore, RecordStore];
	/** Lets a second pass. */
	passSecond(): void | Promise<void>;
	dispose(): Promise<void>;
}

export function recordsContract(name: string, open: () => Promise<RecordsSubject>): void {
	describe(`records in ${name}`, () => {
		let subject: RecordsSubject;
		let here: RecordStore;
		let there: RecordStore;
		beforeEach(async () => {
			subject = await open();
			[here, there] = subject.stores;
		});
		afterEach(() => subject.dispose());

		describe('clients', () => {
			test('a created client is read back as it was, by everybody', async () => {
				const record = client('one', {
					name: 'Ünïcode "quoted" \u0000 name',
					scopes: ['invoke', 'admin'],
					isDisabled: true,
					secrets: [
						{ hash: 'scrypt$2$8$1$bmV3$aGFzaA', expiresAtMs: null },
						{ hash: 'scrypt$2$8$1$b2xk$aGFzaA', expiresAtMs: 1_700_000_000_123 },
					],
				});
				expect(await here.clients.create(record)).toBe(true);
				expect(await here.clients.get('one')).toEqual(record);
				expect(await there.clients.get('one')).toEqual(record);
			});

			test('a client without scopes and secrets keeps none', async () => {
				const record = client('bare', { scopes: [], secrets: [] });
				await here.clients.create(record);
				expect(await there.clients.get('bare')).toEqual(record);
			});

			test('an unknown client is undefined', async () => {
				expect(await here.clients.get('nobody')).toBeUndefined();
				expect(await here.clients.get("x' OR '1'='1")).toBeUndefined();
				expect(await here.clients.get('__proto__')).toBeUndefined();
			});

			test('the list is ordered by id', async () => {
				for (const id of ['b', 'a', 'B', 'c']) await here.clients.create(client(id));
				expect((await there.clients.list()).map(({ id }) => id)).toEqual(['B', 'a', 'b', 'c']);
			});

			test('a taken id changes nothing', async () => {
				await here.clients.create(client('one', { name: 'first' }));
				expect(await there.clients.create(client('one', { name: 'second', secrets: [] }))).toBe(false);
				expect(await here.clients.get('one')).toEqual(client('one', { name: 'first' }));
			});

			test('of two who create the same id at once, one wins', async () => {
				const outcomes = await Promise.all([
					here.clients.create(client('one', { name: 'here' })),
					there.clients.create(client('one', { name: 'there' })),
				]);
				expect(outcomes.filter(Boolean)).toHaveLength(1);
				expect((await here.clients.get('one'))?.name).toBe(outcomes[0] ? 'here' : 'there');
			});

			test('replacing takes all of the new record and nothing of the old', async () => {
				await here.clients.create(client('one'));
				const next = client('one', { name: 'next', scopes: ['admin'], secrets: [{ hash: 'h', expiresAtMs: 5 }], updatedAtMs: 9 });
				expect(await there.clients.replace(next)).toBe(true);
				expect(await here.clients.get('one')).toEqual(next);
			});

			test('replacing and deleting an unknown client say so', async () => {
				expect(await here.clients.replace(client('nobody'))).toBe(false);
				expect(await here.clients.delete('nobody')).toBe(false);
				expect(await here.clients.list()).toEqual([]);
			});

			test('a deleted client is gone, and its team goes on without it', async () => {
				await here.clients.create(client('one'));
				await here.clients.create(client('two'));
				await here.teams.create(team('red', ['one', 'two']));
				expect(await there.clients.delete('one')).toBe(true);
				expect(await here.clients.get('one')).toBeUndefined();
				expect(await here.teams.get('red')).toEqual(team('red', ['two']));
			});

			test('what a caller does to a record it holds changes nothing here', async () => {
				const scopes = ['invoke'];
				await here.clients.create(client('one', { scopes }));
				scopes.push('admin');
				const held = await here.clients.get('one');
				(held?.scopes as string[] | undefined)?.push('admin');
				expect((await here.clients.get('one'))?.scopes).toEqual(['invoke']);
			});
		});

		describe('teams', () => {
			test('a created team is read back as it was, clients in order, also unknown ones', async () => {
				const record = team('red', ['of-foreign-issuer', 'b', 'a']);
				expect(await here.teams.create(record)).toBe('created');
				expect(await there.teams.get('red')).toEqual(record);
				expect(await there.teams.get('blue')).toBeUndefined();
			});

			test('the list is ordered by id', async () => {
				for (const id of ['b', 'c', 'a']) await here.teams.create(team(id));
				expect((await there.teams.list()).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
			});

			test('a taken id or client changes nothing', async () => {
				await here.teams.create(team('red', ['one']));
				expect(await there.teams.create(team('red', ['two']))).toBe('id_taken');
				expect(await there.teams.create(team('blue', ['two', 'one']))).toBe('client_taken');
				expect(await there.teams.create(team('blue', ['two', 'two']))).toBe('client_taken');
				expect(await here.teams.list()).toEqual([team('red', ['one'])]);
			});

			test('of two teams that take the same client at once, one gets it', async () => {
				const outcomes = await Promise.all([here.teams.create(team('red', ['one'])), there.teams.create(team('blue', ['one']))]);
				expect(outcomes.toSorted()).toEqual(['client_taken', 'created']);
				expect(await here.teams.list()).toHaveLength(1);
			});

			test('replacing changes members, and refuses those of another team', async () => {
				await here.teams.create(team('red', ['one', 'two']));
				await here.teams.create(team('blue', ['three']));
				expect(await there.teams.replace(team('red', ['three']))).toBe('client_taken');
				expect(await there.teams.replace(team('green'))).toBe('unknown');
				expect(await there.teams.replace({ ...team('red', ['two', 'four']), tier: 'premium' })).toBe('replaced');
				expect(await here.teams.get('red')).toEqual({ ...team('red', ['two', 'four']), tier: 'premium' });
				expect(await here.teams.replace(team('blue', ['one']))).toBe('replaced');
			});

			test('deleting a team frees its clients', async () => {
				await here.teams.create(team('red', ['one']));
				expect(await there.teams.delete('red')).toBe(true);
				expect(await there.teams.delete('red')).toBe(false);
				expect(await here.teams.create(team('blue', ['one']))).toBe('created');
			});
		});

		describe('signing keys', () => {
			test('the first key is added when there was none', async () => {
				expect(await here.signingKeys.list()).toEqual([]);
				expect(await here.signingKeys.rotate(key('k1'), 'k0', [])).toBe(false);
				expect(await here.signingKeys.rotate(key('k1'), null, [])).toBe(true);
				expect(await there.signingKeys.rotate(key('k2'), null, [])).toBe(false);
				expect(await there.signingKeys.list()).toEqual([key('k1')]);
			});

			test('a rotation adds one and retires the named ones, oldest first in the list', async () => {
				await here.signingKeys.rotate(key('k9'), null, []);
				await there.signingKeys.rotate(key('k1'), 'k9', [{ kid: 'k9', retiredAtMs: 77 }]);
				expect(await here.signingKeys.list()).toEqual([{ ...key('k9'), retiredAtMs: 77 }, key('k1')]);
			});

			test('of two who rotate at once, one wins and the loser retires nothing', async () => {
				await here.signingKeys.rotate(key('k0'), null, []);
				const outcomes = await Promise.all([
					here.signingKeys.rotate(key('here'), 'k0', [{ kid: 'k0', retiredAtMs: 1 }]),
					there.signingKeys.rotate(key('there'), 'k0', [{ kid: 'k0', retiredAtMs: 2 }]),
				]);
				expect(outcomes.filter(Boolean)).toHaveLength(1);
				const winner = outcomes[0] ? 'here' : 'there';
				expect(await there.signingKeys.list()).toEqual([{ ...key('k0'), retiredAtMs: outcomes[0] ? 1 : 2 }, key(winner)]);
			});

			test('pruning removes those whose end has passed', async () => {
				await here.signingKeys.rotate(key('k1'), null, []);
				await here.signingKeys.rotate(key('k2'), 'k1', [{ kid: 'k1', retiredAtMs: 100 }]);
				await there.signingKeys.prune(100);
				expect(await here.signingKeys.list()).toHaveLength(2);
				await there.signingKeys.prune(101);
				expect(await here.signingKeys.list()).toEqual([key('k2')]);
			});
		});

		describe('changes', () => {
			test('our own are told at once, those of others within a second, refusals and reads never', async () => {
				let told = 0;
				here.onChange(() => told++);
				await here.clients.create(client('one'));
				expect(told).toBe(1);
				await subject.passSecond();
				expect(told).toBe(1);
				await here.clients.create(client('one'));
				await here.clients.list();
				await there.teams.get('red');
				await subject.passSecond();
				expect(told).toBe(1);
				await there.clients.delete('one');
				await subject.passSecond();
				expect(told).toBe(2);
			});

			test('of every kind of record', async () => {
				let told = 0;
				there.onChange(() => told++);
				await there.teams.create(team('red'));
				await there.teams.replace(team('red', ['one']));
				await there.teams.delete('red');
				await there.clients.create(client('one'));
				await there.clients.replace(client('one', { secrets: [] }));
				await there.clients.delete('one');
				await there.signingKeys.rotate({ ...key('k1'), retiredAtMs: 1 }, null, []);
				await there.signingKeys.prune(2);
				expect(told).toBe(8);
			});

			test('a listener that was stopped hears nothing more', async () => {
				let told = 0;
				const stop = here.onChange(() => told++);
				stop();
				await here.clients.create(client('one'));
				await there.clients.create(client('two'));
				await subject.passSecond();
				expect(told).toBe(0);
			});
		});
	});
}

function client(id: string, differences: Partial<ClientRecord> = {}): ClientRecord {
	return {
		id,
		name: id,
		secrets: [{ hash: 'scrypt$2$8$1$c2FsdA$aGFzaA', expiresAtMs: null }],
		scopes: ['invoke'],
		isDisabled: false,
		createdAtMs: 1,
		updatedAtMs: 2,
		...differences,
	};
}

function team(id: string, clientIds: string[] = []): Team {
	return { id, name: `Team ${id}`, tier: 'standard', clientIds };
}

function key(kid: string): SigningKeyRecord {
	return { kid, privateJwk: `{"kid":"${kid}"}`, createdAtMs: 1, activeFromMs: 2, retiredAtMs: null };
}
