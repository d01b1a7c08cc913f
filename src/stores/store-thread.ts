/** Thread that owns a store's connections and serves calls of the main thread, so that no statement delays a request. */
import { inspect } from 'node:util';
import { parentPort, Worker } from 'node:worker_threads';
import { StoreUnusable } from './contracts/store-unusable.ts';

/** The calling side gets a promise; a throw here rejects it. */
export type WorkerOperations = Readonly<Record<string, WorkerOperation>>;

/** Accepts any argument: the calling side checks it with the types that both sides share. */
type WorkerOperation = { run(argument: unknown): unknown }['run'];

export interface StoreThread<Calls extends WorkerOperations> {
	/** Rejects with `ThreadLost` when the thread dies first; the next call starts a new thread. */
	request<Name extends keyof Calls & string>(name: Name, argument: Parameters<Calls[Name]>[0]): Promise<Awaited<ReturnType<Calls[Name]>>>;
	/** Calls `stop`; resolves when the thread has ended. */
	stop(): Promise<void>;
}

export interface StoreThreadEntry {
	readonly file: URL;
	/** Thread name in error messages and system tools. */
	readonly name: string;
	/** `workerData` of the thread. */
	readonly data: unknown;
}

/** The thread died, and it is unknown whether it performed the call. */
export class ThreadLost extends Error {
	override readonly name = 'ThreadLost';
}

type Question = readonly [number: number, name: string, argument: unknown];
type ThreadReply = readonly [number: number, result: unknown, failure?: { kind: string; message: string }];

interface Waiter {
	resolve(result: unknown): void;
	reject(cause: Error): void;
}

interface Running {
	readonly worker: Worker;
	readonly waiting: Map<number, Waiter>;
}

/** Starts the thread at the first call. It keeps the process alive only while a call is pending. */
export function createStoreThread<Calls extends WorkerOperations>(entry: StoreThreadEntry): StoreThread<Calls> {
	let running: Running | undefined;
	let isStopping = false;
	let lastNumber = 0;
	const request = <Result>(name: string, argument: unknown): Promise<Result> => {
		running ??= startThread(entry, (cause) => {
			running = undefined;
			if (!isStopping) process.stderr.write(`The thread "${entry.name}" died: ${cause.stack ?? cause.message}\n`);
		});
		const { worker, waiting } = running;
		const number = ++lastNumber;
		return new Promise((resolve, reject) => {
			if (waiting.size === 0) worker.ref();
			waiting.set(number, { resolve, reject });
			worker.postMessage([number, name, argument] satisfies Question, []);
		});
	};
	return {
		request,
		async stop() {
			if (running === undefined) return;
			const { worker } = running;
			isStopping = true;
			try {
				await request('stop', null);
				await worker.terminate();
			} finally {
				isStopping = false;
			}
		},
	};
}

function startThread({ file, name, data }: StoreThreadEntry, ended: (cause: Error) => void): Running {
	// Flags of the process, such as a script to evaluate, do not apply to the thread.
	const worker = new Worker(file, { workerData: data, execArgv: [], name });
	worker.unref();
	const waiting = new Map<number, Waiter>();
	let fatal: Error | undefined;
	worker.on('message', ([number, result, failure]: ThreadReply) => {
		const waiter = waiting.get(number);
		waiting.delete(number);
		if (waiting.size === 0) worker.unref();
		if (failure === undefined) waiter?.resolve(result);
		else waiter?.reject(failureOf(failure));
	});
	worker.on('error', (cause) => {
		fatal = cause instanceof Error ? cause : new Error(inspect(cause));
	});
	worker.on('exit', (code) => {
		const cause = fatal ?? new Error(`it ended with exit code ${code}`);
		ended(cause);
		for (const waiter of waiting.values()) waiter.reject(new ThreadLost(`The thread "${name}" died: ${cause.message}`, { cause }));
	});
	return { worker, waiting };
}

function failureOf({ kind, message }: { kind: string; message: string }): Error {
	if (kind === 'StoreUnusable') return new StoreUnusable(message);
	return kind === 'RangeError' ? new RangeError(message) : new Error(message);
}

/** Serves calls in order; runs in the thread's own file. */
export function serveWorkerOperations(requests: WorkerOperations): void {
	const response = (reply: ThreadReply): void => parentPort?.postMessage(reply, []);
	const fail = (number: number, cause: unknown): void => {
		const { name: kind, message } = cause instanceof Error ? cause : new Error(String(cause));
		response([number, undefined, { kind, message }]);
	};
	const settle = (number: number, result: Promise<unknown>): void => {
		result.then(
			(value) => response([number, value]),
			(cause: unknown) => fail(number, cause),
		);
	};
	parentPort?.on('message', ([number, name, argument]: Question) => {
		try {
			const result = requests[name]?.(argument);
			if (result instanceof Promise) settle(number, result);
			else response([number, result]);
		} catch (cause) {
			fail(number, cause);
		}
	});
}
