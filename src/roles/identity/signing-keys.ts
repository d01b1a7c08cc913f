/** Signing keys of the issuer: generated, stored, shared with other identity processes, and rotated by age. */

import type { KeyObject, webcrypto } from 'node:crypto';
import { createHash, createPrivateKey, generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import type { Clock, Timer } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { UpstreamError } from '../../core/upstream-error.ts';
import type { RecordStore, SigningKeyRecord } from '../../stores/contracts/records.ts';
import type { KeySchedule } from './key-schedule.ts';
import { nextRotationMs, planRotation, publishedKeys, signingKey } from './key-schedule.ts';

/** JSON Web Key (RFC 7517) with public members only. */
export interface PublishedKey {
	readonly kty: 'RSA';
	readonly kid: string;
	readonly use: 'sig';
	readonly alg: 'RS256';
	readonly n: string;
	readonly e: string;
}

export interface SigningKey extends SigningKeyRecord {
	readonly privateKey: KeyObject;
	readonly published: PublishedKey;
}

export interface SigningKeys {
	/** Resolves when there is a signing key, when the records are unreachable, or after 1 s. Without a key, retries each second. */
	start(): Promise<void>;
	stop(): void;
	/** Returns the current signing key. @throws `UpstreamError` `records_unavailable` while there is none. */
	current(): SigningKey;
	/** @throws `UpstreamError` `records_unavailable` while there is none. */
	published(): PublishedKey[];
	/** Runs `listener` when the published set may have changed. Returns a function that stops it. */
	onChange(listener: () => void): () => void;
}

export interface SigningKeysDeps {
	readonly records: RecordStore;
	readonly clock: Clock;
	readonly log: Log;
	readonly schedule: () => KeySchedule;
}

const checkEveryMs = 60_000;
/** Retry interval while there are no keys. */
const beginEveryMs = 1000;
/** Maximum time that the store can delay listening. */
const maxWaitedMs = 1000;

export function createSigningKeys({ records, clock, log, schedule }: SigningKeysDeps): SigningKeys {
	const listeners = new Set<() => void>();
	let keys: readonly SigningKey[] = [];
	let readsBegun = 0;
	let readPublished = 0;
	let isMaintaining = false;
	let isStopped = false;
	let timer: Timer | undefined;
	let forgetRecords: (() => void) | undefined;

	async function reload(): Promise<void> {
		const read = ++readsBegun;
		const found = await records.signingKeys.list();
		// A read that began later may have ended earlier.
		if (read < readPublished) return;
		readPublished = read;
		if (isSameKeys(found, keys)) return;
		keys = found.map((record) => keys.find((key) => isSameKey(key, record)) ?? loadKey(record));
		for (const listener of [...listeners]) listener();
	}

	async function rotateIfDue(): Promise<void> {
		const newest = keys.at(-1);
		const nowMs = clock.nowMs();
		if (newest !== undefined && nowMs < nextRotationMs(newest, schedule())) return;
		const { activeFromMs, newestRetiresAtMs } = planRotation(newest, nowMs, schedule());
		const key: SigningKeyRecord = { ...(await generateKey()), createdAtMs: nowMs, activeFromMs, retiredAtMs: null };
		const retire = newest === undefined ? [] : [{ kid: newest.kid, retiredAtMs: newestRetiresAtMs }];
		const isOurs = await records.signingKeys.rotate(key, newest?.kid ?? null, retire);
		if (isOurs) log.info('signing key added', { kid: key.kid, activeFrom: new Date(activeFromMs).toISOString() });
		await reload();
	}

	async function maintain(): Promise<void> {
		// A slow store must not receive several new keys.
		if (isMaintaining) return;
		isMaintaining = true;
		try {
			await reload();
			await rotateIfDue();
			await records.signingKeys.prune(clock.nowMs());
		} finally {
			isMaintaining = false;
		}
	}

	/** Logs failures; the next attempt follows within a minute, and the current keys stay valid until then. */
	const attempt = (task: () => Promise<void>): void => {
		task().catch((cause: unknown) => log.error('signing keys could not be maintained', { cause }));
	};
	const wake = (delayMs: number, task: () => void): void => {
		if (!isStopped) timer = clock.after(delayMs, task);
	};
	const tick = (): void => {
		attempt(maintain);
		wake(checkEveryMs, tick);
	};

	/** @param lastFailure of the previous attempt, which is already logged. */
	const begin = async (lastFailure?: string): Promise<void> => {
		try {
			await maintain();
			if (lastFailure !== undefined) log.info('signing keys loaded');
			wake(checkEveryMs, tick);
		} catch (cause) {
			if (lastFailure === undefined && !(cause instanceof UpstreamError)) throw cause;
			const failure = String(cause);
			if (failure !== lastFailure) log.warn('signing keys cannot be read yet', { cause });
			wake(beginEveryMs, () => void begin(failure));
		}
	};

	return {
		async start() {
			const { promise: isLate, resolve } = Promise.withResolvers<void>();
			const patience = clock.after(maxWaitedMs, resolve);
			await Promise.race([begin(), isLate]).finally(() => patience.cancel());
			forgetRecords = records.onChange(() => attempt(reload));
		},
		stop() {
			isStopped = true;
			timer?.cancel();
			forgetRecords?.();
		},
		current() {
			const key = signingKey(keys, clock.nowMs());
			if (key === undefined) throw new UpstreamError('records_unavailable');
			return key;
		},
		published() {
			if (keys.length === 0) throw new UpstreamError('records_unavailable');
			return publishedKeys(keys, clock.nowMs()).map((key) => key.published);
		},
		onChange(listener) {
			const registered = (): void => listener();
			listeners.add(registered);
			return () => listeners.delete(registered);
		},
	};
}

const generateRsaKeys = promisify(generateKeyPair);

async function generateKey(): Promise<Pick<SigningKeyRecord, 'kid' | 'privateJwk'>> {
	const { privateKey } = await generateRsaKeys('rsa', { modulusLength: 2048 });
	const jwk = privateKey.export({ format: 'jwk' });
	return { kid: thumbprint(jwk), privateJwk: JSON.stringify(jwk) };
}

/** Computes the key id by RFC 7638. */
function thumbprint({ e, kty, n }: webcrypto.JsonWebKey): string {
	return createHash('sha256').update(JSON.stringify({ e, kty, n })).digest('base64url');
}

function loadKey(record: SigningKeyRecord): SigningKey {
	const jwk = JSON.parse(record.privateJwk) as webcrypto.JsonWebKey;
	const { n, e } = jwk;
	if (jwk.kty !== 'RSA' || typeof n !== 'string' || typeof e !== 'string') {
		throw new TypeError(`Signing key ${record.kid} is not an RSA key`);
	}
	return {
		...record,
		privateKey: createPrivateKey({ key: jwk, format: 'jwk' }),
		published: { kty: 'RSA', kid: record.kid, use: 'sig', alg: 'RS256', n, e },
	};
}

function isSameKeys(found: readonly SigningKeyRecord[], known: readonly SigningKeyRecord[]): boolean {
	return found.length === known.length && found.every((record, index) => isSameKey(record, known[index]));
}

function isSameKey(record: SigningKeyRecord, other: SigningKeyRecord | undefined): boolean {
	return record.kid === other?.kid && record.activeFromMs === other.activeFromMs && record.retiredAtMs === other.retiredAtMs;
}
