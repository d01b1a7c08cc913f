import { ConfigError } from '../config/problem.ts';
import { Rejection } from '../core/rejection.ts';
import { CommandFailure } from './command-failure.ts';

/** Exit code and message of a command's error. An internal error shows its stack, which a bug report needs. */
export function describeFailure(error: unknown): { exitCode: number; message: string } {
	if (error instanceof CommandFailure) return { exitCode: error.exitCode, message: error.message };
	if (error instanceof Rejection) return { exitCode: 1, message: error.message };
	if (error instanceof ConfigError) return { exitCode: 1, message: `the configuration is invalid:\n${error.message}` };
	if (!(error instanceof Error)) return { exitCode: 2, message: String(error) };
	return { exitCode: 2, message: isInternalError(error) ? (error.stack ?? error.message) : error.message };
}

/** Errors of a custom class or of the system have a message that was written for the user. */
function isInternalError(error: Error): boolean {
	return !('code' in error) && [Error, TypeError, RangeError, ReferenceError, SyntaxError].some((kind) => error.constructor === kind);
}
