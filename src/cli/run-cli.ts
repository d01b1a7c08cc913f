import type { CliEnvironment } from './environment.ts';

/**
 * Runs one command line, without the names of runtime and program. Never throws.
 * @returns the exit code: 0 success, 1 usage or configuration error, 2 runtime failure; `token` has its own.
 */
export async function runCli(args: readonly string[], environment: CliEnvironment): Promise<number> {
	// The token helper runs once for every call of a shell script: it does not wait for the parser of all other commands.
	if (args[0] === 'token') {
		const { readPlainTokenArguments } = await import('./token/plain-token-arguments.ts');
		const options = readPlainTokenArguments(args.slice(1));
		if (options !== undefined) {
			const { runToken } = await import('./token/run-token.ts');
			return runToken(options, environment);
		}
	}
	const { runProgram } = await import('./program.ts');
	return runProgram(args, environment);
}
