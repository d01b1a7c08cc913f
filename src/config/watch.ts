/** Holds the current configuration, and reloads a changed file once it is valid. */
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
	/** Loads the configuration again: `() => loadConfig({ configPath: initial.file })`. */
	load(): LoadedConfig;
	/**
	 * Applies a valid, changed configuration. If it throws, the previous configuration stays current. `needsRestart` lists the changed
	 * settings that require a restart.
	 */
	onChange(next: Config, needsRestart: readonly string[]): void;
	/** Runs after each read of the files, with true if their content is the current configuration. */
	onRead?(isInForce: boolean): void;
	readonly clock: Clock;
	readonly log: Log;
	/** A change is reloaded once two checks in a row see the same state, so within two intervals. Default 500. */
	readonly intervalMs?: number;
}

export interface ConfigWatch {
	/** The current configuration. */
	readonly current: Config;
	/** Reloads at once, as on SIGHUP. @returns true if the content of the files is the current configuration. */
	reload(): boolean;
	stop(): void;
}

/**
 * Polls the files, because notifications miss an editor's rename, a write in place, a changed symbolic link and network file systems. A
 * file that is still being written is read only once it stops changing.
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
			this.#poll();
		});
	}

	stop(): void {
		this.#timer?.cancel();
	}

	/** Reloads changes that were written after `initial` was read. */
	catchUp(): void {
		const { initial, load } = this.#options;
		if (initial.file === null || isReadOnce(initial.file)) return;
		try {
			if (changesBetween(initial.config, load().config).length === 0) return;
		} catch {
			// Reported by the read below.
		}
		this.#read();
	}

	reload(): boolean {
		this.#takenState = stateOf(this.#files);
		this.#takenContent = contentOf(this.#files);
		return this.#read();
	}

	#poll(): void {
		const state = stateOf(this.#files);
		if (state === this.#takenState) return;
		if (state !== this.#pendingState) {
			this.#pendingState = state;
			return;
		}
		const content = contentOf(this.#files);
		// No file descriptors left: checked again after the interval, because otherwise the change would be lost.
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
			// An empty file is valid and means the defaults. In place of settings, however, it is the result of a full disk or an unfinished
			// save.
			if (next.isEmpty && changes.length > 0) throw problemOfFile(next.file, 'is empty: write `{}` for the defaults');
			this.#follow(next.files);
			// A value that is back to the one at the start needs no restart.
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

	/** Watches another list of files. Files that were already watched are not read again for that. */
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

/** Existence and modification time of the files, without reading them. */
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

/** Digest of the files; undefined when the process has no file descriptor left to read them. */
function contentOf(files: readonly string[]): string | undefined {
	const hash = createHash('sha256');
	for (const file of files) {
		try {
			// A pipe, as in `--config <(...)`, was read to its end: reading it again could block forever.
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
	/** Values in loggable form; undefined where the setting did not exist. */
	readonly before: unknown;
	readonly after: unknown;
	readonly needsRestart: boolean;
}

/** Every setting that differs, secrets redacted. A list whose length changed is one change. */
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
