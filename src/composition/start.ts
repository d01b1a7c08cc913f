/** `tollgate start` and `tollgate simulate`: compose, listen, follow the configuration file and the signals, stop in order. */
import { isatty } from 'node:tty';
import { CommandFailure } from '../cli/command-failure.ts';
import type { LogFormat, SimulateOptions, StartOptions } from '../cli/environment.ts';
import { compose, type Product, StartFailure } from '../compose.ts';
import { demoConfig } from '../config/demo.ts';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { keyWarnings } from '../config/unset-keys.ts';
import { configWarnings } from '../config/warnings.ts';
import { type ConfigWatch, watchConfig } from '../config/watch.ts';
import { createLogger, type Logger } from '../io/logger.ts';
import { setMemoryUse } from '../io/memory-use.ts';
import { systemClock } from '../io/system-clock.ts';
import { renderBanner } from './banner.ts';
import { ensureDemoClient } from './demo-client.ts';
import { noteDemo } from './demo-mark.ts';
import { withRestartSettingsOf } from './running-settings.ts';
import { listenAddresses } from './settings.ts';
import { withCleanup } from './with-cleanup.ts';
import { requestConfiguration } from './worker-configuration.ts';
import { replyToWorker } from './worker-metrics.ts';
import { asWorker, hasWorkers, isWorker, Workers, withProcessRoles, workerNumber } from './workers.ts';

export interface StartOutput {
	readonly version: string;
	/** True if standard output is a terminal. */
	readonly isTerminal: boolean;
	write(text: string): Promise<void>;
}

/** @throws ConfigError, StoreUnusable, CommandFailure. */
export function start(options: StartOptions, output: StartOutput): Promise<number> {
	return asWorker(() => withCleanup((cleanup) => startAndStop(options, output, cleanup)));
}

async function startAndStop(options: StartOptions, output: StartOutput, cleanup: AsyncDisposableStack): Promise<number> {
	const { version, isTerminal } = output;
	if (!stopsOnHangUp(options.isDemo)) keepOnHangUp();
	setMemoryUse();
	const loaded = isWorker ? await requestConfiguration() : loadConfig({ configPath: options.configPath });
	const demo = options.isDemo && loaded.file === null ? demoConfig(loaded.config) : undefined;
	const isStoppedByHangUp = stopsOnHangUp(demo !== undefined);
	if (!isStoppedByHangUp) keepOnHangUp();
	const requested: Config = { ...(demo?.config ?? loaded.config), ...(options.roles !== undefined && { roles: options.roles }) };
	requireAnyRole(requested);
	const config = withProcessRoles(requested);
	const log = createLogger({
		level: options.logLevel ?? config.log.level,
		format: lineFormat(options.logFormat ?? config.log.format, isTerminal),
		clock: systemClock,
		worker: workerNumber,
	});
	const product = cleanup.use(await compose(config, { clock: systemClock, log, version }));
	if (isWorker) replyToWorker(product.metrics);
	await startOrExplain(product, config, { isDemo: demo !== undefined });
	if (!isWorker) noteDemo(config, demo !== undefined);
	let watch: ConfigWatch | undefined;
	const inForce = (): LoadedConfig => ({ ...loaded, config: withRestartSettingsOf(loaded.config, watch?.current ?? loaded.config) });
	const workers = cleanup.use(
		hasWorkers(requested) ? new Workers(requested.gateway.workers, inForce, { clock: systemClock, log }) : undefined,
	);
	await workers?.start();
	if (demo === undefined) {
		const roles = config.roles.filter((role) => role !== 'admin' || config.enable_admin_api);
		if (options.isDemo && options.configPath === undefined && !isWorker) {
			log.info('the configuration file replaces the demo', { file: loaded.file });
		}
		log.info('started', {
			version,
			pid: process.pid,
			roles,
			listen: listenAddresses(config),
			config: loaded.file,
			...(workers !== undefined && { workers: requested.gateway.workers }),
		});
		// Warnings about keys come once, from the first process, even if only its workers send requests to providers.
		const unsetKeys = isWorker ? [] : keyWarnings(requested, loaded.namedProviders);
		for (const warning of [...configWarnings(config), ...unsetKeys]) log.warn('configuration', { warning });
	} else {
		const client = product.records && (await ensureDemoClient(product.records, systemClock, config.data_dir));
		await output.write(renderBanner({ version, config, simulatedProviders: demo.simulatedProviders, client, isTerminal }));
	}
	watch = demo === undefined ? followFile(loaded, options.logLevel !== undefined, product, log) : undefined;
	const reload = (): void => {
		watch?.reload();
		workers?.reload();
	};
	const signal = await nextStopSignal(isStoppedByHangUp ? undefined : reload);
	watch?.stop();
	log.info('stopping', { signal });
	// In-flight requests may still need identity and the simulator.
	await workers?.stop();
	await product.stop();
	log.info('stopped');
	log.flush();
	return 0;
}

function lineFormat(chosen: LogFormat, isTerminal: boolean): 'json' | 'text' {
	if (chosen !== 'auto') return chosen;
	return isTerminal ? 'text' : 'json';
}

