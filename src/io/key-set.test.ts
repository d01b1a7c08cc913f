import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { createRecordingLog } from '../../test/support/recording-log.ts';
import { makeSigningKey, TestIssuer } from '../../test/support/test-issuer.ts';
import type { Caller } from '../core/caller.ts';
import { Rejection } from '../core/rejection.ts';
import { UpstreamError } from '../core/upstream-error.ts';
import { createAccessTokenVerifier } from './access-tokens.ts';
import { KeySet } from './key-set.ts';
import { fetchJson, type KeySetSource, remoteKeySet } from './key-set-source.ts';

const settings = { maxAgeMs: 600_000, coolDownMs: 30_000, graceMs: 3_600_000 };
const minute = 60_000;

/** A source that responds at once, delays its response, or fails. */
class TestSource implements KeySetSource {
	reads = 0;
	failure: Error | undefined;
	isHanging = false;
	readonly issuer: TestIssuer;
	#listener: (() => void) | undefined;
	#release: () => void = () => undefined;

	constructor(issuer: TestIssuer) {
		this.issuer = issuer;
	}

	async read(): Promise<unknown> {
		this.reads++;
		const document = { keys: [...this.issuer.published] };
		if (this.isHanging) await new Promise<void>((resolve) => (this.#release = resolve));
		if (this.failure !== undefined) throw this.failure;
		return document;
	}

	onChange(listener: () => void): () => void {
		this.#listener = listener;
		return () => (this.#listener = undefined);
	}

	get isObserved(): boolean {
		return this.#listener !== undefined;
	}

	announceChange(): void {
		this.#listener?.();
	}

	release(): void {
		this.isHanging = false;
		this.#release();
	}
}

async function startBench() {
	const clock = new ManualClock();
	const log = createRecordingLog();
	const issuer = await TestIssuer.start({ nowSeconds: () => Math.floor(clock.nowMs() / 1000) });
	const source = new TestSource(issuer);
	const keySet = new KeySet(source, settings, { clock, log });
	const rules = { issuer: issuer.issuer, audience: null, clockSkewSeconds: 5, maxLifetimeSeconds: null };
	const verifier = createAccessTokenVerifier({ ...rules, cacheSize: 100 }, { keySet, clock });
	onTestFinished(async () => {
		keySet.stop();
		await issuer.stop();
	});
	const verify = async (accessToken: string): Promise<Caller> => verifier.verify(accessToken);
	return { clock, log, issuer, source, keySet, verifier, verify };
}

/** Publishes a new key in place of the old one and signs with it from now on. */
function rotate(issuer: TestIssuer, keyId = 'test-rsa-2'): void {
	issuer.key = makeSigningKey(keyId);
	issuer.published = [issuer.key.jwk];
}

const invalid: unknown = expect.objectContaining({ code: 'token_invalid' });

describe('guarantees K1 to K7', () => {
	test('K1: a new kid works within one fetch, without restart', async () => {
		const { issuer, keySet, source, verify } = await startBench();
		await keySet.start();
		await verify(issuer.accessToken());
		rotate(issuer);
		expect((await verify(issuer.accessToken())).clientId).toBe('agent');
		expect(source.reads).toBe(2);
	});

	test('K2: 10,000 random kids cause one fetch per cool-down, and good tokens do not wait', async () => {
		const { clock, issuer, keySet, source, verifier, verify } = await startBench();
		await keySet.start();
		const accessToken = issuer.accessToken();
		await verify(accessToken);
		const strange = issuer.accessToken().split('.');
		const verdicts = Array.from({ length: 10_000 }, (_, index) => {
			const head = Buffer.from(JSON.stringify(issuer.header({ kid: `random-${index}` }))).toString('base64url');
			return verify([head, ...strange.slice(1)].join('.'));
		});
		expect(verifier.verify(accessToken)).not.toBeInstanceOf(Promise);
		const rejected = await Promise.allSettled(verdicts);
		expect(rejected.every((verdict) => verdict.status === 'rejected')).toBe(true);
		expect(source.reads).toBe(2);
		await expect(verify(issuer.accessToken({}, { kid: 'random' }))).rejects.toThrow(Rejection);
		expect(source.reads).toBe(2);
		clock.advance(settings.coolDownMs);
		await expect(verify(issuer.accessToken({}, { kid: 'random' }))).rejects.toThrow(Rejection);
		expect(source.reads).toBe(3);
	});

	test('K3: while the issuer is down, known keys stay valid for the grace time, and unknown ones are rejected at once', async () => {
		const { clock, issuer, keySet, source, verify, verifier } = await startBench();
		await keySet.start();
		source.failure = new Error('connect ECONNREFUSED');
		const graceMinutes = (settings.maxAgeMs + settings.graceMs) / minute;
		for (let elapsed = 0; elapsed < graceMinutes - 1; elapsed++) {
			clock.advance(minute);
			await turn();
		}
		await verify(issuer.accessToken());
		source.isHanging = true;
		clock.advance(settings.coolDownMs);
		const stranger = issuer.accessToken({}, { kid: 'unknown' });
		expect(() => verifier.verify(stranger)).toThrow(Rejection);
		source.release();
		await turn();
		clock.advance(minute);
		await turn();
		await expect(verify(issuer.accessToken())).rejects.toThrow(UpstreamError);
		expect(keySet.state()).toMatchObject({ isReady: false, keyCount: 0, lastError: 'connect ECONNREFUSED' });
		source.failure = undefined;
		clock.advance(settings.coolDownMs);
		await turn();
		await verify(issuer.accessToken());
	});

	test('K4: a fetch that hangs delays no token of a known key', async () => {
		const { clock, issuer, keySet, source, verifier } = await startBench();
		await keySet.start();
		source.isHanging = true;
		clock.advance(settings.maxAgeMs);
		expect(source.reads).toBe(2);
		expect(verifier.verify(issuer.accessToken())).not.toBeInstanceOf(Promise);
		source.release();
	});

	test('K6: tokens of a withdrawn key are rejected one age later, although they were cached', async () => {
		const { clock, issuer, keySet, verify } = await startBench();
		await keySet.start();
		const accessToken = issuer.accessToken();
		await verify(accessToken);
		rotate(issuer);
		clock.advance(settings.maxAgeMs - 1);
		await turn();
		await verify(accessToken);
		clock.advance(1);
		await turn();
		await expect(verify(accessToken)).rejects.toEqual(invalid);
		await verify(issuer.accessToken());
	});

	test('K7: started without an issuer it is not ready, reports the missing key set, and recovers by itself', async () => {
		const { clock, issuer, keySet, source, verifier, verify } = await startBench();
		source.failure = new Error('connect ECONNREFUSED');
		await keySet.start();
		expect(keySet.state().isReady).toBe(false);
		expect(() => verifier.verify(issuer.accessToken())).toThrow(expect.objectContaining({ code: 'key_set_unavailable' }));
		source.failure = undefined;
		clock.advance(1000);
		await turn();
		expect(keySet.state()).toMatchObject({ isReady: true, keyCount: 1, failures: 1, lastError: null, lastFetchedMs: clock.nowMs() });
		await verify(issuer.accessToken());
	});
});

test('a flood of unknown kids while a fetch hangs makes a bounded number of requests wait; others are rejected at once', async () => {
	const { issuer, keySet, source, verifier } = await startBench();
	await keySet.start();
	source.isHanging = true;
	const stranger = issuer.accessToken({}, { kid: 'unknown' });
	const waiting: unknown[] = [];
	let rejectedAtOnce = 0;
	for (let count = 0; count < 1500; count++) {
		try {
			waiting.push(verifier.verify(stranger));
		} catch {
			rejectedAtOnce++;
		}
	}
	expect([waiting.length, rejectedAtOnce]).toEqual([1000, 500]);
	expect(verifier.verify(issuer.accessToken())).not.toBeInstanceOf(Promise);
	source.release();
	const verdicts = await Promise.allSettled(waiting);
	expect(verdicts.every(({ status }) => status === 'rejected')).toBe(true);
});

test('started without keys, the first requests wait for the first fetch; later ones do not wait for retries', async () => {
	const { issuer, keySet, source, verify } = await startBench();
	source.isHanging = true;
	const started = keySet.start();
	const verdict = verify(issuer.accessToken());
	source.release();
	expect((await verdict).clientId).toBe('agent');
	await started;

	const other = await startBench();
	other.source.failure = new Error('down');
	await other.keySet.start();
	other.source.isHanging = true;
	other.clock.advance(1000);
	expect(() => other.verifier.verify(other.issuer.accessToken())).toThrow(UpstreamError);
	other.source.release();
});

test('retries without keys have growing delays, up to the cool-down', async () => {
	const { clock, keySet, source } = await startBench();
	source.failure = new Error('down');
	await keySet.start();
	const readsAtSecond: number[] = [];
	for (let second = 1; second <= 120; second++) {
		const before = source.reads;
		clock.advance(1000);
		await turn();
		if (source.reads > before) readsAtSecond.push(second);
	}
	expect(readsAtSecond).toEqual([1, 3, 7, 15, 31, 61, 91]);
});

test('one log line reports that fetching fails, and one that it works again', async () => {
	const { clock, keySet, log, source } = await startBench();
	await keySet.start();
	source.failure = new Error('down');
	for (let step = 0; step < 30; step++) {
		clock.advance(minute);
		await turn();
	}
	source.failure = undefined;
	clock.advance(minute);
	await turn();
	expect(log.lines.map(({ event }) => event)).toEqual(['key set changed', 'key set could not be fetched', 'key set fetched again']);
});

test('an unchanged set keeps the cache', async () => {
	const { clock, keySet, source } = await startBench();
	await keySet.start();
	const { generation } = keySet;
	clock.advance(settings.maxAgeMs);
	await turn();
	expect(source.reads).toBe(2);
	expect(keySet.generation).toBe(generation);
});

test('a source that announces a change is read again, also when it changes while being read', async () => {
	const { issuer, keySet, source, verify } = await startBench();
	await keySet.start();
	source.isHanging = true;
	source.announceChange();
	rotate(issuer);
	source.announceChange();
	source.release();
	await turn();
	expect(source.reads).toBe(3);
	await verify(issuer.accessToken());
});

test('stopped, it leaves no timer and no listener behind', async () => {
	const { clock, keySet, source } = await startBench();
	await keySet.start();
	expect([clock.pending, source.isObserved]).toEqual([1, true]);
	keySet.stop();
	expect([clock.pending, source.isObserved]).toEqual([0, false]);
});

test('stopped while it fetches, it does not continue afterwards', async () => {
	const { clock, keySet, source } = await startBench();
	await keySet.start();
	source.isHanging = true;
	clock.advance(settings.maxAgeMs);
	keySet.stop();
	source.release();
	await turn();
	expect(clock.pending).toBe(0);
});

describe('over HTTP', () => {
	async function startRemote(jwksUri: (issuer: TestIssuer) => string | null) {
		const clock = new ManualClock();
		const log = createRecordingLog();
		const issuer = await TestIssuer.start();
		const limit = { timeoutMs: 5000 };
		const settingsOfSource = { issuer: issuer.issuer, jwksUri: jwksUri(issuer), timeoutMs: 0 };
		const source = remoteKeySet(settingsOfSource, (url) => fetchJson(url, limit.timeoutMs));
		const keySet = new KeySet(source, settings, { clock, log });
		onTestFinished(async () => {
			keySet.stop();
			await issuer.stop();
		});
		return { issuer, keySet, limit };
	}

	test.each([
		['discovery', () => null],
		['jwks_uri', ({ jwksUri }: TestIssuer) => jwksUri],
	])('the set is found by %s', async (_way, jwksUri) => {
		const { issuer, keySet } = await startRemote(jwksUri);
		await keySet.start();
		expect(keySet.find(issuer.key.keyId)?.algorithm).toBe('RS256');
	});

	test.each([
		['status_500', /returned 500/],
		['html', /did not return JSON/],
		['redirect', /returned 302/],
		['invalid_json', /did not return JSON/],
		['no_keys_member', /no array `keys`/],
		['too_large', /more than 153600 bytes/],
		['eleven_keys', /has 11 keys/],
		['hang', /timed out after \d+ ms/],
		['drop', /hang up|ECONNRESET/],
	] as const)('K5: %s: the old set is kept and the error counted', async (upstreamError, reason) => {
		const { issuer, keySet, limit } = await startRemote(({ jwksUri }) => jwksUri);
		await keySet.start();
		issuer.fault = upstreamError;
		if (upstreamError === 'hang') limit.timeoutMs = 20;
		rotate(issuer);
		await keySet.refetch();
		expect(keySet.state()).toMatchObject({ isReady: true, keyCount: 1, fetches: 2, failures: 1 });
		expect(keySet.state().lastError).toMatch(reason);
		expect(keySet.find('test-rsa-1')).toBeDefined();
		expect(issuer.attackerRequests).toBe(0);
	});

	test('a discovery document of another issuer is rejected', async () => {
		const { issuer } = await startRemote(() => null);
		const source = remoteKeySet({ issuer: `${issuer.issuer}/`, jwksUri: null, timeoutMs: 1000 });
		await expect(source.read()).rejects.toThrow(/names another issuer/);
	});

	test.each(['http://keys.example/jwks', 'file:///etc/keys', 'nowhere', 7])(
		'an https issuer that names %s as its key set is not followed',
		async (address) => {
			const requested: string[] = [];
			const source = remoteKeySet({ issuer: 'https://issuer.example', jwksUri: null, timeoutMs: 1000 }, (url) => {
				requested.push(url);
				return Promise.resolve({ issuer: 'https://issuer.example', jwks_uri: address });
			});
			await expect(source.read()).rejects.toThrow(/jwks_uri/);
			expect(requested).toEqual(['https://issuer.example/.well-known/openid-configuration']);
		},
	);

	test('a key set that moved is discovered again', async () => {
		let address = 'https://issuer.example/old';
		const source = remoteKeySet({ issuer: 'https://issuer.example', jwksUri: null, timeoutMs: 1000 }, (url) => {
			if (url.endsWith('openid-configuration')) return Promise.resolve({ issuer: 'https://issuer.example', jwks_uri: address });
			return url === address ? Promise.resolve({ keys: [] }) : Promise.reject(new Error('gone'));
		});
		await source.read();
		address = 'https://issuer.example/new';
		await expect(source.read()).rejects.toThrow('gone');
		expect(await source.read()).toEqual({ keys: [] });
	});
});
