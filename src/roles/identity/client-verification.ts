/** Verification of client secrets. An unknown client costs as much work as a wrong secret, so that timing does not reveal which it was. */
import { createHmac, randomBytes } from 'node:crypto';
import { BoundedMap } from '../../core/bounded-map.ts';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { Rejection } from '../../core/rejection.ts';
import {
	type Derivation,
	derivationKey,
	derive,
	isHashOf,
	newDerivation,
	parseSecretHash,
	type ScryptCost,
} from '../../stores/contracts/client-secret.ts';
import type { ClientRecord } from '../../stores/contracts/records.ts';
import type { AttemptThrottle } from './attempt-throttle.ts';
import type { ClientCredentials } from './client-credentials.ts';

export interface ClientVerification {
	/** @throws `Rejection` `invalid_client`, `too_many_attempts`, `overloaded`. */
	verify(credentials: ClientCredentials, address: string): Promise<ClientRecord>;
}

export interface ClientVerificationDeps {
	readonly findClient: (id: string) => Promise<ClientRecord | undefined>;
	readonly throttle: AttemptThrottle;
	readonly clock: Clock;
	readonly log: Log;
	readonly cost: ScryptCost;
}

/** Half of the runtime's thread pool, which files and signatures also need. */
const derivationsAtOnce = 2;
const maxWaiting = 64;
const maxCached = 10_000;

export function createClientVerification({ findClient, throttle, clock, log, cost }: ClientVerificationDeps): ClientVerification {
	const queue = createBoundedQueue(derivationsAtOnce, maxWaiting);
	const decoy = newDerivation(cost);
	// Maps a keyed digest of verified credentials to the hash that matched. The key exists only in this process. An entry is valid while
	// the client still has that hash.
	const cached = new BoundedMap<string, string>(maxCached);
	const digestKey = randomBytes(32);
	const underway = new Map<string, Promise<string | undefined>>();

	const digestOf = ({ id, secret }: ClientCredentials): string =>
		createHmac('sha256', digestKey)
			.update(JSON.stringify([id, secret]))
			.digest('base64');

	return {
		async verify(credentials, address) {
			// An impossible id is not looked up and uses no entry of the throttle.
			const id = /^[A-Za-z0-9._~-]{1,128}$/.test(credentials.id) ? credentials.id : '';
			throttle.check(id, address);
			const client = id === '' ? undefined : await findClient(id);
			const hashes = client === undefined || client.isDisabled ? [] : liveHashes(client, clock.nowMs());
			const digest = digestOf(credentials);
			const known = cached.get(digest);
			if (client !== undefined && known !== undefined && hashes.includes(known)) {
				throttle.trust(id, address);
				return client;
			}
			let matching = underway.get(digest);
			if (matching === undefined) {
				matching = queue.run(async () => {
					throttle.count(id, address);
					const match = await findMatch(credentials.secret, hashes, decoy);
					if (match !== undefined) throttle.forgive(id, address);
					return match;
				});
				underway.set(digest, matching);
				// A second `then` without a handler of its own would be an unhandled rejection.
				matching.finally(() => underway.delete(digest)).catch(() => undefined);
			} else if ((await matching) === undefined) {
				throttle.count(id, address);
			}
			const match = await matching;
			if (client === undefined || match === undefined || !hashes.includes(match)) {
				// The received id is not logged, because users put secrets into the wrong field.
				log.info('client not authenticated', { clientId: client?.id ?? null, address });
				throw new Rejection('invalid_client');
			}
			cached.set(digest, match);
			throttle.trust(id, address);
			return client;
		},
	};
}

function liveHashes(client: ClientRecord, nowMs: number): string[] {
	return client.secrets.filter(({ expiresAtMs }) => expiresAtMs === null || expiresAtMs > nowMs).map(({ hash }) => hash);
}

/** Derives once for each distinct derivation of the hashes, or once with the decoy if there is none, and compares with all hashes. */
async function findMatch(secret: string, encodedHashes: readonly string[], decoy: Derivation): Promise<string | undefined> {
	const candidates = encodedHashes.flatMap((encoded) => {
		const parsed = parseSecretHash(encoded);
		return parsed === undefined ? [] : [{ encoded, ...parsed }];
	});
	const derivations = new Map(candidates.map(({ derivation }) => [derivationKey(derivation), derivation]));
	if (derivations.size === 0) derivations.set('', decoy);
	let match: string | undefined;
	for (const [key, derivation] of derivations) {
		const derived = await derive(secret, derivation);
		for (const { encoded, hash, derivation: own } of candidates) {
			if (derivationKey(own) === key && isHashOf(hash, secret, derived)) match = encoded;
		}
	}
	return match;
}

interface BoundedQueue {
	/** Queues `task` and runs it. @throws `Rejection` `overloaded` immediately if the queue is full; errors of the task. */
	run<Result>(task: () => Promise<Result>): Promise<Result>;
}

/** Creates a first-in, first-out queue: at most `concurrency` tasks run and `capacity` wait. */
function createBoundedQueue(concurrency: number, capacity: number): BoundedQueue {
	const waiting: (() => void)[] = [];
	let running = 0;
	return {
		async run(task) {
			if (running >= concurrency) {
				if (waiting.length >= capacity) {
					throw new Rejection('overloaded', { message: 'Too many authentications in progress: retry in 1 s', retryAfterSeconds: 1 });
				}
				// A finished task passes its slot on, so that no new task can take it in between.
				await new Promise<void>((resolve) => waiting.push(resolve));
			} else {
				running++;
			}
			try {
				return await task();
			} finally {
				const next = waiting.shift();
				if (next === undefined) running--;
				else next();
			}
		},
	};
}
