/** Identity role alone: on a free port, with the real system clock by default. */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../src/core/clock.ts';
import { systemClock } from '../../src/io/system-clock.ts';
import { createIdentity, type Identity } from '../../src/roles/identity/identity.ts';
import type { IdentitySettings } from '../../src/roles/identity/settings.ts';
import type { RecordStore } from '../../src/stores/contracts/records.ts';
import { createMemoryRecords } from './memory-records.ts';
import { createRecordingLog, type RecordingLog } from './recording-log.ts';

export const agent = { id: 'agent', name: 'Agent', secret: 'secret-of-the-agent-0123456789', scopes: ['invoke', 'admin'] };

/** One two-hundredth of the production cost, so that suites are fast. */
export const cheapCost = { cost: 64, blockSize: 8, parallelization: 1 };

export interface IdentitySubject {
	readonly identity: Identity;
	readonly records: RecordStore;
	readonly log: RecordingLog;
	readonly baseUrl: string;
	/** Sends a form to the token endpoint. */
	post(form: Readonly<Record<string, string>> | string, headers?: Readonly<Record<string, string>>): Promise<Response>;
	/** Returns an access token of the agent. */
	accessToken(scope?: string): Promise<string>;
	stop(): Promise<void>;
}

export const issuer = 'https://identity.example';

export async function startIdentity(
	differences: Partial<IdentitySettings> = {},
	deps: { records?: RecordStore; clock?: Clock } = {},
): Promise<IdentitySubject> {
	const records = deps.records ?? createMemoryRecords();
	const log = createRecordingLog();
	const settings: IdentitySettings = {
		listen: { host: '127.0.0.1', port: 0 },
		issuer,
		audience: null,
		scopeBase: 'tollgate',
		trustedProxies: [],
		accessTokenSeconds: 3600,
		keyRotationSeconds: 30 * 86_400,
		keyOverlapSeconds: 3600,
		maxAttemptsPerMinute: 100,
		configuredClients: [agent],
		secretCost: cheapCost,
		graceMs: 1000,
		...differences,
	};
	const identity = createIdentity(settings, { records, clock: deps.clock ?? systemClock, log, newId: randomUUID });
	await identity.start();
	const baseUrl = `http://127.0.0.1:${identity.address?.port}`;
	const post: IdentitySubject['post'] = (form, headers = {}) =>
		fetch(`${baseUrl}/oauth2/token`, {
			method: 'POST',
			headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
			body: typeof form === 'string' ? form : new URLSearchParams(form).toString(),
		});
	return {
		identity,
		records,
		log,
		baseUrl,
		post,
		async accessToken(scope) {
			const response = await post({ ...formOf(agent), ...(scope === undefined ? {} : { scope }) });
			const httpResponse = (await response.json()) as { access_token?: string };
			if (httpResponse.access_token === undefined) throw new Error(`no access token: ${JSON.stringify(httpResponse)}`);
			return httpResponse.access_token;
		},
		stop: () => identity.stop(),
	};
}

export function formOf({ id, secret }: { id: string; secret: string }): Record<string, string> {
	return { grant_type: 'client_credentials', client_id: id, client_secret: secret };
}

export function basicOf(id: string, secret: string): { authorization: string } {
	return { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` };
}

/** Median milliseconds of two actions, executed alternately so that other load affects both equally. */
export async function timeInOrder(
	tries: number,
	first: (index: number) => Promise<unknown>,
	second: (index: number) => Promise<unknown>,
): Promise<[firstMs: number, secondMs: number]> {
	const spent: [number[], number[]] = [[], []];
	for (let index = 0; index < tries; index++) {
		for (const which of [0, 1] as const) {
			const beganMs = performance.now();
			await (which === 0 ? first : second)(index);
			spent[which].push(performance.now() - beganMs);
		}
	}
	return [medianOf(spent[0]), medianOf(spent[1])];
}

function medianOf(values: readonly number[]): number {
	return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}
