/** Keeps the configuration that is in force, and takes up a changed file once it has been found valid. */
import { createHash } from 'node:crypto';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { LoadedConfig } from './load.ts';
import { ConfigError } from './problem.ts';
import { formatPath, isRecord, type Path } from './raw.ts';
import { redactedAt } from './redacted-config.ts';
import type { Config } from './schema.ts';
import { needsRestart } from './schema-tree.ts';

export interface WatchOptions {
	readonly initial: LoadedConfig;
	/** Loads anew: `() => loadConfig({ configPath: initial.file })`. */
	load(): LoadedConfig;
	/**
	 * Puts a valid, changed configuration in force. When it throws, the former one stays.
	 * `needsRestart` names the changed settings that count only after a restart.
	 */
	onChange(next: Config, needsRestart: readonly string[]): void;
	/** Told of each time that the files were read, and whether what is in them is in force now. */
	onRead?(isInForce: boolean): void;
	readonly clock: Clock;
	readonly log: Log;
	/** A change is taken up after it has been seen twice alike, so within two intervals. Default 500. */
	readonly intervalMs?: number;
}

export interface ConfigWatch {
	/** The configuration in force. */
	readonly current: Config;
	/** Loads at once, as on SIGHUP. @returns whether what is in the files is in force now. */
	reload(): boolean;
	stop(): void;
}

/**
 * Looks at the files at an interval, which sees what notifications miss: an editor's rename, a write in place, a
 * symbolic link pointed elsewhere, a network file system. A file that is half written is waited for.
 */
export function watchConfig(options: WatchOptions): ConfigWatch {
	const watch = new Watch(options);
	watch.catchUp();
	watch.schedule();
	return watch;
}

class Watch implements ConfigWatch {
	readonly #options: WatchOptions;
	#current: Config;
	#files: readonly string[];
	#takenState: string;
	#takenContent: string | undefined;
	#pendingState: string | undefined;
	#timer: { cancel(): void } | undefined;

	constructor(options: WatchOptions) {
		this.#options = options;
		this.#current = options.initial.config;
		this.#files = options.initial.files;
		this.#takenState = stateOf(this.#files);
		this.#takenContent = contentOf(this.#files);
	}

	get current(): Config {
		return this.#current;
	}

