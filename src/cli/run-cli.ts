import type { CliEnvironment, CliOutput } from './environment.ts';
import type { TokenOptions } from './token/run-token.ts';

/**
 * Runs one command line, given without the names of runtime and program. Never throws.
 * @returns the exit code: 0 success, 1 usage or configuration error, 2 runtime failure; `token` has its own.
 */
export async function runCli(args: readonly string[], environment: CliEnvironment): Promise<number> {
	// Skips loading the parser of all other commands, because scripts run the token helper before every request.
	if (args[0] === 'token') {
		const options = readPlainTokenArguments(args.slice(1));
		if (options !== undefined) {
			const { runToken } = await import('./token/run-token.ts');
			return runToken(options, environment);
		}
	}
	const { runProgram } = await import('./program.ts');
	return runProgram(args, environment);
}

/**
 * Reads the common forms of the arguments of `token` without the parser.
 * @returns undefined for all other forms, which the parser then reads, explains or rejects.
 */
function readPlainTokenArguments(args: readonly string[]): TokenOptions | undefined {
	if (args.length === 0) return { canCache: false, shouldRefresh: false, timeoutSeconds: 10 };
	if (args.length === 1 && args[0] === '--cache') return { canCache: true, shouldRefresh: false, timeoutSeconds: 10 };
	return undefined;
}

/** Wraps a standard stream as an output. A closed reader (`head`, a closed pager) is not an error. */
export function outputOf(stream: NodeJS.WriteStream): CliOutput {
	// Each failure is also passed to the write that it belongs to; without a listener it would end the process.
	stream.on('error', () => undefined);
	return {
		isTty: stream.isTTY,
		write: (text) =>
			new Promise((resolve, reject) => {
				stream.write(text, (error) => (error && !isReaderClosed(error) ? reject(error) : resolve()));
			}),
	};
}

function isReaderClosed(error: Error): boolean {
	return 'code' in error && (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED');
}
