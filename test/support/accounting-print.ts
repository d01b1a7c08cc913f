/** Seeds and figures, for whoever reads the output of the tests. */
export function print(line: string): void {
	process.stdout.write(`${line}\n`);
}
