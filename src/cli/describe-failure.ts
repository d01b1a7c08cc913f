import { ConfigError } from '../config/problem.ts';
import { Refusal } from '../core/refusal.ts';
import { CommandFailure } from './command-failure.ts';

/** What a command's error means to the user. A defect shows its stack: that is what a bug report needs. */
export function describeFailure(error: unknown): { exitCode: number; message: string } {
	if (error instanceof CommandFailure) return { exitCode: error.exitCode, message: error.message };
	if (error instanceof Refusal) return { exitCode: 1, message: error.message };
	if (error instanceof ConfigError) return { exitCode: 1, message: `the configuration is invalid:\n${error.message}` };
	if (!(error instanceof Error)) return { exitCode: 2, message: String(error) };
	return { exitCode: 2, message: isDefect(error) ? (error.stack ?? error.message) : error.message };
}

/** An error of a class of its own, or of the system, has a message that was written to be read. */
function isDefect(error: Error): boolean {
	return !('code' in error) && [Error, TypeError, RangeError, ReferenceError, SyntaxError].some((kind) => error.constructor === kind);
}
