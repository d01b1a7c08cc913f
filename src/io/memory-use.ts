import { availableParallelism } from 'node:os';
import { setFlagsFromString } from 'node:v8';

/** Small buffers of the runtime share pieces of so much memory; its own default is 64 KiB. */
const poolBytes = 16_384;

/** Of what is alive, so much garbage may there be before all of it is collected: what the engine allows a busy process at most is 300. */
const garbagePercent = 250;

/**
 * How the runtime uses memory. After the start, since flags cannot be said by whoever starts the program in each of its ways.
 *
 * The engine would allow garbage of an eighth where a process had little to do once, less the bodies that are read meanwhile, and so
 * collect every two seconds at some thousand calls a second; each time its threads keep a single core from the calls for up to 80 ms.
 *
 * What outlived collections in a burst it would allocate among what is old from then on. There it keeps all that it refers to, whole
 * calls, and each collection of what is young copies every call since the one before.
 *
 * A collection of what is young is shared among threads; where they have a single core, it only waits for each of them to get it.
 *
 * Whoever keeps a small buffer, such as the request of a stream that lasts, keeps all that it shares its piece of the pool with.
 */
export function setMemoryUse(): void {
	setFlagsFromString(`--heap-growing-percent=${garbagePercent}`);
	setFlagsFromString('--no-allocation-site-pretenuring');
	if (availableParallelism() === 1) setFlagsFromString('--no-parallel-scavenge');
	Buffer.poolSize = poolBytes;
}
