import { availableParallelism } from 'node:os';
import { setFlagsFromString } from 'node:v8';

/** Size of the runtime's pool for small buffers; its default is 64 KiB. */
const poolBytes = 16_384;

/** Garbage in percent of live memory before a full collection. V8 allows a busy process at most 300. */
const garbagePercent = 250;

/**
 * Tunes V8 and the buffer pool. Applied after the start, because not every way of starting the program can pass flags.
 *
 * `--heap-growing-percent`: after a quiet period, V8 would allow garbage of an eighth, less the bodies that are read meanwhile. At some
 * thousand requests a second it would then collect every two seconds, and its threads would take a single core for up to 80 ms.
 *
 * `--no-allocation-site-pretenuring`: V8 would allocate objects that survived a burst in the old generation from then on. There they retain
 * whole requests, and each young-generation collection copies every request since the previous one.
 *
 * `--no-parallel-scavenge`: a young-generation collection is shared among threads; on a single core, it only waits for each of them.
 *
 * `Buffer.poolSize`: a retained small buffer, such as the request of a long stream, retains its whole piece of the pool.
 */
export function setMemoryUse(): void {
	setFlagsFromString(`--heap-growing-percent=${garbagePercent}`);
	setFlagsFromString('--no-allocation-site-pretenuring');
	if (availableParallelism() === 1) setFlagsFromString('--no-parallel-scavenge');
	Buffer.poolSize = poolBytes;
}
