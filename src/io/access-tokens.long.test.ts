import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { testKeySetSettings } from '../../test/support/edge-bench.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { mutate, seededNumbers } from '../../test/support/mutations.ts';
import { createRecordingLog } from '../../test/support/recording-log.ts';
import { makeSigningKey, TestIssuer } from '../../test/support/test-issuer.ts';
import { createAccessTokenVerifier } from './access-tokens.ts';
import { KeySet } from './key-set.ts';

test.each(['RS256', 'ES256', 'EdDSA'] as const)(
	'of 100,000 seeded mutations of an %s token none is accepted unless identical',
	async (algorithm) => {
		const clock = new ManualClock();
		const issuer = await TestIssuer.start({ nowSeconds: () => Math.floor(clock.nowMs() / 1000) });
		issuer.key = makeSigningKey('long', algorithm);
		const keySet = new KeySet({ read: () => Promise.resolve({ keys: [issuer.key.jwk] }) }, testKeySetSettings, {
			clock,
			log: createRecordingLog(),
		});
		await keySet.start();
		const rules = { issuer: issuer.issuer, audience: null, clockSkewSeconds: 5, maxLifetimeSeconds: null };
		const verifier = createAccessTokenVerifier({ ...rules, cacheSize: 100 }, { keySet, clock });
		const accessToken = issuer.accessToken();
		const verify = async (mutation: string): Promise<string> => (await verifier.verify(mutation)).clientId;
		expect(await verify(accessToken)).toBe('agent');
		const seed = randomBytes(4).readUInt32LE();
		const next = seededNumbers(seed);
		const accepted: string[] = [];
		for (let count = 0; count < 100_000; count++) {
			const mutation = mutate(accessToken, next);
			if (mutation === accessToken) continue;
			await verify(mutation).then(
				() => accepted.push(mutation),
				() => undefined,
			);
		}
		keySet.stop();
		await issuer.stop();
		expect(accepted, `seed ${seed}`).toEqual([]);
	},
);
