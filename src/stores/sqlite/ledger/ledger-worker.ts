/** Entry point of the ledger's threads: serves calls in order, and reopens its connection after each failure. */
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';
import { booleanFrom, membersFrom, oneOf, textFrom } from '../../decode.ts';
import { serveWorkerOperations } from '../../store-thread.ts';
import { lowerThreadPriority } from '../../thread-priority.ts';
import { migrate } from '../migrate.ts';
import { type Durability, openDatabase } from '../open-database.ts';
import { createAssessmentReading, createAssessmentWriting } from './assessment-table.ts';
import { createEntryPages } from './entry-pages.ts';
import { createSendingLock, isInstanceAlive, removeStaleInstances } from './instance-lock.ts';
import { createLedgerCheck } from './ledger-check.ts';
import type { ReaderOperations, WriterOperations } from './ledger-operations.ts';
import { ledgerFileName, ledgerSchema } from './ledger-schema.ts';
import { createLedgerWriter } from './ledger-writer.ts';
import { readStaleJournals } from './open-journal.ts';
import { createOutboxReading } from './outbox.ts';
import { createCostSums, createSummaries } from './summaries.ts';
import { createTeamReading } from './team-reading.ts';

export interface LedgerThreadData {
	readonly kind: 'writer' | 'reader';
	readonly dataDir: string;
	readonly durability: Durability;
	/** Id of this run of the process. */
	readonly run: string;
	/** True if rows opened from now on are added to the outbox. */
	readonly spools: boolean;
}

function threadDataFrom(value: unknown): LedgerThreadData {
	const { kind, dataDir, durability, run, spools } = membersFrom(value);
	return {
		kind: oneOf(['writer', 'reader'])(kind),
		dataDir: textFrom(dataDir),
		durability: oneOf(['process', 'power'])(durability),
		run: textFrom(run),
		spools: booleanFrom(spools),
	};
}

const data = threadDataFrom(workerData);

// On a busy core requests take precedence, and the writer gets larger batches. Five steps leave it a quarter.
if (data.kind === 'writer') lowerThreadPriority(5);

interface Connection<Parts> {
	use<Result>(work: (parts: Parts) => Result): Result;
	close(): void;
}

function connect<Parts>(partsOf: (database: DatabaseSync) => Parts): Connection<Parts> {
	let opened: { database: DatabaseSync; parts: Parts } | undefined;
	const close = (): void => {
		const closing = opened;
		opened = undefined;
		if (closing?.database.isOpen === true) closing.database.close();
	};
	return {
		use(work) {
			if (opened === undefined) {
				const database = openDatabase(join(data.dataDir, ledgerFileName), (fresh) => migrate(fresh, ledgerSchema), data.durability);
				opened = { database, parts: partsOf(database) };
			}
			try {
				return work(opened.parts);
			} catch (cause) {
				close();
				throw cause;
			}
		},
		close,
	};
}

// Never changes, so that a wait on it ends by timeout.
const still = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
const restMs = 0.05;

/** Yields the core: a running thread keeps it for a millisecond or more, whichever threads wake up and whatever their priorities. */
function rest(): void {
	Atomics.wait(still, 0, 0, restMs);
}

function writerOperations(): WriterOperations {
	const connection = connect((database) => {
		// A checkpoint waits for the disk, so the reader's thread usually does it earlier.
		database.exec('PRAGMA wal_autocheckpoint = 16000');
		return { ledger: createLedgerWriter(database, data.run, data.spools, rest), assessments: createAssessmentWriting(database) };
	});
	return {
		open: () => connection.use(() => null),
		write: (batch) => connection.use(({ ledger }) => ledger.write(batch)),
		closeInterrupted(nowMs) {
			removeStaleInstances(data.dataDir);
			const isAlive = (run: string): boolean => isInstanceAlive(data.dataDir, run);
			return connection.use(({ ledger }) => {
				const journals = readStaleJournals(data.dataDir, isAlive);
				for (const remaining of journals) ledger.takeOver(remaining.run, remaining);
				const interrupted = ledger.closeInterrupted(nowMs, isAlive);
				// Not earlier: another starting process that has read half of the journals would open entries again that are closed now.
				for (const { remove } of journals) remove();
				return interrupted;
			});
		},
		pruneSome: (beforeMs) => connection.use(({ ledger }) => ledger.pruneSome(beforeMs)),
		pruneSentSome: (beforeMs) => connection.use(({ ledger }) => ledger.pruneSentSome(beforeMs)),
		forget(done) {
			connection.use(({ ledger }) => ledger.forget(done));
			return null;
		},
		assess(rows) {
			connection.use(({ assessments }) => assessments.assess(rows));
			return null;
		},
		forgetAssessments(through) {
			connection.use(({ assessments }) => assessments.forgetThrough(through));
			return null;
		},
		pruneAssessments: (beforeMs) => connection.use(({ assessments }) => assessments.pruneSome(beforeMs)),
		stop() {
			connection.close();
			return null;
		},
	};
}

const noUnsent = { through: 0, count: 0, assessments: '[]' };

/** Uses a separate connection, which never waits for writes. */
function readerOperations(): ReaderOperations {
	const sending = createSendingLock(data.dataDir);
	const connection = connect((database) => {
		const summarize = createSummaries(database);
		const sumCosts = createCostSums(database);
		return {
			summarize,
			sumCosts,
			list: createEntryPages(database),
			readTeam: createTeamReading(database, summarize, sumCosts),
			check: createLedgerCheck(database),
			...createAssessmentReading(database),
			readOutbox: createOutboxReading(database),
			checkpoint: () => database.exec('PRAGMA wal_checkpoint(PASSIVE)'),
		};
	});
	return {
		open: () => connection.use(() => null),
		summarize: (query) => connection.use((reading) => reading.summarize(query)),
		sumCosts: (query) => connection.use((reading) => reading.sumCosts(query)),
		list: (query) => connection.use((reading) => reading.list(query)),
		readTeam: (query) => connection.use((reading) => reading.readTeam(query)),
		check: () => connection.use((reading) => reading.check()),
		readOutbox: (limit) => connection.use((reading) => reading.readOutbox(limit, sending.take())),
		listAssessments: (query) => connection.use((reading) => reading.listAssessments(query)),
		verdictsOf: (requestIds) => connection.use((reading) => reading.verdictsOf(requestIds)),
		readUnsentAssessments: (limit) => connection.use((reading) => (sending.take() ? reading.readUnsent(limit) : noUnsent)),
		checkpoint() {
			connection.use((reading) => reading.checkpoint());
			return null;
		},
		stop() {
			sending.release();
			connection.close();
			return null;
		},
	};
}

serveWorkerOperations({ writer: writerOperations, reader: readerOperations }[data.kind]());
