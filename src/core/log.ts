/** Structured log. `event` is a fixed phrase; what varies goes into `fields`, never secrets or prompt text. */
export interface Log {
	debug(event: string, fields?: LogFields): void;
	info(event: string, fields?: LogFields): void;
	warn(event: string, fields?: LogFields): void;
	error(event: string, fields?: LogFields): void;
}

/** For what must leave no line, such as commands whose output is all that their user wants to see. */
export const silentLog: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

export type LogFields = Readonly<Record<string, unknown>>;
