/**
 * `tollgate doctor`: checks that everything the configuration names exists. It sends providers no request, only connects, and changes
 * nothing.
 */

import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import type { ConfigOptions, DoctorCheck } from '../cli/environment.ts';
import { unsetKey } from '../config/defaults.ts';
import { proxyOf } from '../config/proxy.ts';
import type { Config } from '../config/schema.ts';
import { findUnsetKeys } from '../config/unset-keys.ts';
import { configWarnings } from '../config/warnings.ts';
import { silentLog } from '../core/log.ts';
import { withoutBrackets } from '../core/url-host.ts';
import { remoteKeySet } from '../io/key-set-source.ts';
import { systemClock } from '../io/system-clock.ts';
import { parseKeySet } from '../io/verification-keys.ts';
import { CountersMissing } from '../stores/contracts/admission.ts';
import { StoreUnusable } from '../stores/contracts/store-unusable.ts';
import { openRedisAdmission } from '../stores/redis/redis-admission.ts';
import { openSqliteRecords, recordsFileName } from '../stores/sqlite/sqlite-records.ts';
import { loadRunningConfig } from './demo-mark.ts';
import { areStoresMigrated } from './open-stores.ts';
import { accessTokenSettings } from './settings.ts';

const connectMs = 3000;
const noFile = 'no file: using defaults; set --config or TOLLGATE_CONFIG to use a file';
const noFileOfDemo = 'no file: using the demo configuration of this directory; set --config or TOLLGATE_CONFIG to use a file';

/** @throws ConfigError if the configuration is invalid, which makes other checks impossible. */
export async function examine({ configPath }: ConfigOptions): Promise<DoctorCheck[]> {
	const { config, file, isDemo, namedProviders } = loadRunningConfig({ configPath });
	const { roles } = config;
	const usesRecords = roles.some((role) => role !== 'edge' && role !== 'simulator');
	const sendsRequests = roles.includes('gateway');
	return Promise.all([
		Promise.resolve({ name: 'configuration', isOk: true, detail: file ?? (isDemo ? noFileOfDemo : noFile) }),
		...configWarnings(config).map((detail) => Promise.resolve({ name: 'warning', isOk: true, detail })),
		...(usesRecords ? [examineDataDirectory(config)] : []),
		...(usesRecords && config.stores.records !== 'sqlite' ? [examineRecords(config)] : []),
		...(config.stores.counters === 'memory' ? [] : [examineCounters(config)]),
		...remoteIssuers(config).map((remote) => examineKeySet(remote, config)),
		...examineKeys(config, namedProviders),
		...(sendsRequests ? Object.keys(config.providers) : []).map((name) => examineProvider(name, config, namedProviders.includes(name))),
	]);
}

/** Returns one failed check if no provider has a key, and the configuration names none of them. */
function examineKeys(config: Config, namedProviders: readonly string[]): Promise<DoctorCheck>[] {
	const { named, isNoneSet } = findUnsetKeys(config, namedProviders);
	if (named.length > 0 || !isNoneSet || !config.roles.includes('gateway')) return [];
	return [
		Promise.resolve({
			name: 'providers',
			isOk: false,
			detail: 'no provider has a key: every request returns 502 (providers.NAME.api_key)',
		}),
	];
}

/** Opens existing records; creates none. */
async function examineDataDirectory({ data_dir: dataDir }: Config): Promise<DoctorCheck> {
	const name = 'data directory';
	const directory = resolve(dataDir);
	try {
		if (existsSync(join(directory, recordsFileName))) {
			await openSqliteRecords({ dataDir }, { clock: systemClock, log: silentLog }).close();
			return { name, isOk: true, detail: directory };
		}
		let nearest = directory;
		while (!existsSync(nearest)) nearest = dirname(nearest);
		if (!statSync(nearest).isDirectory()) return { name, isOk: false, detail: `${nearest} is a file: move it, or set data_dir` };
		accessSync(nearest, constants.W_OK);
		return { name, isOk: true, detail: `${directory}, created at the first start` };
	} catch (cause) {
		const detail = cause instanceof StoreUnusable ? cause.message : `${directory} is not writable: change its owner, or set data_dir`;
		return { name, isOk: false, detail };
	}
}

