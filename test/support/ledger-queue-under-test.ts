/** Queue of a ledger over a database and a journal that the test controls. */

import { flushOnTick } from '../../src/core/tick-flush.ts';
import { UpstreamError } from '../../src/core/upstream-error.ts';
import { closedEntry, openEntry } from '../../src/stores/contracts/ledger.contract.ts';
import type { OpenedEntry } from '../../src/stores/contracts/ledger.ts';
import { readCloseLine, readLine } from '../../src/stores/sqlite/ledger/compact-entries.ts';
import type { EntryException, WriteBatch } from '../../src/stores/sqlite/ledger/ledger-operations.ts';
import { LedgerQueue } from '../../src/stores/sqlite/ledger/ledger-queue.ts';
import { ManualClock } from './manual-clock.ts';
import { createRecordingLog } from './recording-log.ts';
import { until } from './until.ts';

export const nextTick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Database that the test controls: each batch waits for `commit` or `fail`. */
function createScriptedWrites() {
	const batches: WriteBatch[] = [];
	let waiting: PromiseWithResolvers<readonly EntryException[]> | undefined;
	const settled = async (response: (batch: PromiseWithResolvers<readonly EntryException[]>) => void): Promise<void> => {
		await until(() => waiting !== undefined, 'a batch under way');
		const batch = waiting;
		waiting = undefined;
		if (batch !== undefined) response(batch);
		await nextTick();
	};
	return {
		batches,
		write(batch: WriteBatch): Promise<readonly EntryException[]> {
			batches.push(batch);
			if (waiting !== undefined) throw new Error('Two batches are under way');
			waiting = Promise.withResolvers();
			return waiting.promise;
		},
		commit: (exceptions: EntryException[] = []) => settled(({ resolve }) => resolve(exceptions)),
		fail: (cause: Error) => settled(({ reject }) => reject(cause)),
	};
}

/** Keeps lines until they are removed. Accepts none while it has a `failure`; lines are durable after `sync`, if there is one. */
class ScriptedJournal {
	failure: Error | undefined;
	sync: PromiseWithResolvers<void> | undefined;
	readonly lines: string[] = [];
	tests = 0;

	get isSynced(): boolean {
		return this.sync !== undefined;
	}

	append(lines: string): void {
		this.lines.push(...lines.trimEnd().split('\n'));
		if (this.failure !== undefined) throw this.failure;
	}

	test(): void {
		this.tests += 1;
		if (this.failure !== undefined) throw this.failure;
	}

	whenSafe(): Promise<void> {
		return this.sync?.promise ?? Promise.resolve();
	}

	forget(count: number): void {
		if (count > this.lines.length) throw new Error('More is forgotten than there is');
		this.lines.splice(0, count);
	}

	/** Ids of opens; after a bar, those of closes. */
	get ids(): string {
		const isClose = (line: string): boolean => readCloseLine(line) !== undefined;
		const opens = this.lines.filter((line) => !isClose(line)).map((line) => readLine(line)[0]);
		const closes = this.lines.filter(isClose).map((line) => readCloseLine(line)?.[0]);
		return opens.join('') + (closes.length === 0 ? '' : `|${closes.join('')}`);
	}
}

export function startLedgerQueue() {
	const clock = new ManualClock();
	const log = createRecordingLog();
	const disk = createScriptedWrites();
	const journal = new ScriptedJournal();
	const queue = new LedgerQueue({ write: disk.write, journal, clock, log, path: 'ledger.db' });
	return { clock, log, disk, journal, queue, ...callers(queue) };
}

/** Resolves like an open when the request is sent. */
function retained(opened: OpenedEntry | Promise<OpenedEntry>): Promise<void> {
	if (opened instanceof Promise) return opened.then(() => undefined);
	return new Promise((resolve, reject) => {
		flushOnTick({ onTickFlush: () => (opened.failure === undefined ? resolve() : reject(opened.failure)) });
	});
}

/** Records outcomes in order: `open a: done`. */
function callers(queue: LedgerQueue) {
	const outcomes: string[] = [];
	const note = (what: string, promise: Promise<void>): void => {
		promise.then(
			() => outcomes.push(`${what}: done`),
			(cause: unknown) => outcomes.push(`${what}: ${cause instanceof UpstreamError ? 'refused' : String(cause)}`),
		);
	};
	return {
		outcomes,
		open: (id: string) => note(`open ${id}`, retained(queue.open(openEntry(id)))),
		close: (id: string) =>
			queue.close(closedEntry(id), (onClosed) => outcomes.push(`close ${id}: ${onClosed instanceof UpstreamError ? 'refused' : onClosed}`)),
		flush: (name: string) => note(`flush ${name}`, queue.flush()),
	};
}

export const idsOfOpens = ({ opens }: WriteBatch): string[] => opens.map((line) => readLine(line)[0]);
export const idsOfCloses = ({ closes }: WriteBatch): string[] => closes.map(([id]) => id);
export const idsIn = (batch: WriteBatch): string => `${idsOfOpens(batch).join('')}|${idsOfCloses(batch).join('')}`;
export const full = new Error('database or disk is full');
