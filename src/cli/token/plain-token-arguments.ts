import type { TokenOptions } from './run-token.ts';

/**
 * Reads the everyday forms of the arguments of `token`, without the parser.
 * @returns undefined for all else, which the parser then reads, explains or refuses.
 */
export function readPlainTokenArguments(args: readonly string[]): TokenOptions | undefined {
	if (args.length === 0) return { mayCache: false, mustAsk: false, timeoutSeconds: 10 };
	if (args.length === 1 && args[0] === '--cache') return { mayCache: true, mustAsk: false, timeoutSeconds: 10 };
	return undefined;
}
