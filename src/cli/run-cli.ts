import type { CliEnvironment, CliOutput } from './environment.ts';
import type { TokenOptions } from './token/run-token.ts';

/**
 * Runs one command line, without the names of runtime and program. Never throws.
 * @returns the exit code: 0 success, 1 usage or configuration error, 2 runtime failure; `token` has its own.
 */
export async function runCli(args: readonly string[], environment: CliEnvironment): Promise<number> {
	// The token helper runs once for every call of a shell script: it does not wait for the parser of all other commands.
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
 * Reads the everyday forms of the arguments of `token`, without the parser.
 * @returns undefined for all else, which the parser then reads, explains or refuses.
 */
function readPlainTokenArguments(args: readonly string[]): TokenOptions | undefined {
	if (args.length === 0) return { mayCache: false, mustAsk: false, timeoutSeconds: 10 };
	if (args.length === 1 && args[0] === '--cache') return { mayCache: true, mustAsk: false, timeoutSeconds: 10 };
	return undefined;
}

/** A standard stream as an output. A reader that has gone (`head`, a closed pager) is not an error. */
export function outputOf(stream: NodeJS.WriteStream): CliOutput {
	// Each failure is also given to the write it belongs to; without a listener it would end the process.
	stream.on('error', () => undefined);
	return {
		isTty: stream.isTTY,
		write: (text) =>
			new Promise((resolve, reject) => {
				stream.write(text, (error) => (error && !isReaderGone(error) ? reject(error) : resolve()));
			}),
	};
}

function isReaderGone(error: Error): boolean {
	return 'code' in error && (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED');
}
