import type { Log } from '../core/log.ts';

/** For commands, whose output is all that their user wants to see. */
export const silentLog: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