	schedule(): void {
		if (this.#files.length === 0) return;
		this.#timer = this.#options.clock.after(this.#options.intervalMs ?? 500, () => {
			this.schedule();
			this.#look();
		});
	}

	stop(): void {
		this.#timer?.cancel();
	}

	/** Takes up what was written after `initial` was read. */
	catchUp(): void {
		const { initial, load } = this.#options;
		if (initial.file === null || isReadOnce(initial.file)) return;
		try {
			if (changesBetween(initial.config, load().config).length === 0) return;
		} catch {
			// Told below.
		}
		this.#read();
	}

	reload(): boolean {
		this.#takenState = stateOf(this.#files);
		this.#takenContent = contentOf(this.#files);
		return this.#read();
	}

	#look(): void {
		const state = stateOf(this.#files);
		if (state === this.#takenState) return;
		if (state !== this.#pendingState) {
			this.#pendingState = state;
			return;
		}
		const content = contentOf(this.#files);
		// Out of descriptors: looked at again in a while, or the change would never be taken up.
		if (content === undefined) return;
		this.#takenState = state;
		if (content === this.#takenContent) return;
		this.#takenContent = content;
		this.#read();
	}

	#read(): boolean {
		const isInForce = this.#load();
		this.#options.onRead?.(isInForce);
		return isInForce;
	}

	#load(): boolean {
		const { initial, load, onChange, log } = this.#options;
		try {
			if (initial.file !== null && isReadOnce(initial.file)) {
				throw problemOfFile(initial.file, 'is not a regular file and cannot be reloaded');
			}
			const next = load();
			const changes = changesBetween(this.#current, next.config);
			// It is valid and means the defaults, but in the place of settings it is what a full disk or an unfinished save leaves.
			if (next.isEmpty && changes.length > 0) throw problemOfFile(next.file, 'is empty: write `{}` for the defaults');
			this.#follow(next.files);
			// What is put back to what the process began with is in force already.
			const sinceStart = changesBetween(initial.config, next.config);
			const restartPaths = changes
				.filter(
					(change) =>
						change.needsRestart && sinceStart.some((other) => isWithin(change.path, other.path) || isWithin(other.path, change.path)),
				)
				.map((change) => change.path);
			if (changes.length > 0) onChange(next.config, restartPaths);
			this.#current = next.config;
			log.info(changes.length > 0 ? 'configuration changed' : 'configuration unchanged', {
				changes: changes.map(({ path, before, after }) => ({ path, before, after })),
				needs_restart: restartPaths,
			});
			return true;
		} catch (cause) {
			if (cause instanceof ConfigError) {
				this.#follow(cause.files);
				log.error('configuration rejected, the previous one stays active', { problems: cause.problems });
			} else {
				log.error('configuration not applied, the previous one stays active', { cause });
			}
			return false;
		}
	}

	/** Follows other files from now on; those that were followed already are not read again for that. */
	#follow(files: readonly string[]): void {
		if (files.length === 0 || files.join('\0') === this.#files.join('\0')) return;
		this.#files = files;
		this.#takenState = stateOf(files);
		this.#takenContent = contentOf(files);
	}
}

function isWithin(path: string, outer: string): boolean {
	return path.startsWith(outer) && /^($|[.[])/.test(path.slice(outer.length));
}

function isReadOnce(file: string): boolean {
	return statSync(file, { throwIfNoEntry: false })?.isFile() === false;
}

function problemOfFile(file: string | null, message: string): ConfigError {
	return new ConfigError([{ file, line: null, column: null, path: '', message }]);
}

/** Which files are there and when they were last touched, without reading them. */
function stateOf(files: readonly string[]): string {
	return JSON.stringify(
		files.map((file) => {
			try {
				const { dev, ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
				return [realpathSync(file), dev, ino, size, mtimeNs, ctimeNs].join(':');
			} catch {
				return 'absent';
			}
		}),
	);
}

/** A digest of the files; undefined when the process has no descriptor left to read them with. */
function contentOf(files: readonly string[]): string | undefined {
	const hash = createHash('sha256');
	for (const file of files) {
		try {
			// A pipe, as in `--config <(...)`, was read to its end: reading it again could wait for ever.
			if (statSync(file).isFile()) hash.update(createHash('sha256').update(readFileSync(file)).digest());
		} catch (cause) {
			if (cause instanceof Error && 'code' in cause && (cause.code === 'EMFILE' || cause.code === 'ENFILE')) return undefined;
			hash.update('absent');
		}
	}
	return hash.digest('base64');
}

interface ConfigChange {
	readonly path: string;
	/** Values as they may be logged; undefined where the setting did not exist. */
	readonly before: unknown;
	readonly after: unknown;
	readonly needsRestart: boolean;
}

/** Every setting that differs, secrets redacted. Lists that grew or shrank are one change. */
export function changesBetween(before: Config, after: Config): ConfigChange[] {
	return compare(before, after, []).map(({ path, before: old, after: current }) => ({
		path: formatPath(path),
		before: redactedAt(path, old),
		after: redactedAt(path, current),
		needsRestart: needsRestart(path),
	}));
}

interface Difference {
	readonly path: Path;
	readonly before: unknown;
	readonly after: unknown;
}

function compare(before: unknown, after: unknown, path: Path): Difference[] {
	if (Object.is(before, after)) return [];
	if (isRecord(before) && isRecord(after)) {
		const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
		return [...keys].flatMap((key) => compare(before[key], after[key], [...path, key]));
	}
	if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
		return before.flatMap((item: unknown, index) => compare(item, after[index], [...path, index]));
	}
	return [{ path, before, after }];
}
