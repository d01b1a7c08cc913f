/** Provides the current reputation lists. A changed file is reloaded after it has been validated. */
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Clock, Timer } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { ReputationEntry } from '../policy/firewall/firewall.ts';
import { type ReputationList, ReputationListError, ReputationListReader } from '../policy/firewall/reputation-list.ts';

export interface ReputationFile {
	readonly file: string;
	/** Name of the list in log and metrics. */
	readonly name: string;
	readonly action: ReputationEntry['action'];
}

export interface ReputationFilesOptions {
	readonly clock: Clock;
	readonly log: Log;
	/** Interval between checks. A change is loaded after two checks have found the same state. */
	readonly intervalMs?: number;
}

/** A list is invalid at the start, when there is no earlier one to keep. */
export class ReputationFileError extends Error {
	override readonly name = 'ReputationFileError';
	readonly file: string;
	/** Line from 1; 0 for the file as a whole. */
	readonly line: number;

	constructor(file: string, line: number, reason: string) {
		super(reason);
		this.file = file;
		this.line = line;
	}
}

const maxBytes = 67_108_864;

/** Lines parsed in one tick, so that a long list does not block the event loop. */
const linesAtOnce = 500;

export class ReputationFiles {
	readonly #options: ReputationFilesOptions;
	readonly #followed: Followed[];
	#entries: readonly ReputationEntry[] = [];
	#timer: Timer | undefined;

	/** Reads the files. @throws ReputationFileError. */
	constructor(files: readonly ReputationFile[], options: ReputationFilesOptions) {
		this.#options = options;
		this.#followed = files.map((file) => {
			const state = stateOf(file.file);
			return { ...file, takenState: state, seenState: state, list: readAtOnce(file.file), isBeingRead: false };
		});
		for (const followed of this.#followed) this.#announce(followed);
		this.#refresh();
	}

	/** Entries currently in force. */
	get entries(): readonly ReputationEntry[] {
		return this.#entries;
	}

	/** Starts checking the files. */
	start(): void {
		if (this.#followed.length > 0) this.#schedule();
	}

	stop(): void {
		this.#timer?.cancel();
	}

	#schedule(): void {
		this.#timer = this.#options.clock.after(this.#options.intervalMs ?? 500, () => {
			this.#schedule();
			for (const followed of this.#followed) this.#poll(followed);
		});
	}

	#poll(followed: Followed): void {
		const state = stateOf(followed.file);
		const isSettled = state === followed.seenState;
		followed.seenState = state;
		if (!isSettled || state === followed.takenState || followed.isBeingRead) return;
		followed.takenState = state;
		followed.isBeingRead = true;
		void this.#take(followed);
	}

	async #take(followed: Followed): Promise<void> {
		const { file, name } = followed;
		try {
			followed.list = await readInSlices(file);
			this.#announce(followed);
			this.#refresh();
		} catch (cause) {
			const { line, message } = asFileError(file, cause);
			this.#options.log.error('reputation list rejected, the previous one stays active', { list: name, file, line, reason: message });
		} finally {
			followed.isBeingRead = false;
		}
	}

	#announce({ name, file, list }: Followed): void {
		this.#options.log.info('reputation list loaded', { list: name, file, ranges: list.ranges.size });
		const [first] = list.reserved;
		if (first === undefined) return;
		this.#options.log.warn('reputation list contains private or reserved ranges; only trusted proxies are exempt', {
			list: name,
			file,
			line: first.line,
			range: first.range,
			what: first.what,
			ranges: list.reserved.length,
		});
	}

	#refresh(): void {
		this.#entries = this.#followed.map(({ name, action, list }) => ({ name, action, ranges: list.ranges }));
	}
}

interface Followed extends ReputationFile {
	/** State of the file when it was last read. */
	takenState: string;
	/** State of the file at the last check. */
	seenState: string;
	list: ReputationList;
	isBeingRead: boolean;
}

function readAtOnce(file: string): ReputationList {
	try {
		checkSize(file);
		const reader = new ReputationListReader();
		for (const line of linesOf(readFileSync(file))) reader.add(line);
		return reader.end();
	} catch (cause) {
		throw asFileError(file, cause);
	}
}

async function readInSlices(file: string): Promise<ReputationList> {
	checkSize(file);
	const lines = linesOf(await readFile(file));
	const reader = new ReputationListReader();
	for (let from = 0; from < lines.length; from += linesAtOnce) {
		for (const line of lines.slice(from, from + linesAtOnce)) reader.add(line);
		await new Promise((resolve) => setImmediate(resolve));
	}
	return reader.end();
}

function checkSize(file: string): void {
	const found = statSync(file);
	if (!found.isFile()) throw new ReputationListError(0, 'is not a regular file');
	if (found.size > maxBytes) throw new ReputationListError(0, `is larger than ${maxBytes} bytes`);
}

function linesOf(bytes: Buffer): string[] {
	return bytes.toString('latin1').split(/\r?\n/);
}

function asFileError(file: string, cause: unknown): ReputationFileError {
	if (cause instanceof ReputationListError) return new ReputationFileError(file, cause.line, cause.message);
	const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
	return new ReputationFileError(file, 0, `cannot be read (${code})`);
}

/** Returns the identity and modification time of a file; a symbolic link that points elsewhere is another file. */
function stateOf(file: string): string {
	try {
		const { dev, ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
		return [realpathSync(file), dev, ino, size, mtimeNs, ctimeNs].join(':');
	} catch {
		return 'absent';
	}
}
