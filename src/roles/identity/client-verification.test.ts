import { describe, expect, test } from 'vitest';
import { agent, cheapCost, timeInOrder } from '../../../test/support/identity.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { createMemoryRecords } from '../../../test/support/memory-records.ts';
import { createRecordingLog } from '../../../test/support/recording-log.ts';
import { systemClock } from '../../io/system-clock.ts';
import type { ScryptCost } from '../../stores/contracts/client-secret.ts';
import { createClientsAdministration } from '../../stores/contracts/clients-administration.ts';
import type { ClientStore } from '../../stores/contracts/records.ts';
import { createAttemptThrottle } from './attempt-throttle.ts';
import { type ClientVerification, createClientVerification } from './client-verification.ts';
import { readConfiguredClients } from './identity.ts';

const address = '192.0.2.1';

async function makeVerification(
	cost: ScryptCost = cheapCost,
	maxPerMinute = 100,
): Promise<{ verification: ClientVerification; clients: ClientStore; clock: ManualClock }> {
	const { clients } = createMemoryRecords();
	for (const record of (await readConfiguredClients([agent], cost)).values()) await clients.create(record);
	const clock = new ManualClock();
	const verification = createClientVerification({
		findClient: clients.get,
		throttle: createAttemptThrottle(clock, () => maxPerMinute),
		clock,
		log: createRecordingLog(),
		cost,
	});
	return { verification, clients, clock };
}

/** Returns the code of the rejection; `right` if there was none. */
async function outcomeOf(verified: Promise<unknown>): Promise<string> {
	try {
		await verified;
		return 'right';
	} catch (cause) {
		return cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
	}
}

