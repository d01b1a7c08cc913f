import { setFlagsFromString } from 'node:v8';

/** Small buffers of the runtime share pieces of so much memory; its own default is 64 KiB. */
const poolBytes = 16_384;

/**
 * How the runtime uses memory. After the start, since flags cannot be said by whoever starts the program in each of its ways.
 *
 * Garbage may grow up to as much as is alive before all of it is collected. The engine would allow an eighth where a process had little to
 * do once, and so collect every two seconds at some thousand calls a second; each time its threads keep a single core from the calls
 * for up to 80 ms.
 *
 * Whoever keeps a small buffer, such as the request of a stream that lasts, keeps all that it shares its piece of the pool with.
 */
export function setMemoryUse(): void {
	setFlagsFromString('--heap-growing-percent=100');
	Buffer.poolSize = poolBytes;
}
