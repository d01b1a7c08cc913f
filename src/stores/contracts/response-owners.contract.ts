/** Contract of every store of response owners. Each backend runs this unchanged. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ResponseOwner, ResponseOwners } from './response-owners.ts';

export interface ResponseOwnersSubject {
	/** Two connections to the same owners, like those of two processes; the same store twice if only one process can use it. */
	readonly owners: readonly [ResponseOwners, ResponseOwners];
	nowMs(): number;
	dispose(): Promise<void>;
}

export function responseOwnersContract(name: string, open: () => Promise<ResponseOwnersSubject>): void {
	describe(`response owners in ${name}`, () => {
		let subject: ResponseOwnersSubject;
		let here: ResponseOwners;
		let there: ResponseOwners;
		beforeEach(async () => {
			subject = await open();
			[here, there] = subject.owners;
		});
		afterEach(() => subject.dispose());

		const owner = (team: string, changed: Partial<ResponseOwner> = {}): ResponseOwner => ({
			team,
			provider: 'provider_b',
			model: 'gpt-5.6',
			expiresAtMs: subject.nowMs() + 3_600_000,
			...changed,
		});

		const found = async (store: ResponseOwners, id: string): Promise<ResponseOwner | undefined> => (await store.find([id])).get(id);

		test('a noted id is found by every process', async () => {
			const red = owner('red', { provider: 'azure', model: 'my "deployment" ünï' });
			await here.note(['resp_1', 'msg_1'], red);
			for (const store of subject.owners) {
				expect(await found(store, 'resp_1')).toEqual(red);
				expect(await found(store, 'msg_1')).toEqual(red);
			}
		});

		test('an unknown id is undefined', async () => {
			await here.note(['resp_1'], owner('red'));
			for (const id of ['resp_2', 'RESP_1', 'resp_', '', '__proto__', "x' OR '1'='1"]) expect(await found(here, id)).toBeUndefined();
		});

		test('many ids are found at once, each once', async () => {
			const red = owner('red');
			await here.note(['resp_1', 'msg_1'], red);
			await here.note(['resp_2'], owner('blue'));
			const owners = await there.find(['resp_2', 'resp_9', 'resp_1', 'resp_1']);
			expect([...owners.keys()].toSorted()).toEqual(['resp_1', 'resp_2']);
			expect(owners.get('resp_1')).toEqual(red);
			expect(await there.find([])).toEqual(new Map());
		});

		test('no ids are no change', async () => {
			await here.note([], owner('red'));
			expect(await found(here, '')).toBeUndefined();
		});

		test('an id that is noted twice at once has one owner', async () => {
			const red = owner('red');
			await here.note(['resp_1', 'resp_1'], red);
			expect(await found(there, 'resp_1')).toEqual(red);
		});

		test('the same team extends the expiry of an id', async () => {
			await here.note(['resp_1'], owner('red'));
			const later = owner('red', { expiresAtMs: subject.nowMs() + 7_200_000 });
			await there.note(['resp_1', 'msg_1'], later);
			expect(await found(here, 'resp_1')).toEqual(later);
		});

		test('another team cannot take over an id, but gets the new ids next to it', async () => {
			const red = owner('red');
			await here.note(['resp_1'], red);
			await there.note(['resp_1', 'resp_2'], owner('blue'));
			expect(await found(here, 'resp_1')).toEqual(red);
			expect(await found(here, 'resp_2')).toHaveProperty('team', 'blue');
		});

		test('an expired id is unknown, before and after a sweep, and free for another team', async () => {
			await here.note(['old'], owner('red', { expiresAtMs: subject.nowMs() - 1 }));
			await here.note(['new'], owner('red'));
			expect(await found(there, 'old')).toBeUndefined();
			await here.note(['old'], owner('blue'));
			expect(await found(there, 'old')).toHaveProperty('team', 'blue');
			await here.note(['older'], owner('red', { expiresAtMs: subject.nowMs() - 1 }));
			await there.sweep(10);
			expect(await found(here, 'older')).toBeUndefined();
			expect(await found(here, 'new')).toHaveProperty('team', 'red');
		});

		test('a sweep removes thousands of ids', async () => {
			const ids = Array.from({ length: 2500 }, (_, index) => `id_${index}`);
			await here.note(ids, owner('red'));
			await here.note(['last'], owner('red'));
			await there.sweep(1);
			expect([...(await here.find([...ids, 'last'])).keys()]).toEqual(['last']);
		});

		test('a forgotten id is unknown to every process', async () => {
			await here.note(['resp_1', 'resp_2'], owner('red'));
			await there.forget('resp_1');
			await there.forget('resp_9');
			expect(await found(here, 'resp_1')).toBeUndefined();
			expect(await found(here, 'resp_2')).toHaveProperty('team', 'red');
		});

		test('a sweep keeps the newest ids within the limit', async () => {
			for (const id of ['a', 'b', 'c', 'd']) await here.note([id], owner('red'));
			await there.sweep(4);
			expect(await found(here, 'a')).toHaveProperty('team', 'red');
			await there.sweep(2);
			const owners = await here.find(['a', 'b', 'c', 'd']);
			expect([...owners.keys()].toSorted()).toEqual(['c', 'd']);
		});
	});
}
