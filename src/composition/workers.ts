/**
 * `gateway.workers`: several processes that share the data plane's address. The first process runs all other roles and supervises the
 * workers.
 */
import cluster, { type Worker } from 'node:cluster';
import { CommandFailure } from '../cli/command-failure.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { RoleName } from '../core/handler.ts';
import type { Log } from '../core/log.ts';
import { replyToWorker } from './worker-configuration.ts';

export const isWorker = cluster.isWorker;

/** Process title that passes a worker its number; process lists show it. */
const titlePrefix = 'tollgate worker ';

/** Number of this worker, from 1; a replacement has the number of its predecessor. Undefined if the process is no worker. */
export const workerNumber = isWorker ? Number(process.title.slice(titlePrefix.length)) : undefined;

const numbers = new WeakMap<Worker, number>();

/** Returns the number of a worker; called in the first process. */
export function numberOf(worker: Worker): number | undefined {
	return numbers.get(worker);
}

const sharedRoles: ReadonlySet<RoleName> = new Set(['edge', 'gateway']);

/** Limits the configuration to the roles that this process runs itself. */
export function withProcessRoles(config: Config): Config {
	if (isWorker) {
		const roles = config.roles.filter((role) => sharedRoles.has(role));
		// The first process exposes the metrics of all.
		return { ...config, roles, metrics: { ...config.metrics, listen: null } };
	}
	return hasWorkers(config) ? { ...config, roles: config.roles.filter((role) => !sharedRoles.has(role)) } : config;
}

/** Returns true if this process should start workers. */
export function hasWorkers({ gateway, roles }: Config): boolean {
	return !isWorker && gateway.workers > 1 && roles.includes('gateway');
}

/** Runs the work of a worker. A worker whose first process is gone shuts down in order, as on SIGTERM. */
export async function asWorker<Result>(work: () => Promise<Result>): Promise<Result> {
	const { worker } = cluster;
	if (worker === undefined) return work();
	worker.exitedAfterDisconnect = true;
	const endInOrder = (): boolean => process.kill(process.pid, 'SIGTERM');
	process.once('disconnect', endInOrder);
	try {
		return await work();
	} finally {
		process.off('disconnect', endInOrder);
		// An open channel to the first process would keep the worker alive.
		if (process.connected) process.disconnect?.();
	}
}

const firstDelayMs = 500;
const maxDelayMs = 30_000;
/** Minimum uptime that resets the restart delay to the first one. */
const soundMs = 60_000;

export class Workers {
	readonly #count: number;
	readonly #configuration: () => LoadedConfig;
	readonly #clock: Clock;
	readonly #log: Log;
	readonly #running = new Set<Worker>();
	readonly #listening = new WeakSet<Worker>();
	#isStopping = false;
	#delayMs = firstDelayMs;
	#ended: (() => void) | undefined;

	/** @param configuration initial configuration of the workers. */
	constructor(count: number, configuration: () => LoadedConfig, { clock, log }: { readonly clock: Clock; readonly log: Log }) {
		this.#count = count;
		this.#configuration = configuration;
		this.#clock = clock;
		this.#log = log;
	}

	/** Resolves when all workers listen. @throws CommandFailure if one cannot, after it has logged why; the caller must stop the others. */
	async start(): Promise<void> {
		await Promise.all(Array.from({ length: this.#count }, (_, index) => this.#startFirst(index + 1)));
	}

	/** Makes each worker reload its configuration. A worker that is still starting receives the new one anyway, and SIGHUP would end it. */
	reload(): void {
		for (const worker of this.#running) {
			if (this.#listening.has(worker)) worker.process.kill('SIGHUP');
		}
	}

	/** Resolves when all workers have exited. */
	async stop(): Promise<void> {
		this.#isStopping = true;
		if (this.#running.size === 0) return;
		const ended = new Promise<void>((resolve) => (this.#ended = resolve));
		for (const worker of this.#running) worker.process.kill('SIGTERM');
		await ended;
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.stop();
	}

	#startFirst(number: number): Promise<void> {
		return new Promise((resolve, reject) => {
			const worker = this.#fork(number);
			worker.once('listening', () => {
				worker.removeAllListeners('exit');
				worker.once('exit', (code, signal) => this.#replace(worker, number, this.#clock.monotonicMs(), code, signal));
				resolve();
			});
			worker.once('exit', (code) => {
				this.#forget(worker);
				reject(new CommandFailure(2, `a worker could not start: exit code ${code}`));
			});
		});
	}

	#fork(number: number): Worker {
		cluster.setupPrimary({ execArgv: [...process.execArgv, `--title=${titlePrefix}${number}`], serialization: 'advanced' });
		const worker = cluster.fork();
		replyToWorker(worker, this.#configuration);
		numbers.set(worker, number);
		// Emitted when a connection is passed to a worker that has just died. Without a listener, it would end this process.
		worker.on('error', (cause) => this.#log.warn('a worker is unreachable', { pid: worker.process.pid, cause }));
		worker.once('listening', () => this.#listening.add(worker));
		this.#running.add(worker);
		return worker;
	}

	#forget(worker: Worker): void {
		this.#running.delete(worker);
		if (this.#running.size === 0) this.#ended?.();
	}

	#replace(worker: Worker, number: number, startedMs: number, code: number, signal: string): void {
		this.#forget(worker);
		if (this.#isStopping) return;
		const isSound = this.#clock.monotonicMs() - startedMs >= soundMs;
		this.#delayMs = isSound ? firstDelayMs : Math.min(this.#delayMs * 2, maxDelayMs);
		this.#log.error('a worker crashed and is restarted', { number, pid: worker.process.pid, code, signal, restart_in_ms: this.#delayMs });
		this.#clock.after(this.#delayMs, () => {
			if (this.#isStopping) return;
			const next = this.#fork(number);
			const nextStartedMs = this.#clock.monotonicMs();
			next.once('exit', (nextCode, nextSignal) => this.#replace(next, number, nextStartedMs, nextCode, nextSignal));
		});
	}
}
