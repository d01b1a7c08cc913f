import { expect, onTestFinished, test } from 'vitest';
import { testKeySetSettings } from '../../test/support/edge-bench.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { createRecordingLog } from '../../test/support/recording-log.ts';
import { makeSigningKey, TestIssuer } from '../../test/support/test-issuer.ts';
import { createAccessTokenVerifier } from './access-tokens.ts';
import { KeySet } from './key-set.ts';
import { KeySets } from './key-sets.ts';

const rejected: unknown = expect.objectContaining({ code: 'token_invalid' });

/** Two issuers with the same key id and the same client id, but keys of their own. */
async function startTwo() {
	const clock = new ManualClock();
	const nowSeconds = () => Math.floor(clock.nowMs() / 1000);
	const [one, two] = [await TestIssuer.start({ nowSeconds }), await TestIssuer.start({ nowSeconds, audience: 'second' })];
	const open = (issuer: TestIssuer) =>
		new KeySet(
			{
				read: () => (issuer.fault === undefined ? Promise.resolve({ keys: issuer.published }) : Promise.reject(new Error('down'))),
			},
			testKeySetSettings,
			{ clock, log: createRecordingLog() },
		);
	const keySets = new KeySets(open(one), new Map([[two.issuer, open(two)]]));
	onTestFinished(async () => {
		keySets.stop();
		await one.stop();
		await two.stop();
	});
	const issuers = [
		{ issuer: one.issuer, clientPrefix: '', scopes: null },
		{ issuer: two.issuer, clientPrefix: 'two:', scopes: null },
	];
	const verifier = createAccessTokenVerifier(
		{
			issuer: one.issuer,
			audience: null,
			clockSkewSeconds: 5,
			maxLifetimeSeconds: null,
			cacheSize: 100,
			otherIssuers: [{ issuer: two.issuer, audience: 'second' }],
			callers: { scopeBase: 'tollgate', issuers, rules: [] },
		},
		{ keySet: keySets.first, otherKeySets: keySets.others, clock },
	);
	return { one, two, verifier, keySets, clock };
}

test('tokens of each issuer name different clients, with the same key id and client id', async () => {
	const { one, two, verifier, keySets } = await startTwo();
	await keySets.start();
	expect(await verifier.verify(one.accessToken())).toMatchObject({ clientId: 'agent', issuer: one.issuer });
	expect(await verifier.verify(two.accessToken())).toMatchObject({ clientId: 'two:agent', issuer: two.issuer });
});

test('no token is verified by the keys of another issuer', async () => {
	const { one, two, verifier, keySets } = await startTwo();
	await keySets.start();
	for (const [claims, key] of [
		[{ iss: two.issuer, aud: 'second' }, one.key],
		[{ iss: one.issuer }, two.key],
	] as const) {
		expect(() => verifier.verify(one.accessToken(claims, {}, key))).toThrow(rejected);
	}
	expect(() => verifier.verify(one.accessToken({ iss: 'https://unlisted.example' }))).toThrow(rejected);
	for (const iss of [undefined, null, 5, [one.issuer], {}]) expect(() => verifier.verify(one.accessToken({ iss }))).toThrow(rejected);
});

test('each issuer has an audience of its own', async () => {
	const { one, two, verifier, keySets } = await startTwo();
	await keySets.start();
	expect(() => verifier.verify(two.accessToken({ aud: 'first' }))).toThrow(rejected);
	expect(() => verifier.verify(two.accessToken({ aud: undefined }))).toThrow(rejected);
	expect(await verifier.verify(one.accessToken({ aud: 'any' }))).toMatchObject({ clientId: 'agent' });
});

test('an issuer that is down does not affect the other', async () => {
	const { one, two, verifier, keySets } = await startTwo();
	two.fault = 'drop';
	await keySets.start();
	expect(await verifier.verify(one.accessToken())).toMatchObject({ clientId: 'agent' });
	expect(() => verifier.verify(two.accessToken())).toThrow(expect.objectContaining({ code: 'key_set_unavailable' }));
	expect(keySets.state()).toMatchObject({ isReady: true, isComplete: false, keyCount: 1 });
});

test('a key that the second issuer withdraws ends its cached tokens', async () => {
	const { two, verifier, keySets, clock } = await startTwo();
	await keySets.start();
	const accessToken = two.accessToken();
	expect(await verifier.verify(accessToken)).toMatchObject({ clientId: 'two:agent' });
	two.published = [makeSigningKey('other').jwk];
	clock.advance(testKeySetSettings.maxAgeMs);
	await new Promise((resolve) => setImmediate(resolve));
	await expect((async () => verifier.verify(accessToken))()).rejects.toEqual(rejected);
});
