/** SIGHUP has two meanings: a terminal was closed, or an operator asks for a reload. */
import { isatty } from 'node:tty';
import { isWorker } from './workers.ts';

const standardInput = 0;
const standardOutput = 1;

/**
 * Whether SIGHUP stops this process as SIGTERM does, instead of having the configuration read again. To be asked at the start: a
 * terminal that was closed is none any more. Workers are stopped by their first process.
 * @param isTrial a process that is started by hand and has no configuration file to read again.
 */
export function stopsOnHangUp(isTrial: boolean): boolean {
	return !isWorker && (isTrial || isatty(standardInput) || isatty(standardOutput));
}
