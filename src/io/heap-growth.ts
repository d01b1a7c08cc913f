import { setFlagsFromString } from 'node:v8';

/**
 * Lets garbage grow up to as much as is alive before all of it is collected. The engine would allow an eighth where a process had little to
 * do once, and so collect every two seconds at some thousand calls a second; each time its threads keep a single core from the calls
 * for up to 80 ms. After the start, since the flag cannot be said by whoever starts the program in each of its ways.
 */
export function letHeapGrow(): void {
	setFlagsFromString('--heap-growing-percent=100');
}
