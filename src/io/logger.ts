/** The log: a line for each event, with its level, its time (ISO 8601, UTC) and its fields. */
import type { Clock } from '../core/clock.ts';
import type { Log, LogFields } from '../core/log.ts';
import { LogFile } from './log-file.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

const severities: Readonly<Record<LogLevel, number>> = { debug: 20, info: 30, warn: 40, error: 50 };

export interface LogDestination {
	write(line: string): void;
	/** Writes waiting lines, at once or right after a running write. */
	flush?(): void;
}

export interface LoggerOptions {
	/** Lowest level that is written. */
	readonly level: LogLevel;
	readonly clock: Clock;
	/** `json` by default. */
	readonly format?: LogFormat;
	/** A file's path, a file descriptor, or an object that takes lines; standard output by default. */
	readonly destination?: string | number | LogDestination;
	/** Written in each line if several processes share one log. */
	readonly worker?: number | undefined;
}

export interface Logger extends Log {
	setLevel(level: LogLevel): void;
	/** Flushes the log at process exit. */
	flush(): void;
}

export function createLogger(options: LoggerOptions): Logger {
	const { clock, destination = 1, worker } = options;
	const render = logLineRenderer(options.format ?? 'json');
	let min = severities[options.level];
	const onDropped = (count: number): void => logAt('warn')('log lines dropped', { count });
	const sink = typeof destination === 'object' ? destination : new LogFile(destination, clock, onDropped);
	const logAt = (lineLevel: LogLevel): ((event: string, fields?: LogFields) => void) => {
		const severity = severities[lineLevel];
		const clean = lineLevel === 'info' || lineLevel === 'debug' ? redactFlat : redact;
		return (event, fields = {}) => {
			if (severity < min) return;
			sink.write(render({ level: lineLevel, timeMs: clock.nowMs(), event, fields: clean(fields), worker }));
		};
	};
	return {
		debug: logAt('debug'),
		info: logAt('info'),
		warn: logAt('warn'),
		error: logAt('error'),
		setLevel(level) {
			min = severities[level];
		},
		flush: () => sink.flush?.(),
	};
}

/** The two formats of a log line: JSON for programs, text for people at a terminal. */

export type LogFormat = 'json' | 'text';

interface LogEntry {
	readonly level: string;
	readonly timeMs: number;
	readonly event: string;
	/** Fields after redaction. */
	readonly fields: LogFields;
	/** Number of the process if several share one log. */
	readonly worker: number | undefined;
}

type RenderLogLine = (entry: LogEntry) => string;

/** @returns a function that formats an entry as a line, with its line end. */
function logLineRenderer(format: LogFormat): RenderLogLine {
	const isoTime = createIsoTime();
	return format === 'json' ? (entry) => jsonLine(entry, isoTime) : (entry) => textLine(entry, isoTime);
}

function jsonLine({ level, timeMs, event, fields, worker }: LogEntry, isoTime: (ms: number) => string): string {
	const origin = worker === undefined ? '' : `"worker":${worker},`;
	const members = JSON.stringify(fields).slice(1);
	const comma = members === '}' ? '' : ',';
	return `{${origin}"level":"${level}","time":"${isoTime(timeMs)}","msg":${JSON.stringify(event)}${comma}${members}\n`;
}

function textLine({ level, timeMs, event, fields, worker }: LogEntry, isoTime: (ms: number) => string): string {
	const parts = [isoTime(timeMs), level.toUpperCase().padEnd(5), event];
	if (worker !== undefined) parts.push(`worker=${worker}`);
	const below: string[] = [];
	for (const [name, value] of Object.entries(fields)) {
		if (value === undefined) continue;
		parts.push(`${printable(name)}=${valueText(value)}`);
		const stack = stackOf(value);
		if (stack !== undefined) below.push(...stack.split('\n').map((line) => `    ${printable(line.trim())}`));
	}
	return `${[parts.join(' '), ...below].join('\n')}\n`;
}

function valueText(value: unknown): string {
	if (typeof value === 'string') return /^[\p{L}\p{N}_./:@%+~$-]+$/u.test(value) ? value : printable(JSON.stringify(value));
	if (Array.isArray(value)) {
		const isFlat = value.length > 0 && value.every((item) => typeof item === 'string');
		return isFlat ? value.map(valueText).join(',') : printable(JSON.stringify(value));
	}
	if (typeof value === 'object' && value !== null) return printable(JSON.stringify(withoutStack(value)));
	return String(value);
}

