/** The two forms of a log line: JSON for programs, text for people at a terminal. */
import type { LogFields } from '../core/log.ts';

export type LogFormat = 'json' | 'text';

export interface LogEntry {
	readonly level: string;
	readonly timeMs: number;
	readonly event: string;
	/** Redacted. */
	readonly fields: LogFields;
	/** Number of the process, where several write one log. */
	readonly worker: number | undefined;
}

export type RenderLogLine = (entry: LogEntry) => string;

/** @returns what makes a line of an entry, its end included. */
export function logLineRenderer(format: LogFormat): RenderLogLine {
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
	if (Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string')) return value.map(valueText).join(',');
	if (typeof value === 'object' && value !== null) return printable(JSON.stringify(withoutStack(value)));
	return String(value);
}

/** The last step for text from elsewhere: a terminal would obey control characters, and bidirectional ones would reorder the line. */
function printable(text: string): string {
	return text.replaceAll(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/gu, '\u{fffd}');
}

function stackOf(value: unknown): string | undefined {
	return typeof value === 'object' && value !== null && 'stack' in value && typeof value.stack === 'string' ? value.stack : undefined;
}

function withoutStack(value: object): object {
	return Object.fromEntries(Object.entries(value).filter(([name]) => name !== 'stack'));
}

/** Lines come many to a second: all but the milliseconds is rendered once. */
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
