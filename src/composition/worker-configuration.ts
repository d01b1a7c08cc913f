/** A worker begins with what the others are at work with, not with what the file says by now, which may be half a sentence. */
import type { Worker } from 'node:cluster';
import type { LoadedConfig } from '../config/load.ts';

const question = 'tollgate configuration?';

interface Reply {
	readonly answers: typeof question;
	readonly configuration: LoadedConfig;
}

/** In a worker. */
export function askForConfiguration(): Promise<LoadedConfig> {
	return new Promise((resolve) => {
		const listen = (message: unknown): void => {
			if (!isReply(message)) return;
			process.off('message', listen);
			resolve(message.configuration);
		};
		process.on('message', listen);
		process.send?.(question);
	});
}

/** In the first process. */
export function answerWorker(worker: Worker, configuration: () => LoadedConfig): void {
	worker.on('message', (message: unknown) => {
		if (message !== question) return;
		const reply: Reply = { answers: question, configuration: configuration() };
		worker.send(reply);
	});
}

function isReply(message: unknown): message is Reply {
	return typeof message === 'object' && message !== null && 'answers' in message && message.answers === question;
}