/** Escapes text from elsewhere, because a terminal would obey control characters and bidirectional ones would reorder the line. */
function printable(text: string): string {
	return text.replaceAll(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/gu, '\u{fffd}');
}

function stackOf(value: unknown): string | undefined {
	return typeof value === 'object' && value !== null && 'stack' in value && typeof value.stack === 'string' ? value.stack : undefined;
}

function withoutStack(value: object): object {
	return Object.fromEntries(Object.entries(value).filter(([name]) => name !== 'stack'));
}

/** Renders all but the milliseconds once, because many lines share a second. */
function createIsoTime(): (ms: number) => string {
	let second = Number.NaN;
	let prefix = '';
	return (ms) => {
		const whole = Math.floor(ms);
		const atSecond = Math.floor(whole / 1000);
		if (atSecond !== second) {
			second = atSecond;
			prefix = new Date(atSecond * 1000).toISOString().slice(0, -4);
		}
		return `${prefix}${String(whole - atSecond * 1000).padStart(3, '0')}Z`;
	};
}

/** Redaction is the last guard of the log against a secret that was passed by mistake. */

const blackedOut = '[redacted]';
const maxDepth = 6;

/** Names whose values are secrets wherever they appear; `-`, `_` and upper case are ignored. */
const secretNames: ReadonlySet<string> = new Set([
	'accesstoken',
	'apikey',
	'authorization',
	'clientassertion',
	'clientsecret',
	'cookie',
	'credentials',
	'idtoken',
	'password',
	'privatekey',
	'proxyauthorization',
	'refreshtoken',
	'secret',
	'setcookie',
	'xapikey',
	'xgoogapikey',
]);

/** Secrets in the middle of a message: a bearer token, a JWT, a provider key, a key in a query. */
const secretText =
	/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}|\beyJ[\w-]+\.[\w-]+\.[\w-]*|\bsk-[\w-]{8,}|\bAIza[\w-]{20,}|([?&](?:key|api[_-]?key|token|access_token|client_secret)=)[^&\s"']+/gi;

/** Returns the fields with secrets redacted, in names and in texts, and errors as plain objects. */
function redact(fields: LogFields): LogFields {
	return redactMembers(fields, 0);
}

/** Redacts lines that are written for every request: texts of flat fields are not searched. Returns the same object if nothing changes. */
function redactFlat(fields: LogFields): LogFields {
	for (const name in fields) {
		const value = fields[name];
		if ((typeof value === 'object' && value !== null) || typeof value === 'bigint' || isSecretName(name)) return redact(fields);
	}
	return fields;
}

function redactMembers(source: object, depth: number): Record<string, unknown> {
	const clean: Record<string, unknown> = {};
	for (const [name, value] of Object.entries(source)) {
		clean[name] = isSecretName(name) && value !== undefined ? blackedOut : redactValue(value, depth + 1);
	}
	return clean;
}

function redactValue(value: unknown, depth: number): unknown {
	if (typeof value === 'string') return redactText(value);
	if (typeof value === 'bigint') return String(value);
	if (typeof value !== 'object' || value === null || value instanceof Date) return value;
	if (depth > maxDepth) return '[deeper]';
	if (value instanceof Error) return redactError(value, depth);
	if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
	if (Array.isArray(value)) return value.map((item) => redactValue(item, depth + 1));
	if (value instanceof Map || value instanceof Set) return redactValue([...value], depth);
	return redactMembers(value, depth);
}

function redactError(error: Error, depth: number): Record<string, unknown> {
	const { name, message, stack, cause } = error;
	return redactMembers({ ...Object.fromEntries(Object.entries(error)), name, message, stack, cause }, depth);
}

function redactText(text: string): string {
	return text.replace(secretText, (_match, scheme: string | undefined, prefix: string | undefined) => {
		if (scheme !== undefined) return `${scheme} ${blackedOut}`;
		return `${prefix ?? ''}${blackedOut}`;
	});
}

/** Field names are few and fixed; the bound is for those of objects from elsewhere. */
const maxKnownNames = 1000;
const knownNames = new Map<string, boolean>();

function isSecretName(name: string): boolean {
	const known = knownNames.get(name);
	if (known !== undefined) return known;
	const isSecret = secretNames.has(name.toLowerCase().replaceAll(/[-_]/g, ''));
	if (knownNames.size < maxKnownNames) knownNames.set(name, isSecret);
	return isSecret;
}