describe('verifying a client', () => {
	test('tells right from wrong, also for secrets that differ in one character or in length', async () => {
		const { verification } = await makeVerification();
		for (const [secret, outcome] of [
			[agent.secret, 'right'],
			[`${agent.secret}0`, 'invalid_client'],
			[agent.secret.slice(0, -1), 'invalid_client'],
			[agent.secret.toUpperCase(), 'invalid_client'],
			['', 'invalid_client'],
		] as const) {
			expect(await outcomeOf(verification.verify({ id: agent.id, secret }, address))).toBe(outcome);
		}
	});

	test('an expired secret, a disabled client and an unreadable hash are all wrong', async () => {
		const { verification, clients, clock } = await makeVerification();
		const record = await clients.get(agent.id);
		if (record === undefined) throw new Error('no client');
		const [secret] = record.secrets;
		if (secret === undefined) throw new Error('no secret');
		const verify = (): Promise<string> => outcomeOf(verification.verify(agent, address));
		await clients.replace({ ...record, secrets: [{ ...secret, expiresAtMs: clock.nowMs() + 1000 }] });
		expect(await verify()).toBe('right');
		clock.advance(1000);
		expect(await verify()).toBe('invalid_client');
		await clients.replace({ ...record, isDisabled: true });
		expect(await verify()).toBe('invalid_client');
		await clients.replace({ ...record, secrets: [{ hash: 'scrypt$64$8$1$x$y', expiresAtMs: null }] });
		expect(await verify()).toBe('invalid_client');
		await clients.replace(record);
		expect(await verify()).toBe('right');
	});

	test('many processes of one client that start together all authenticate, for the work of one', async () => {
		const { verification } = await makeVerification();
		const outcomes = await Promise.all(Array.from({ length: 500 }, () => outcomeOf(verification.verify(agent, address))));
		expect(new Set(outcomes)).toEqual(new Set(['right']));
	});

	test('of a flood of different secrets few are queued, and the rest gets a retry time', async () => {
		const { verification } = await makeVerification(cheapCost, 1000);
		const guesses = Array.from({ length: 200 }, (_, index) =>
			outcomeOf(verification.verify({ id: agent.id, secret: `guess ${index}` }, address)),
		);
		const outcomes = await Promise.all(guesses);
		expect(outcomes.filter((outcome) => outcome === 'invalid_client')).toHaveLength(66);
		expect(outcomes.filter((outcome) => outcome === 'overloaded')).toHaveLength(134);
		expect(await outcomeOf(verification.verify(agent, address))).toBe('right');
	});

	test('a client that was verified before needs no slot in a full queue', async () => {
		const { verification } = await makeVerification(cheapCost, 1000);
		await verification.verify(agent, address);
		const flood = Array.from({ length: 200 }, (_, index) =>
			outcomeOf(verification.verify({ id: 'other', secret: `guess ${index}` }, address)),
		);
		expect(await outcomeOf(verification.verify(agent, address))).toBe('right');
		await Promise.all(flood);
	});

	test('exactly the allowed number of different guesses is verified, however many arrive together', async () => {
		const { verification, clock } = await makeVerification(cheapCost, 10);
		const guesses = Array.from({ length: 50 }, (_, index) =>
			outcomeOf(verification.verify({ id: agent.id, secret: `guess ${index}` }, address)),
		);
		const outcomes = await Promise.all(guesses);
		expect(outcomes.filter((outcome) => outcome === 'invalid_client')).toHaveLength(10);
		expect(outcomes.filter((outcome) => outcome === 'too_many_attempts')).toHaveLength(40);
		clock.advance(60_000);
		expect(await outcomeOf(verification.verify(agent, address))).toBe('right');
	});

	test('a right secret uses up none of the wrong ones', async () => {
		const { verification } = await makeVerification(cheapCost, 1);
		const outcomes: string[] = [];
		for (const secret of [agent.secret, 'wrong', 'wrong']) {
			outcomes.push(await outcomeOf(verification.verify({ id: agent.id, secret }, address)));
		}
		expect(outcomes).toEqual(['right', 'invalid_client', 'too_many_attempts']);
	});

	test.each(['agent', 'nobody', 'x'.repeat(1000), "'; --"])('wrong secrets for %.10s are throttled, known or not', async (id) => {
		const { verification } = await makeVerification(cheapCost, 3);
		const outcomes: string[] = [];
		for (let index = 0; index < 4; index++) outcomes.push(await outcomeOf(verification.verify({ id, secret: `guess ${index}` }, address)));
		expect(outcomes).toEqual(['invalid_client', 'invalid_client', 'invalid_client', 'too_many_attempts']);
	});

	test('guessing locks out the guesser, not the client, and the right secret does not unlock it', async () => {
		const { verification } = await makeVerification(cheapCost, 5);
		for (let index = 0; index < 5; index++) await outcomeOf(verification.verify({ id: agent.id, secret: 'wrong' }, address));
		expect(await outcomeOf(verification.verify(agent, address))).toBe('too_many_attempts');
		expect(await outcomeOf(verification.verify(agent, '192.0.2.2'))).toBe('right');
	});
});

describe('time of a verification', () => {
	test('an unknown client takes as long as a wrong secret', async () => {
		const { verification } = await makeVerification({ ...cheapCost, cost: 512 }, 1_000_000);
		const guess = (id: string) => (index: number) => outcomeOf(verification.verify({ id, secret: `wrong ${index}` }, address));
		const [wrongMs, unknownMs] = await timeInOrder(300, guess(agent.id), guess('nobody'));
		expect(Math.abs(wrongMs - unknownMs) / wrongMs).toBeLessThan(0.25);
	});

	test('a client with two secrets takes as long as one with one', async () => {
		const { verification, clients } = await makeVerification({ ...cheapCost, cost: 512 }, 1_000_000);
		const administration = createClientsAdministration({ clients, clock: systemClock });
		await administration.rotateSecret(agent.id, 3600);
		expect((await clients.get(agent.id))?.secrets).toHaveLength(2);
		expect(await outcomeOf(verification.verify(agent, address))).toBe('right');
		const guess = (id: string) => (index: number) => outcomeOf(verification.verify({ id, secret: `wrong ${index}` }, address));
		const [wrongMs, unknownMs] = await timeInOrder(300, guess(agent.id), guess('nobody'));
		expect(Math.abs(wrongMs - unknownMs) / wrongMs).toBeLessThan(0.25);
	});
});
