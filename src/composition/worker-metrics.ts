/** Collects the metrics of workers, which have no address of their own to scrape: the first process requests them. */
import cluster, { type Worker } from 'node:cluster';
import type { Clock } from '../core/clock.ts';
import type { ScrapedMetrics } from '../io/metrics.ts';
import { numberOf } from './workers.ts';

const question = 'tollgate metrics?';

interface Reply {
	readonly responses: typeof question;
	readonly text: string;
}

/** Timeout, after which a worker's metrics are left out. */
const patienceMs = 1000;

/** Responds to the first process; called in a worker. */
export function replyToWorker(metrics: ScrapedMetrics): void {
	process.on('message', (message) => {
		if (message !== question) return;
		void metrics.scrape().then(({ text }) => {
			const reply: Reply = { responses: question, text };
			if (process.connected) process.send?.(reply);
		});
	});
}

/** Requests the metrics of all workers; called in the first process. @returns texts by worker number; empty without workers. */
export async function scrapeWorkers(clock: Clock): Promise<ReadonlyMap<string, string>> {
	const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
	const texts = await Promise.all(workers.map((worker) => query(worker, clock)));
	return new Map(texts.flatMap((text, index) => (text === undefined ? [] : [[nameOf(workers[index]), text] as const])));
}

function nameOf(worker: Worker | undefined): string {
	return String(worker && numberOf(worker));
}

function query(worker: Worker, clock: Clock): Promise<string | undefined> {
	return new Promise((resolve) => {
		const settle = (text: string | undefined): void => {
			timer.cancel();
			worker.off('message', listen);
			resolve(text);
		};
		const listen = (message: unknown): void => {
			if (isWorkerReply(message)) settle(message.text);
		};
		const timer = clock.after(patienceMs, () => settle(undefined));
		worker.on('message', listen);
		// A worker that is exiting no longer receives messages.
		worker.send(question, (failure) => failure !== null && settle(undefined));
	});
}

function isWorkerReply(message: unknown): message is Reply {
	return typeof message === 'object' && message !== null && 'responses' in message && message.responses === question;
}