async function examineRecords(config: Config): Promise<DoctorCheck> {
	const name = 'records';
	try {
		const isCurrent = await areStoresMigrated(config, { clock: systemClock, log: silentLog });
		return {
			name,
			isOk: true,
			detail: `PostgreSQL is reachable; its schema is ${isCurrent ? 'up to date' : 'outdated: the next start migrates it'}`,
		};
	} catch (cause) {
		return { name, isOk: false, detail: cause instanceof Error ? cause.message : String(cause) };
	}
}

async function examineCounters({ stores: { counters } }: Config): Promise<DoctorCheck> {
	const name = 'counters';
	const store = await openRedisAdmission({ url: counters }, { clock: systemClock, log: silentLog });
	try {
		// No team has this name: an unknown team is a successful read.
		await store.read(':doctor', []);
		return { name, isOk: true, detail: 'Redis is reachable' };
	} catch (cause) {
		if (cause instanceof CountersMissing) return { name, isOk: true, detail: 'Redis is reachable' };
		return { name, isOk: false, detail: cause instanceof Error ? cause.message : String(cause) };
	} finally {
		await store.close();
	}
}

interface RemoteIssuer {
	readonly issuer: string;
	readonly jwksUri: string | null;
}

/** Issuers whose keys are fetched, which are all except the embedded one. */
function remoteIssuers(config: Config): RemoteIssuer[] {
	const { issuer, otherIssuers } = accessTokenSettings(config);
	return [...(config.auth.issuer === null ? [] : [{ issuer, jwksUri: config.auth.jwks_uri }]), ...otherIssuers];
}

async function examineKeySet({ issuer, jwksUri }: RemoteIssuer, { auth }: Config): Promise<DoctorCheck> {
	try {
		const source = remoteKeySet({ issuer, jwksUri, timeoutMs: auth.key_set.timeout_ms });
		const { keys } = parseKeySet(await source.read());
		return { name: 'issuer key set', isOk: keys.size > 0, detail: `${keys.size} usable keys of ${issuer}` };
	} catch (cause) {
		return { name: 'issuer key set', isOk: false, detail: cause instanceof Error ? cause.message : String(cause) };
	}
}

async function examineProvider(name: string, config: Config, isNamed: boolean): Promise<DoctorCheck> {
	const provider = config.providers[name];
	if (provider === undefined || provider.base_url === null) return { name, isOk: true, detail: 'not configured: it has no base_url' };
	if (provider.api_key === unsetKey && !isNamed) return { name, isOk: true, detail: 'not configured: its key is not set' };
	if (provider.api_key === unsetKey) {
		return { name, isOk: false, detail: `its key is not set: requests to it return 502 (providers.${name}.api_key)` };
	}
	// A proxy resolves the provider's name itself. The first request shows whether it may connect.
	const proxy = proxyOf(provider.proxy);
	const { hostname, port, protocol } = new URL(proxy?.origin ?? provider.base_url);
	const address = { host: withoutBrackets(hostname), port: Number(port || (protocol === 'https:' ? 443 : 80)) };
	const problem = await connectionProblem(address);
	return {
		name,
		isOk: problem === undefined,
		detail: problem ?? `${proxy === undefined ? '' : 'its proxy '}${address.host}:${address.port} accepts connections`,
	};
}

function connectionProblem(address: { host: string; port: number }): Promise<string | undefined> {
	return new Promise((resolveWith) => {
		const socket = connect({ ...address, timeout: connectMs });
		const settle = (problem: string | undefined): void => {
			socket.destroy();
			resolveWith(problem);
		};
		socket.once('connect', () => settle(undefined));
		socket.once('timeout', () => settle(`no connection to ${address.host}:${address.port} within ${connectMs} ms`));
		socket.once('error', (cause) => settle(`cannot connect to ${address.host}:${address.port}: ${cause.message}`));
	});
}
