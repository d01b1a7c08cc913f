/** `gateway.workers`: several processes that share the data plane's address. The first one runs all other roles, and looks after them. */
import cluster, { type Worker } from 'node:cluster';
import { CommandFailure } from '../cli/command-failure.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { RoleName } from '../core/handler.ts';
import type { Log } from '../core/log.ts';
import { answerWorker } from './worker-configuration.ts';

export const isWorker = cluster.isWorker;

/** How a worker is told its number; lists of processes show it. */
const titlePrefix = 'tollgate worker ';

/** Which of the workers this is, from 1 on: one that takes another's place has its number. Undefined when it is none. */
export const workerNumber = isWorker ? Number(process.title.slice(titlePrefix.length)) : undefined;

const numbers = new WeakMap<Worker, number>();

/** In the first process: the number of a worker. */
export function numberOf(worker: Worker): number | undefined {
	return numbers.get(worker);
}

const sharedRoles: ReadonlySet<RoleName> = new Set(['edge', 'gateway']);

/** What of the configuration this process runs itself. */
export function withOwnRoles(config: Config): Config {
	if (isWorker) {
		const roles = config.roles.filter((role) => sharedRoles.has(role));
		// The first process shows the figures of all.
		return { ...config, roles, metrics: { ...config.metrics, listen: null } };
	}
	return hasWorkers(config) ? { ...config, roles: config.roles.filter((role) => !sharedRoles.has(role)) } : config;
}

/** Whether this process is to start workers. */
export function hasWorkers({ gateway, roles }: Config): boolean {
	return !isWorker && gateway.workers > 1 && roles.includes('gateway');
}

/** Does a worker's work. One whose first process is gone ends in order, like one that is told to. */
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
		// What ties it to the first process would keep it alive.
		if (process.connected) process.disconnect?.();
	}
}

const firstDelayMs = 500;
const longestDelayMs = 30_000;
/** After one that lived so long the delay is the first one again. */
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

	/** @param configuration what they are to begin with. */
	constructor(count: number, configuration: () => LoadedConfig, { clock, log }: { readonly clock: Clock; readonly log: Log }) {
		this.#count = count;
		this.#configuration = configuration;
		this.#clock = clock;
		this.#log = log;
	}

	/** Resolves when all listen. @throws CommandFailure when one cannot; it has said why, and the others are still to be stopped. */
	async start(): Promise<void> {
		await Promise.all(Array.from({ length: this.#count }, (_, index) => this.#startFirst(index + 1)));
	}

	/** Has each read its configuration again. One that is only starting looks at it anyway, and the signal would end it. */
	reload(): void {
		for (const worker of this.#running) {
			if (this.#listening.has(worker)) worker.process.kill('SIGHUP');
		}
	}

	/** Resolves when none is left. */
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
		answerWorker(worker, this.#configuration);
		numbers.set(worker, number);
		// A connection handed to a worker that has just died: nobody else would hear of it, and it must not end this process.
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
		this.#delayMs = isSound ? firstDelayMs : Math.min(this.#delayMs * 2, longestDelayMs);
		this.#log.error('a worker crashed and is restarted', { number, pid: worker.process.pid, code, signal, restart_in_ms: this.#delayMs });
		this.#clock.after(this.#delayMs, () => {
			if (this.#isStopping) return;
			const next = this.#fork(number);
			const nextStartedMs = this.#clock.monotonicMs();
			next.once('exit', (nextCode, nextSignal) => this.#replace(next, number, nextStartedMs, nextCode, nextSignal));
		});
	}
}
