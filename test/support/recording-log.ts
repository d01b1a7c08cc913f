import type { Log, LogFields } from '../../src/core/log.ts';

/** Log that keeps its lines in memory instead of writing them. */
export interface RecordingLog extends Log {
	readonly lines: { level: string; event: string; fields: LogFields }[];
}

export function createRecordingLog(): RecordingLog {
	const lines: RecordingLog['lines'] = [];
	const at =
		(level: string) =>
		(event: string, fields: LogFields = {}) =>
			void lines.push({ level, event, fields });
	return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
