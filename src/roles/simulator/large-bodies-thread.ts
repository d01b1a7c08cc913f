/** The thread of `large-bodies.ts`. */
import { parentPort } from 'node:worker_threads';
import type { BodyAnswer, BodyQuestion } from './large-bodies.ts';
import { readRequest } from './read-request.ts';
import { wireNamed } from './routes.ts';

parentPort?.on('message', ({ number, wire, target, bytes }: BodyQuestion) => {
	const read = readRequest(bytes, wireNamed(wire), { ...target, query: new URLSearchParams(target.query) });
	parentPort?.postMessage([number, read] satisfies BodyAnswer, []);
});
