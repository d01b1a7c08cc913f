/**
 * Reads large requests in a worker thread. Parsing, checking and hashing a body of 20 MB takes hundreds of milliseconds, during which the
 * event loop would serve no other request.
 */
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { BodyQuestion, BodyResponse } from './large-bodies-thread.ts';
import { type ReadRequest, readRequest } from './read-request.ts';
import type { Wire, WireTarget } from './wires/wire.ts';

/** Threshold in bytes. Smaller bodies take a few milliseconds. */
export const largeBodyBytes = 262_144;

interface Waiter {
	readonly resolve: (read: ReadRequest) => void;
	readonly reject: (cause: Error) => void;
}

export interface BodyReader {
	/** @param isRetained false: the bytes are transferred to the thread and cannot be read afterwards, which saves a copy. */
	read(bytes: Buffer, wire: Wire, target: WireTarget, isRetained: boolean): ReadRequest | Promise<ReadRequest>;
}

const threadName = 'simulator-bodies';

/** Creates a reader whose thread starts with the first large body, and does not keep the process alive. */
export function createBodyReader(): BodyReader {
	let thread: { readonly worker: Worker; readonly waiting: Map<number, Waiter> } | undefined;
	let lastNumber = 0;

	const start = (): NonNullable<typeof thread> => {
		const file = new URL(`./large-bodies-thread${extname(import.meta.url)}`, import.meta.url);
		const worker = new Worker(file, { execArgv: [], name: threadName });
		const waiting = new Map<number, Waiter>();
		worker.unref();
		worker.on('message', ([number, read]: BodyResponse) => {
			waiting.get(number)?.resolve(read);
			waiting.delete(number);
			if (waiting.size === 0) worker.unref();
		});
		let fatal: unknown;
		worker.on('error', (cause) => {
			fatal = cause;
			process.stderr.write(`The thread ${threadName} died: ${String(cause)}\n`);
		});
		worker.on('exit', () => {
			thread = undefined;
			for (const { reject } of waiting.values()) reject(new Error(`The thread ${threadName} died`, { cause: fatal }));
		});
		return { worker, waiting };
	};

	return {
		read(bytes, wire, target, isRetained) {
			if (bytes.length <= largeBodyBytes) return readRequest(bytes, wire, target);
			thread ??= start();
			const { worker, waiting } = thread;
			const number = ++lastNumber;
			return new Promise((resolve, reject) => {
				if (waiting.size === 0) worker.ref();
				waiting.set(number, { resolve, reject });
				const question: BodyQuestion = { number, wire: wire.name, target: { ...target, query: target.query.toString() }, bytes };
				const isWholeBuffer = bytes.byteLength === bytes.buffer.byteLength && bytes.buffer instanceof ArrayBuffer;
				worker.postMessage(question, !isRetained && isWholeBuffer ? [bytes.buffer] : []);
			});
		},
	};
}
