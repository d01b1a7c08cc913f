/** Structured log. `event` is a fixed phrase; what varies goes into `fields`, never secrets or prompt text. */
export interface Log {
	debug(event: string, fields?: LogFields): void;
	info(event: string, fields?: LogFields): void;
	warn(event: string, fields?: LogFields): void;
	error(event: string, fields?: LogFields): void;
}

export type LogFields = Readonly<Record<string, unknown>>;
