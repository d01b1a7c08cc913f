import { createHash, randomBytes } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import { testKeySetSettings } from '../../test/support/edge-bench.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { mutate, seededNumbers } from '../../test/support/mutations.ts';
import { createRecordingLog } from '../../test/support/recording-log.ts';
import { makeSigningKey, TestIssuer } from '../../test/support/test-issuer.ts';
import { until } from '../../test/support/until.ts';
import { Rejection } from '../core/rejection.ts';
import type { AccessTokenVerifier } from '../policy/access/access-token-verifier.ts';
import { createAccessTokenVerifier, RecentCallers } from './access-tokens.ts';
import { KeySet } from './key-set.ts';

async function startBench(cacheSize = 100) {
	const clock = new ManualClock();
	const issuer = await TestIssuer.start({ nowSeconds: () => Math.floor(clock.nowMs() / 1000) });
	const source = { read: () => Promise.resolve({ keys: issuer.published }) };
	const keySet = new KeySet(source, testKeySetSettings, { clock, log: createRecordingLog() });
	await keySet.start();
	onTestFinished(async () => {
		keySet.stop();
		await issuer.stop();
	});
	const rules = { issuer: issuer.issuer, audience: null, clockSkewSeconds: 5, maxLifetimeSeconds: null };
	return { clock, issuer, keySet, verifier: createAccessTokenVerifier({ ...rules, cacheSize }, { keySet, clock }) };
}

test('a cached token returns the same client, synchronously', async () => {
	const { issuer, verifier } = await startBench();
	const accessToken = issuer.accessToken();
	expect(verifier.verify(accessToken)).toBe(verifier.verify(accessToken));
});

test('a token is cached by its SHA-256, not by itself', async () => {
	const { issuer, verifier } = await startBench();
	const cached = vi.spyOn(RecentCallers.prototype, 'add');
	onTestFinished(() => cached.mockRestore());
	const accessToken = issuer.accessToken();
	void verifier.verify(accessToken);
	expect(cached.mock.calls.map(([key]) => key)).toEqual([createHash('sha256').update(accessToken).digest('latin1')]);
});

test('a cached token expires with its exp and the skew', async () => {
	const { clock, issuer, verifier } = await startBench();
	const accessToken = issuer.accessToken({ exp: issuer.nowSeconds() + 60 });
	void verifier.verify(accessToken);
	clock.advance(64_999);
	void verifier.verify(accessToken);
	clock.advance(1);
	expect(() => verifier.verify(accessToken)).toThrow(Rejection);
});

test('a cached token expires with its exp, and with its key', async () => {
	const { clock, issuer, keySet, verifier } = await startBench();
	const accessToken = issuer.accessToken({ exp: issuer.nowSeconds() + 3600 });
	const caller = verifier.verify(accessToken);
	expect(verifier.verify(accessToken)).toBe(caller);
	const { generation } = keySet;
	issuer.key = makeSigningKey('next');
	issuer.published = [issuer.key.jwk];
	clock.advance(testKeySetSettings.maxAgeMs);
	await until(() => keySet.generation !== generation);
	await expect(async () => verifier.verify(accessToken)).rejects.toThrow(Rejection);
	const next = issuer.accessToken({ exp: issuer.nowSeconds() + 60 });
	void verifier.verify(next);
	clock.advance(65_000);
	expect(() => verifier.verify(next)).toThrow(Rejection);
});

test('the cache entry of one token does not apply to another', async () => {
	const { issuer, verifier } = await startBench();
	const accessToken = issuer.accessToken();
	void verifier.verify(accessToken);
	expect(() => verifier.verify(`${accessToken}A`)).toThrow(Rejection);
	expect(verifier.verify(issuer.accessToken({ client_id: 'other' }))).toMatchObject({ clientId: 'other' });
});

test('without a cache every token is verified again', async () => {
	const { issuer, verifier } = await startBench(0);
	const accessToken = issuer.accessToken();
	expect(verifier.verify(accessToken)).not.toBe(verifier.verify(accessToken));
});

test('of 5,000 seeded mutations none is accepted unless identical', async () => {
	const { issuer, verifier } = await startBench();
	const accessToken = issuer.accessToken();
	const seed = randomBytes(4).readUInt32LE();
	const next = seededNumbers(seed);
	const accepted: string[] = [];
	for (let count = 0; count < 5000; count++) {
		const mutation = mutate(accessToken, next);
		if (mutation !== accessToken && (await isAccepted(verifier, mutation))) accepted.push(mutation);
	}
	expect(accepted, `seed ${seed}`).toEqual([]);
});

async function isAccepted(verifier: AccessTokenVerifier, accessToken: string): Promise<boolean> {
	try {
		await verifier.verify(accessToken);
		return true;
	} catch (cause) {
		if (cause instanceof Rejection) return false;
		throw cause;
	}
}

test('recently used clients stay cached, within the capacity', () => {
	const callers = new RecentCallers(100);
	const caller = { clientId: 'agent' } as Parameters<RecentCallers['add']>[1];
	callers.add('wanted', caller, 1000, 0);
	for (let index = 0; index < 10_000; index++) {
		// Fifty unknown tokens a second.
		const nowSeconds = index / 50;
		callers.add(`digest-${index}`, caller, 1000, nowSeconds);
		if (index % 10 === 0) expect(callers.get('wanted', nowSeconds)).toBe(caller);
		expect(callers.size).toBeLessThanOrEqual(100);
	}
	expect(callers.get('digest-0', 200)).toBeUndefined();
	expect(callers.get('digest-9999', 200)).toBe(caller);
	expect(callers.get('digest-9999', 1000)).toBeUndefined();
});
