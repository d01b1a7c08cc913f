/** Passes the running configuration to a new worker. The file may have changed since, or be half written. */
import type { Worker } from 'node:cluster';
import type { LoadedConfig } from '../config/load.ts';

const question = 'tollgate configuration?';

interface Reply {
	readonly answers: typeof question;
	readonly configuration: LoadedConfig;
}

/** Requests the configuration; called in a worker. */
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

/** Responds to a worker; called in the first process. */
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
