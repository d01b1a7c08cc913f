/**
 * The log as JSON lines: `level`, `time` in Unix milliseconds, `msg` for the event, then the fields. Pino's destination
 * writes them in batches off the request's path; its formatter is left out, it takes three times as long as `JSON.stringify`.
 */
import { mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { pino } from 'pino';
import type { Clock } from '../core/clock.ts';
import type { Log, LogFields } from '../core/log.ts';
import { redact, redactFlat } from './redact.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

const severities: Readonly<Record<LogLevel, number>> = { debug: 20, info: 30, warn: 40, error: 50 };

export interface LogDestination {
	write(line: string): void;
}

export interface LoggerOptions {
	/** Lines below it are not written. */
	readonly level: LogLevel;
	readonly clock: Clock;
	/** A file's path, a file descriptor, or whatever takes lines; standard output unless given. */
	readonly destination?: string | number | LogDestination;
}

export interface Logger extends Log {
	setLevel(level: LogLevel): void;
	/** Writes what waits. For the end of the process. */
	flush(): void;
}

const batchBytes = 12_288;
const batchMs = 200;

export function createLogger(options: LoggerOptions): Logger {
	const { clock, destination = 1 } = options;
	let least = severities[options.level];
	const file = typeof destination === 'object' ? undefined : openFile(destination);
	const sink: LogDestination = typeof destination === 'object' ? destination : { write: (line) => void file?.write(line) };
	const logAt = (lineLevel: LogLevel): ((event: string, fields?: LogFields) => void) => {
		const severity = severities[lineLevel];
		const clean = lineLevel === 'info' || lineLevel === 'debug' ? redactFlat : redact;
		return (event, fields = {}) => {
			if (severity < least) return;
			const members = JSON.stringify(clean(fields)).slice(1);
			const comma = members === '}' ? '' : ',';
			sink.write(`{"level":"${lineLevel}","time":${clock.nowMs()},"msg":${JSON.stringify(event)}${comma}${members}\n`);
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
		flush: () => file?.flushSync(),
	};
}

/** Opened here and now, so that `flush` works from the first line on. */
function openFile(target: string | number): ReturnType<typeof pino.destination> {
	if (typeof target === 'string') mkdirSync(dirname(target), { recursive: true });
	const descriptor = typeof target === 'string' ? openSync(target, 'a') : target;
	const file = pino.destination({ dest: descriptor, sync: false, minLength: batchBytes, periodicFlush: batchMs });
	// A reader of our output that went away, as in `tollgate start | head`, is no reason to stop serving.
	file.on('error', () => undefined);
	return file;
}
