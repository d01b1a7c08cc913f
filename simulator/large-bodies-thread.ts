/** Worker thread of `large-bodies.ts`. */
import { parentPort } from 'node:worker_threads';
import { type ReadRequest, readRequest, type SentTarget } from './read-request.ts';
import { wireNamed } from './routes.ts';
import type { WireName } from './wires/wire.ts';

export interface BodyQuestion {
	readonly number: number;
	readonly wire: WireName;
	readonly target: SentTarget;
	readonly bytes: Uint8Array;
}

export type BodyResponse = readonly [number: number, read: ReadRequest];

parentPort?.on('message', ({ number, wire, target, bytes }: BodyQuestion) => {
	const read = readRequest(bytes, wireNamed(wire), { ...target, query: new URLSearchParams(target.query) });
	parentPort?.postMessage([number, read] satisfies BodyResponse, []);
});
