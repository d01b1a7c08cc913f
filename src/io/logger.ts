/** The log as JSON lines: `level`, `time` in Unix milliseconds, `msg` for the event, then the fields. */
import type { Clock } from '../core/clock.ts';
import type { Log, LogFields } from '../core/log.ts';
import { LogFile } from './log-file.ts';
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
	const origin = worker === undefined ? '' : `"worker":${worker},`;
	let least = severities[options.level];
	const onDropped = (count: number): void => logAt('warn')('log lines dropped', { count });
	const sink = typeof destination === 'object' ? destination : new LogFile(destination, clock, onDropped);
	const logAt = (lineLevel: LogLevel): ((event: string, fields?: LogFields) => void) => {
		const severity = severities[lineLevel];
		const clean = lineLevel === 'info' || lineLevel === 'debug' ? redactFlat : redact;
		return (event, fields = {}) => {
			if (severity < least) return;
			const members = JSON.stringify(clean(fields)).slice(1);
			const comma = members === '}' ? '' : ',';
			sink.write(`{${origin}"level":"${lineLevel}","time":${clock.nowMs()},"msg":${JSON.stringify(event)}${comma}${members}\n`);
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
