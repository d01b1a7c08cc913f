/** The log: a line for each event, with its level, its time (ISO 8601, UTC) and its fields. */
import type { Clock } from '../core/clock.ts';
import type { Log, LogFields } from '../core/log.ts';
import { LogFile } from './log-file.ts';
import { type LogFormat, logLineRenderer } from './log-lines.ts';
import { redact, redactFlat } from './redact.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

const severities: Readonly<Record<LogLevel, number>> = { debug: 20, info: 30, warn: 40, error: 50 };

export interface LogDestination {
	write(line: string): void;
	/** Writes what waits, at once or right after a write that is under way. */
	flush?(): void;
}

export interface LoggerOptions {
	/** Lines below it are not written. */
	readonly level: LogLevel;
	readonly clock: Clock;
	/** `json` unless given. */
	readonly format?: LogFormat;
	/** A file's path, a file descriptor, or whatever takes lines; standard output unless given. */
	readonly destination?: string | number | LogDestination;
	/** Told by each line, where several processes write one log. */
	readonly worker?: number | undefined;
}

export interface Logger extends Log {
	setLevel(level: LogLevel): void;
	/** For the end of the process. */
	flush(): void;
}

export function createLogger(options: LoggerOptions): Logger {
	const { clock, destination = 1, worker } = options;
	const render = logLineRenderer(options.format ?? 'json');
	let least = severities[options.level];
	const onDropped = (count: number): void => logAt('warn')('log lines dropped', { count });
	const sink = typeof destination === 'object' ? destination : new LogFile(destination, clock, onDropped);
	const logAt = (lineLevel: LogLevel): ((event: string, fields?: LogFields) => void) => {
		const severity = severities[lineLevel];
		const clean = lineLevel === 'info' || lineLevel === 'debug' ? redactFlat : redact;
		return (event, fields = {}) => {
			if (severity < least) return;
			sink.write(render({ level: lineLevel, timeMs: clock.nowMs(), event, fields: clean(fields), worker }));
		};
	};
	return {
		debug: logAt('debug'),
		info: logAt('info'),
		warn: logAt('warn'),
		error: logAt('error'),
		setLevel(level) {
			least = severities[level];
		},
		flush: () => sink.flush?.(),
	};
}
