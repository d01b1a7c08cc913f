import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { StoreUnusable } from '../../contracts/store-unusable.ts';
import type { ThreadAnswer, ThreadCalls, ThreadQuestion } from './ledger-calls.ts';
import type { LedgerThreadData } from './ledger-worker.ts';

export interface LedgerThread<Calls extends ThreadCalls> {
	/** Rejects with `ThreadLost` when the thread dies first; started anew for the next call then. */
	call<Name extends keyof Calls & string>(name: Name, argument: Parameters<Calls[Name]>[0]): Promise<ReturnType<Calls[Name]>>;
	/** Resolves when the thread has ended. */
	stop(): Promise<void>;
}

/** The thread died, and whether it did what was asked is unknown. */
export class ThreadLost extends Error {
	override readonly name = 'ThreadLost';
}

interface Waiter {
	resolve(result: unknown): void;
	reject(cause: Error): void;
}

interface Running {
	readonly worker: Worker;
	readonly waiting: Map<number, Waiter>;
}

/** Starts the thread at the first call. It keeps the process alive only while somebody waits for an answer. */
export function createLedgerThread<Calls extends ThreadCalls>(data: LedgerThreadData): LedgerThread<Calls> {
	let running: Running | undefined;
	let lastNumber = 0;
	const call = (name: string, argument: unknown): Promise<unknown> => {
		running ??= startThread(data, () => {
			running = undefined;
		});
		const { worker, waiting } = running;
		const number = ++lastNumber;
		return new Promise((resolve, reject) => {
			if (waiting.size === 0) worker.ref();
			waiting.set(number, { resolve, reject });
			worker.postMessage([number, name, argument] satisfies ThreadQuestion, []);
		});
	};
	return {
		call: (name, argument) => call(name, argument) as Promise<never>,
		async stop() {
			if (running === undefined) return;
			const { worker } = running;
			await call('stop', null);
			await worker.terminate();
		},
	};
}

function startThread(data: LedgerThreadData, ended: () => void): Running {
	const entry = new URL(`./ledger-worker${extname(import.meta.url)}`, import.meta.url);
	// Flags of the process, such as a script to evaluate, are not for the thread.
	const worker = new Worker(entry, { workerData: data, execArgv: [], name: `ledger ${data.kind}` });
	worker.unref();
	const waiting = new Map<number, Waiter>();
	let fatal: unknown;
	worker.on('message', ([number, result, failure]: ThreadAnswer) => {
		const waiter = waiting.get(number);
		waiting.delete(number);
		if (waiting.size === 0) worker.unref();
		if (failure === undefined) waiter?.resolve(result);
		else waiter?.reject(failureOf(failure));
	});
	worker.on('error', (cause) => {
		fatal = cause;
	});
	worker.on('exit', () => {
		ended();
		for (const waiter of waiting.values()) waiter.reject(new ThreadLost(`The thread ${data.kind} of the ledger died`, { cause: fatal }));
	});
	return { worker, waiting };
}

function failureOf({ kind, message }: { kind: string; message: string }): Error {
	if (kind === 'StoreUnusable') return new StoreUnusable(message);
	return kind === 'RangeError' ? new RangeError(message) : new Error(message);
}
