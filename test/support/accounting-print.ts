/** Prints seeds and measurements to the output of the tests. */
export function print(line: string): void {
	process.stdout.write(`${line}\n`);
}
