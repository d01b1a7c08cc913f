/** Structured log. `event` is a fixed phrase; variable values go into `fields`, never secrets or prompt text. */
export interface Log {
	debug(event: string, fields?: LogFields): void;
	info(event: string, fields?: LogFields): void;
	warn(event: string, fields?: LogFields): void;
	error(event: string, fields?: LogFields): void;
}

/** Discards all entries, for commands that print only their result. */
export const silentLog: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

export type LogFields = Readonly<Record<string, unknown>>;