/** @throws CommandFailure if there is no role to serve. */
function requireAnyRole({ roles, enable_admin_api, metrics }: Config): void {
	if (enable_admin_api || metrics.listen !== null || roles.some((role) => role !== 'admin')) return;
	throw new CommandFailure(1, 'nothing to serve: the only role is `admin`, which needs `enable_admin_api: true`');
}

/** @throws CommandFailure. */
export function simulate(options: SimulateOptions, output: Pick<StartOutput, 'isTerminal'>): Promise<number> {
	return withCleanup((cleanup) => simulateAndStop(options, output, cleanup));
}

async function simulateAndStop(
	{ listen, intervalMs, logFormat = 'auto' }: SimulateOptions,
	{ isTerminal }: Pick<StartOutput, 'isTerminal'>,
	cleanup: AsyncDisposableStack,
): Promise<number> {
	const log = createLogger({ level: 'info', format: lineFormat(logFormat, isTerminal), clock: systemClock });
	const defaults = loadConfig({ configPath: undefined, env: {}, workingDirectory: '/' }).config;
	const config: Config = { ...defaults, roles: ['simulator'], simulator: { listen } };
	const product = cleanup.use(await compose(config, { clock: systemClock, log, version: '', simulatorIntervalMs: intervalMs }));
	await startOrExplain(product, config, { setting: '--listen' });
	log.info('started', { roles: config.roles, listen: listenAddresses(config) });
	await nextStopSignal(undefined);
	await product.stop();
	log.flush();
	return 0;
}

interface AddressOrigin {
	/** Option that set the address, if it is not the role's `listen`. */
	readonly setting?: string;
	/** True for the demo, which a file with another address would replace. */
	readonly isDemo?: boolean;
}

async function startOrExplain(product: Product, config: Config, origin: AddressOrigin = {}): Promise<void> {
	try {
		await product.start();
	} catch (cause) {
		if (cause instanceof StartFailure) throw new CommandFailure(2, explain(cause, config, origin));
		throw cause;
	}
}

function explain({ role, code, message }: StartFailure, config: Config, { setting = `${role}.listen`, isDemo }: AddressOrigin): string {
	const address = config[role].listen ?? '';
	if (code === 'EADDRINUSE') {
		if (isDemo === true) {
			return `${address} is already in use: stop the process that listens there; the demo uses this address for its ${role}`;
		}
		return `${address} is already in use (${setting}): stop the process that listens there, or set ${setting} to another address`;
	}
	if (code === 'EACCES') return `${address} requires more privileges (${setting}): use a port above 1023`;
	if (code === 'EADDRNOTAVAIL') return `${address} is not an address of this machine (${setting})`;
	return `${setting}: cannot listen on ${address}: ${message}`;
}

/** @param isLevelFixed true if the command line's `--log-level` stays in force. */
function followFile(initial: LoadedConfig, isLevelFixed: boolean, product: Product, log: Logger): ConfigWatch {
	return watchConfig({
		initial,
		load: () => loadConfig({ configPath: initial.file ?? undefined }),
		onChange(next) {
			product.reconfigure(next);
			if (!isLevelFixed) log.setLevel(next.log.level);
		},
		onRead: product.noteReload,
		clock: systemClock,
		log,
	});
}

/** Ignores SIGHUP until there is a product to reload. */
function keepOnHangUp(): void {
	process.on('SIGHUP', () => undefined);
}

/**
 * Resolves with the first signal that stops the process; a second SIGTERM or SIGINT ends it immediately.
 * @param onHangUp handler of SIGHUP; undefined: SIGHUP also stops the process.
 */
function nextStopSignal(onHangUp: (() => void) | undefined): Promise<NodeJS.Signals> {
	// The product's timers do not keep the process alive.
	const keepAlive = setInterval(() => undefined, 2 ** 30);
	return new Promise((resolve) => {
		let isStopping = false;
		const first = (signal: NodeJS.Signals): void => {
			if (isStopping) return;
			isStopping = true;
			process.off('SIGTERM', first).off('SIGINT', first);
			clearInterval(keepAlive);
			process.once('SIGTERM', () => process.exit(143));
			if (!isWorker) process.once('SIGINT', () => process.exit(130));
			resolve(signal);
		};
		process.on('SIGTERM', first);
		// A terminal sends it to every process of the group. Workers wait for the first process to stop them.
		process.on('SIGINT', isWorker ? () => undefined : first);
		// When a terminal closes, both the shell and the system send it. Repeated signals have no effect.
		process.on('SIGHUP', onHangUp ?? first);
	});
}

const standardInput = 0;
const standardOutput = 1;

/**
 * Decides whether SIGHUP stops this process, like SIGTERM, or reloads the configuration. SIGHUP means either that a terminal was closed or
 * that an operator requests a reload. Call it at start, because a closed terminal is no longer detected as one. Workers are stopped by
 * their first process.
 * @param isTrial true for a process that was started by hand and has no configuration file to reload.
 */
function stopsOnHangUp(isTrial: boolean): boolean {
	return !isWorker && (isTrial || isatty(standardInput) || isatty(standardOutput));
}
