/** Contract of every record store. Each backend runs this unchanged. */

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { plainBudget } from '../../core/budget.ts';
import type { ProviderReport } from '../../core/health-report.ts';
import type { RoutingRule } from '../../core/routing-rule.ts';
import type { Team } from '../../core/team.ts';
import type { AuditEntry, Author, Budget, ClientRecord, PriceOverride, RecordStore, SigningKeyRecord } from './records.ts';

export interface RecordsSubject {
	/** Two connections to the same records, like those of two processes; the same store twice if only one process can use it. */
	readonly stores: readonly [RecordStore, RecordStore];
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
					canSetAttributes: true,
					secrets: [
						{ hash: 'scrypt$2$8$1$bmV3$aGFzaA', expiresAtMs: null },
						{ hash: 'scrypt$2$8$1$b2xk$aGFzaA', expiresAtMs: 1_700_000_000_123 },
					],
				});
				expect(await here.clients.create(record)).toBe('created');
				expect(bare(await here.clients.get('one'))).toEqual(record);
				expect(bare(await there.clients.get('one'))).toEqual(record);
			});

			test('a client without scopes and secrets keeps none', async () => {
				const record = client('bare', { scopes: [], secrets: [] });
				await here.clients.create(record);
				expect(bare(await there.clients.get('bare'))).toEqual(record);
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
				expect(await there.clients.create(client('one', { name: 'second', secrets: [] }))).toBe('id_taken');
				expect(bare(await here.clients.get('one'))).toEqual(client('one', { name: 'first' }));
			});

			test('of two who create the same id at once, one wins', async () => {
				const outcomes = await Promise.all([
					here.clients.create(client('one', { name: 'here' })),
					there.clients.create(client('one', { name: 'there' })),
				]);
				expect(outcomes.toSorted()).toEqual(['created', 'id_taken']);
				expect((await here.clients.get('one'))?.name).toBe(outcomes[0] === 'created' ? 'here' : 'there');
			});

			test('replacing takes all of the new record and nothing of the old', async () => {
				await here.clients.create(client('one'));
				const next = client('one', { name: 'next', scopes: ['admin'], secrets: [{ hash: 'h', expiresAtMs: 5 }], updatedAtMs: 9 });
				expect(await there.clients.replace(next)).toBe('replaced');
				expect(bare(await here.clients.get('one'))).toEqual(next);
			});

			test('replacing and deleting an unknown client say so', async () => {
				expect(await here.clients.replace(client('nobody'))).toBe('unknown');
				expect(await here.clients.delete('nobody')).toBe('unknown');
				expect(await here.clients.list()).toEqual([]);
			});

			test('a deleted client no longer exists, and its team stays', async () => {
				await here.clients.create(client('one'));
				await here.clients.create(client('two'));
				await here.teams.create(team('red', ['one', 'two']));
				expect(await there.clients.delete('one')).toBe('deleted');
				expect(await here.clients.get('one')).toBeUndefined();
				expect(bare(await here.teams.get('red'))).toEqual(team('red', ['two']));
			});

			test('changes to an object that a caller got do not change the record', async () => {
				const scopes = ['invoke'];
				await here.clients.create(client('one', { scopes }));
				scopes.push('admin');
				const reserved = await here.clients.get('one');
				(reserved?.scopes as string[] | undefined)?.push('admin');
				expect((await here.clients.get('one'))?.scopes).toEqual(['invoke']);
			});
		});

		describe('teams', () => {
			test('a created team is read back as it was, clients in order, also unknown ones', async () => {
				const record = team('red', ['of-foreign-issuer', 'b', 'a']);
				expect(await here.teams.create(record)).toBe('created');
				expect(bare(await there.teams.get('red'))).toEqual(record);
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
				expect((await here.teams.list()).map(bare)).toEqual([team('red', ['one'])]);
			});

			test('of two teams that take the same client at once, one gets it', async () => {
				const outcomes = await Promise.all([here.teams.create(team('red', ['one'])), there.teams.create(team('blue', ['one']))]);
				expect(outcomes.toSorted()).toEqual(['client_taken', 'created']);
				expect(await here.teams.list()).toHaveLength(1);
			});

			test('replacing changes members, and rejects those of another team', async () => {
				await here.teams.create(team('red', ['one', 'two']));
				await here.teams.create(team('blue', ['three']));
				expect(await there.teams.replace(team('red', ['three']))).toBe('client_taken');
				expect(await there.teams.replace(team('green'))).toBe('unknown');
				expect(await there.teams.replace({ ...team('red', ['two', 'four']), tier: 'premium' })).toBe('replaced');
				expect(bare(await here.teams.get('red'))).toEqual({ ...team('red', ['two', 'four']), tier: 'premium' });
				expect(await here.teams.replace(team('blue', ['one']))).toBe('replaced');
			});

			test('deleting a team frees its clients', async () => {
				await here.teams.create(team('red', ['one']));
				expect(await there.teams.delete('red')).toBe('deleted');
				expect(await there.teams.delete('red')).toBe('unknown');
				expect(await here.teams.create(team('blue', ['one']))).toBe('created');
			});
		});

		describe('what a team has of its own', () => {
			test('is read back as it was: limits that are unlimited, limited or the tier’s, metadata with any key', async () => {
				const metadata = Object.fromEntries([
					['__proto__', 'a'],
					['version', '3'],
					['', 'ü\u0000"'],
				]);
				for (const limits of [{}, { requestsPerMinute: null }, { requestsPerMinute: 0, dailyTokens: 2 ** 40 }, { dailyTokens: null }]) {
					const record: Team = { ...team('red'), limits, metadata, createdAtMs: 5, updatedAtMs: 6 };
					await here.teams.create(record);
					const read = await there.teams.get('red');
					expect(bare(read)).toStrictEqual(record);
					expect(Object.entries(read?.metadata ?? {})).toEqual(Object.entries(metadata));
					await here.teams.delete('red');
				}
			});

			test('is read back as it was: lists of models, providers and facts', async () => {
				const lists: NonNullable<Team['allowLists']>[] = [
					{ models: { allow: ['gpt-*', 'ü/"*'], deny: [], mode: 'monitor' } },
					{ providers: { allow: ['local'] }, require: { region: 'eu' } },
					{ providers: { allow: ['local'], mode: 'enforce' }, require: { retention: 'none', mode: 'monitor' } },
				];
				for (const allowLists of lists) {
					await here.teams.create({ ...team('red'), allowLists });
					expect((await there.teams.get('red'))?.allowLists).toEqual(allowLists);
					await here.teams.delete('red');
				}
			});

			test('is absent when it was absent', async () => {
				await here.teams.create({ ...team('red'), limits: {}, allowLists: {}, metadata: {}, createdAtMs: 5, updatedAtMs: 6 });
				await here.teams.replace(team('red'));
				expect(bare(await there.teams.get('red'))).toStrictEqual(team('red'));
			});
		});

		describe('budgets', () => {
			test('are read back as they were, ordered by id', async () => {
				const records = [
					budget('b'),
					budget('a', { model: 'claude', limitNanoUsd: 2n ** 63n - 1n, warningThresholdPercent: 0.5, hardLimitPercent: 250 }),
				];
				for (const record of records) expect(await here.budgets.create(record)).toBe('created');
				expect((await there.budgets.list()).map(bare)).toStrictEqual(records.toReversed());
				expect(bare(await there.budgets.get('b'))).toStrictEqual(budget('b'));
				expect(await there.budgets.get('c')).toBeUndefined();
			});

			test('of every scope, window and action are read as they were written, one for each scope and window', async () => {
				const whole = budget('whole', {
					model: 'gpt-*',
					client: 'bot',
					provider: 'provider_b',
					attribute: 'project=a=b',
					window: 'week',
					timezone: 'America/New_York',
					weekStart: 'sunday',
					whenExceeded: 'fallback_model',
					fallbackModel: 'claude',
					raise: { limitNanoUsd: 2n ** 60n, untilMs: 2 ** 41 },
					mode: 'monitor',
				});
				expect(await here.budgets.create(whole)).toBe('created');
				expect(bare(await there.budgets.get('whole'))).toEqual(whole);
				expect(await there.budgets.create({ ...whole, id: 'again', timezone: 'UTC' })).toBe('scope_taken');
				expect(await there.budgets.create({ ...whole, id: 'daily', window: 'day' })).toBe('created');
				expect(await there.budgets.create({ ...whole, id: 'other', attribute: 'project=b' })).toBe('created');
			});

			test('there is one of a team, and one of each of its models', async () => {
				await here.budgets.create(budget('all'));
				expect(await there.budgets.create(budget('all again'))).toBe('scope_taken');
				expect(await there.budgets.create(budget('claude', { model: 'claude' }))).toBe('created');
				expect(await there.budgets.create(budget('claude again', { model: 'claude' }))).toBe('scope_taken');
				expect(await there.budgets.create(budget('gpt', { model: 'gpt' }))).toBe('created');
				expect(await there.budgets.create(budget('blue', { team: 'blue' }))).toBe('created');
				expect(await here.budgets.replace(budget('gpt', { model: 'claude' }))).toBe('scope_taken');
				expect(await here.budgets.replace(budget('gpt', { model: null }))).toBe('scope_taken');
				expect(await here.budgets.replace(budget('gpt', { model: 'gpt', limitNanoUsd: 7n }))).toBe('replaced');
				expect((await here.budgets.list()).map(({ id }) => id)).toEqual(['all', 'blue', 'claude', 'gpt']);
			});

			test('of two who create one of the same scope at once, one does', async () => {
				const outcomes = await Promise.all([here.budgets.create(budget('here')), there.budgets.create(budget('there'))]);
				expect(outcomes.toSorted()).toEqual(['created', 'scope_taken']);
				expect(await here.budgets.list()).toHaveLength(1);
			});

			test('go with their team, and no others', async () => {
				await here.teams.create(team('red'));
				for (const record of [budget('a'), budget('b', { model: 'gpt' }), budget('c', { team: 'blue' })]) await here.budgets.create(record);
				await there.teams.delete('red');
				expect((await here.budgets.list()).map(({ id }) => id)).toEqual(['c']);
			});
		});

		describe('routing rules', () => {
			test('are read back as they were, replaced and deleted', async () => {
				const rules = [
					rule('b'),
					rule('a', { isEnabled: false, mode: 'monitor', strategy: 'weighted', match: { model: 'gpt', team: null, format: 'chat' } }),
				];
				for (const record of rules) expect(await here.routingRules.create(record)).toBe('created');
				expect((await there.routingRules.list()).map(bare)).toStrictEqual(rules.toReversed());
				expect(await there.routingRules.create(rule('a'))).toBe('id_taken');
				const known = await there.routingRules.get('a');
				expect(await here.routingRules.replace(rule('a', { priority: -5 }), { ifVersion: known?.version ?? 0 })).toBe('replaced');
				expect(await here.routingRules.replace(rule('a'), { ifVersion: known?.version ?? 0 })).toBe('stale');
				expect((await there.routingRules.get('a'))?.priority).toBe(-5);
				expect(await here.routingRules.delete('a')).toBe('deleted');
				expect(await there.routingRules.get('a')).toBeUndefined();
			});
		});

		describe('price overrides', () => {
			test('are read back as they were, by provider and model', async () => {
				const records = [price('b', 'x'), price('a', 'y/z'), price('a', 'x', { inputPicoUsd: 2n ** 60n, outputPicoUsd: 0n })];
				for (const record of records) expect(await here.priceOverrides.create(record)).toBe('created');
				expect((await there.priceOverrides.list()).map(bare)).toStrictEqual(records.toReversed());
				expect(bare(await there.priceOverrides.get({ provider: 'a', model: 'y/z' }))).toStrictEqual(price('a', 'y/z'));
				expect(await there.priceOverrides.get({ provider: 'a/y', model: 'z' })).toBeUndefined();
				expect(await there.priceOverrides.create(price('a', 'x'))).toBe('id_taken');
			});

			test('are replaced and deleted', async () => {
				await here.priceOverrides.create(price('a', 'x'));
				expect(await there.priceOverrides.replace(price('a', 'x', { inputPicoUsd: 9n }))).toBe('replaced');
				expect(await there.priceOverrides.replace(price('a', 'y'))).toBe('unknown');
				expect((await here.priceOverrides.get({ provider: 'a', model: 'x' }))?.inputPicoUsd).toBe(9n);
				expect(await here.priceOverrides.delete({ provider: 'a', model: 'x' })).toBe('deleted');
				expect(await here.priceOverrides.list()).toEqual([]);
			});
		});

		describe('versions', () => {
			const versionOf = async (id: string): Promise<number> => (await here.budgets.get(id))?.version ?? -1;

			test('change with every change, and never come again', async () => {
				const seen: number[] = [];
				for (let round = 0; round < 3; round++) {
					await here.budgets.create(budget('one'));
					seen.push(await versionOf('one'));
					await there.budgets.replace(budget('one'));
					seen.push(await versionOf('one'));
					await there.teams.create(team(`team ${round}`));
					seen.push((await here.teams.get(`team ${round}`))?.version ?? -1);
					await here.budgets.delete('one');
				}
				expect(new Set(seen).size).toBe(9);
				expect(seen).toEqual(seen.toSorted((left, right) => left - right));
			});

			test('a change that was meant for another state changes nothing', async () => {
				await here.budgets.create(budget('one'));
				const stale = await versionOf('one');
				await there.budgets.replace(budget('one', { limitNanoUsd: 1n }), { ifVersion: stale });
				expect(await here.budgets.replace(budget('one', { limitNanoUsd: 2n }), { ifVersion: stale })).toBe('stale');
				expect(await here.budgets.delete('one', { ifVersion: stale })).toBe('stale');
				expect((await there.budgets.get('one'))?.limitNanoUsd).toBe(1n);
				expect(await here.budgets.replace(budget('two'), { ifVersion: stale })).toBe('unknown');
				expect(await here.budgets.delete('one', { ifVersion: await versionOf('one') })).toBe('deleted');
			});

			test('of two who replace the same state at once, one does', async () => {
				await here.teams.create(team('red'));
				const read = await here.teams.get('red');
				const ifVersion = read?.version ?? -1;
				const outcomes = await Promise.all([
					here.teams.replace({ ...team('red'), name: 'here' }, { ifVersion }),
					there.teams.replace({ ...team('red'), name: 'there' }, { ifVersion }),
				]);
				expect(outcomes.toSorted()).toEqual(['replaced', 'stale']);
			});

			test('a client has one too', async () => {
				await here.clients.create(client('one'));
				const ifVersion = (await there.clients.get('one'))?.version ?? -1;
				const outcomes = await Promise.all([
					here.clients.replace(client('one', { name: 'here' }), { ifVersion }),
					there.clients.replace(client('one', { name: 'there' }), { ifVersion }),
				]);
				expect(outcomes.toSorted()).toEqual(['replaced', 'stale']);
				expect(await here.clients.delete('one', { ifVersion })).toBe('stale');
			});

			test('a team has another when it loses a deleted client', async () => {
				await here.clients.create(client('one'));
				await here.teams.create(team('red', ['one']));
				const ifVersion = (await here.teams.get('red'))?.version ?? -1;
				await there.clients.delete('one');
				expect(await here.teams.replace(team('red', ['one']), { ifVersion })).toBe('stale');
			});
		});

		describe('the audit log', () => {
			const entries = async (query: Partial<Parameters<RecordStore['audit']['list']>[0]> = {}): Promise<readonly AuditEntry[]> =>
				(await there.audit.list({ limit: 100, ...query })).entries;

			test('contains who changed what and when, before and after, newest first', async () => {
				await here.budgets.create(budget('one'), { author });
				await here.budgets.replace(budget('one', { limitNanoUsd: 7n }), { author: { ...author, requestId: 'req_1' } });
				await here.budgets.delete('one', { author });
				const found = await entries();
				expect(found.map(({ action, requestId }) => [action, requestId])).toEqual([
					['delete', null],
					['replace', 'req_1'],
					['create', null],
				]);
				expect(found[1]).toMatchObject({ atMs: author.atMs, actor: author.actor, kind: 'budget', key: 'one' });
				const [before, after] = [found[1]?.before, found[1]?.after].map((text) => JSON.parse(text ?? '') as unknown);
				expect([before, after]).toEqual([
					{ ...budget('one'), limitNanoUsd: '5000' },
					{ ...budget('one'), limitNanoUsd: '7' },
				]);
				expect([found[0]?.after, found[2]?.before]).toEqual([null, null]);
			});

			test('contains nothing of a change that was not made, and of one without an author', async () => {
				await here.budgets.create(budget('one'));
				await here.budgets.create(budget('one'), { author });
				await here.budgets.create(budget('two'), { author });
				await here.budgets.replace(budget('one'), { author, ifVersion: -1 });
				await here.teams.delete('nobody', { author });
				await here.clients.delete('nobody', { author });
				await here.clients.replace(client('nobody'), { author });
				expect(await entries()).toEqual([]);
			});

			test('contains every kind of record, and records deleted with a team or a client', async () => {
				await here.clients.create(client('one'), { author });
				await here.clients.create(client('one'), { author });
				await here.teams.create({ ...team('red', ['one']), metadata: { version: 'kept' } }, { author });
				await here.budgets.create(budget('b'), { author });
				await here.priceOverrides.create(price('a', 'x'), { author });
				await here.routingRules.create(rule('r'), { author });
				await here.clients.delete('one', { author });
				await here.teams.delete('red', { author });
				expect((await entries()).map(({ kind, action, key }) => `${action} ${kind} ${key}`)).toEqual([
					'delete team red',
					'delete budget b',
					'delete client one',
					'replace team red',
					'create routing_rule r',
					'create price_override a/x',
					'create budget b',
					'create team red',
					'create client one',
				]);
				expect((await entries({ kind: 'team', key: 'red' })).map(({ action }) => action)).toEqual(['delete', 'replace', 'create']);
				expect((await entries({ kind: 'team' })).at(-1)?.after).toContain('"metadata":{"version":"kept"}');
				expect((await entries({ key: 'one' })).map(({ kind }) => kind)).toEqual(['client', 'client']);
			});

			test('contains no secret', async () => {
				await here.clients.create(client('one'), { author });
				await here.clients.replace(client('one', { secrets: [{ hash: 'scrypt$other', expiresAtMs: null }] }), { author });
				expect(JSON.stringify(await entries())).not.toContain('scrypt');
			});

			test('takes entries of others', async () => {
				const entry: AuditEntry = { ...author, requestId: null, action: 'create', kind: 'team', key: 'x', before: null, after: '{}' };
				await here.audit.append(entry);
				expect(await entries()).toEqual([entry]);
			});

			test('is read in pages that new entries do not move', async () => {
				for (const id of ['a', 'b', 'c']) await here.teams.create(team(id), { author });
				const first = await here.audit.list({ limit: 2 });
				expect(first.entries.map(({ key }) => key)).toEqual(['c', 'b']);
				await here.teams.create(team('d'), { author });
				const second = await here.audit.list({ limit: 2, cursor: first.nextCursor ?? '' });
				expect([second.entries.map(({ key }) => key), second.nextCursor]).toEqual([['a'], null]);
				await expect(here.audit.list({ limit: 2, cursor: 'x' })).rejects.toThrow(RangeError);
			});
		});

		describe('signing keys', () => {
			test('the first key is added when there was none', async () => {
				expect(await here.signingKeys.list()).toEqual([]);
				expect(await here.signingKeys.rotate(signingKey('k1'), 'k0', [])).toBe(false);
				expect(await here.signingKeys.rotate(signingKey('k1'), null, [])).toBe(true);
				expect(await there.signingKeys.rotate(signingKey('k2'), null, [])).toBe(false);
				expect(await there.signingKeys.list()).toEqual([signingKey('k1')]);
			});

			test('a rotation adds one and retires the named ones, oldest first in the list', async () => {
				await here.signingKeys.rotate(signingKey('k9'), null, []);
				await there.signingKeys.rotate(signingKey('k1'), 'k9', [{ kid: 'k9', retiredAtMs: 77 }]);
				expect(await here.signingKeys.list()).toEqual([{ ...signingKey('k9'), retiredAtMs: 77 }, signingKey('k1')]);
			});

			test('of two who rotate at once, one wins and the loser retires nothing', async () => {
				await here.signingKeys.rotate(signingKey('k0'), null, []);
				const outcomes = await Promise.all([
					here.signingKeys.rotate(signingKey('here'), 'k0', [{ kid: 'k0', retiredAtMs: 1 }]),
					there.signingKeys.rotate(signingKey('there'), 'k0', [{ kid: 'k0', retiredAtMs: 2 }]),
				]);
				expect(outcomes.filter(Boolean)).toHaveLength(1);
				const winner = outcomes[0] ? 'here' : 'there';
				expect(await there.signingKeys.list()).toEqual([{ ...signingKey('k0'), retiredAtMs: outcomes[0] ? 1 : 2 }, signingKey(winner)]);
			});

			test('pruning removes those whose end has passed', async () => {
				await here.signingKeys.rotate(signingKey('k1'), null, []);
				await here.signingKeys.rotate(signingKey('k2'), 'k1', [{ kid: 'k1', retiredAtMs: 100 }]);
				await there.signingKeys.prune(100);
				expect(await here.signingKeys.list()).toHaveLength(2);
				await there.signingKeys.prune(101);
				expect(await here.signingKeys.list()).toEqual([signingKey('k2')]);
			});

			test('the form of private keys is replaced where it is still the one named, and nothing else', async () => {
				await here.signingKeys.rotate(signingKey('k1'), null, []);
				await here.signingKeys.rotate(signingKey('k2'), 'k1', [{ kid: 'k1', retiredAtMs: 100 }]);
				const from = signingKey('k1').privateJwk;
				await there.signingKeys.replacePrivateJwks([
					{ kid: 'k1', from, to: 'sealed' },
					{ kid: 'k2', from, to: 'of another' },
					{ kid: 'k3', from, to: 'of none' },
				]);
				const expected = [{ ...signingKey('k1'), privateJwk: 'sealed', retiredAtMs: 100 }, signingKey('k2')];
				expect(await here.signingKeys.list()).toEqual(expected);
				await here.signingKeys.replacePrivateJwks([{ kid: 'k1', from, to: 'too late' }]);
				expect(await there.signingKeys.list()).toEqual(expected);
			});
		});

		describe('reports of providers', () => {
			const unhealthy: ProviderReport = { b: { state: 'unhealthy', sinceMs: 1_700_000_000_123, detail: "answered 500 \u0000 'x'" } };
			const reported = { model: 'm', limit: null, remaining: 0, resetsAtMs: null, reportedAtMs: 1_700_000_000_123 };
			const rateLimits = [{ ...reported, kind: 'tokens', limit: 5, resetsAtMs: 7 } as const, { ...reported, kind: 'retry_after' } as const];
			const healthy: ProviderReport = { b: { state: 'healthy', sinceMs: null, detail: null, rateLimits } };
			const longMs = 60_000;

			test('of each process the latest is read by everybody, until it is forgotten', async () => {
				await here.providerReports.put('two', healthy, longMs);
				await here.providerReports.put('one', {}, longMs);
				await there.providerReports.put('two', unhealthy, longMs);
				for (const store of subject.stores) {
					expect([...(await store.providerReports.read())]).toEqual([
						['one', {}],
						['two', unhealthy],
					]);
				}
				await there.providerReports.forget('two');
				await there.providerReports.forget('nobody');
				expect([...(await here.providerReports.read()).keys()]).toEqual(['one']);
			});

			test('one that is not renewed expires after its life, one that is renewed stays', async () => {
				await here.providerReports.put('dead', unhealthy, 1);
				await here.providerReports.put('alive', unhealthy, 1);
				await here.providerReports.put('alive', healthy, longMs);
				await subject.passSecond();
				expect([...(await there.providerReports.read())]).toEqual([['alive', healthy]]);
			});

			test('are no change of the records', async () => {
				let notifications = 0;
				for (const store of subject.stores) store.onChange(() => notifications++);
				await here.providerReports.put('one', unhealthy, longMs);
				await there.providerReports.put('one', healthy, longMs);
				await there.providerReports.forget('one');
				await subject.passSecond();
				await subject.passSecond();
				expect(notifications).toBe(0);
			});
		});

		describe('changes', () => {
			test('of this process are announced at once, those of others within a second, rejections and reads never', async () => {
				let notifications = 0;
				here.onChange(() => notifications++);
				await here.clients.create(client('one'));
				expect(notifications).toBe(1);
				await subject.passSecond();
				expect(notifications).toBe(1);
				await here.clients.create(client('one'));
				await here.clients.list();
				await there.teams.get('red');
				await subject.passSecond();
				expect(notifications).toBe(1);
				await there.clients.delete('one');
				await subject.passSecond();
				expect(notifications).toBe(2);
			});

			test('of every kind of record', async () => {
				let notifications = 0;
				there.onChange(() => notifications++);
				await there.teams.create(team('red'));
				await there.teams.replace(team('red', ['one']));
				await there.teams.delete('red');
				await there.clients.create(client('one'));
				await there.clients.replace(client('one', { secrets: [] }));
				await there.clients.delete('one');
				await there.signingKeys.rotate({ ...signingKey('k1'), retiredAtMs: 1 }, null, []);
				await there.signingKeys.prune(2);
				expect(notifications).toBe(8);
				await there.budgets.create(budget('b'));
				await there.budgets.replace(budget('b'));
				await there.budgets.delete('b');
				await there.priceOverrides.create(price('a', 'x'));
				await there.routingRules.create(rule('r'));
				expect(notifications).toBe(13);
			});

			test('a listener that was stopped hears nothing more', async () => {
				let notifications = 0;
				const stop = here.onChange(() => notifications++);
				stop();
				await here.clients.create(client('one'));
				await there.clients.create(client('two'));
				await subject.passSecond();
				expect(notifications).toBe(0);
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
		canSetAttributes: false,
		createdAtMs: 1,
		updatedAtMs: 2,
		...differences,
	};
}

function team(id: string, clientIds: string[] = []): Team {
	return { id, name: `Team ${id}`, tier: 'standard', clientIds };
}

const author: Author = { actor: 'client:console', atMs: 1_700_000_000_000 };

function bare<Value extends { readonly version: number }>(stored: Value | undefined): Omit<Value, 'version'> | undefined {
	if (stored === undefined) return undefined;
	const { version: _version, ...value } = stored;
	return value;
}

function budget(id: string, differences: Partial<Budget> = {}): Budget {
	return {
		...plainBudget,
		id,
		team: 'red',
		model: null,
		limitNanoUsd: 5000n,
		warningThresholdPercent: 80,
		hardLimitPercent: 100,
		createdAtMs: 1,
		updatedAtMs: 2,
		...differences,
	};
}

function rule(id: string, differences: Partial<RoutingRule> = {}): RoutingRule {
	return {
		id,
		name: `Rule ${id}`,
		priority: 100,
		isEnabled: true,
		mode: 'enforce',
		match: { model: null, team: 'red', format: null },
		strategy: 'priority',
		targets: [
			{ provider: 'provider_a', model: null, weight: 1 },
			{ provider: 'provider_b', model: 'gpt-5', weight: 0 },
		],
		createdAtMs: 1,
		updatedAtMs: 2,
		...differences,
	};
}

function price(provider: string, model: string, differences: Partial<PriceOverride> = {}): PriceOverride {
	return {
		provider,
		model,
		inputPicoUsd: 3_000_000n,
		outputPicoUsd: 15_000_000n,
		cacheReadPicoUsd: 300_000n,
		cacheWritePicoUsd: 3_750_000n,
		updatedAtMs: 3,
		...differences,
	};
}

function signingKey(kid: string): SigningKeyRecord {
	return { kid, privateJwk: `{"kid":"${kid}"}`, createdAtMs: 1, activeFromMs: 2, retiredAtMs: null };
}
