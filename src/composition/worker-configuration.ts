/** Passes the running configuration to a new worker. The file may have changed since, or be half written. */
import type { Worker } from 'node:cluster';
import type { LoadedConfig } from '../config/load.ts';

const question = 'tollgate configuration?';

interface Reply {
	readonly responses: typeof question;
	readonly configuration: LoadedConfig;
}

/** Requests the configuration; called in a worker. */
export function requestConfiguration(): Promise<LoadedConfig> {
	return new Promise((resolve) => {
		const listen = (message: unknown): void => {
			if (!isWorkerReply(message)) return;
			process.off('message', listen);
			resolve(message.configuration);
		};
		process.on('message', listen);
		process.send?.(question);
	});
}

/** Responds to a worker; called in the first process. */
export function replyToWorker(worker: Worker, configuration: () => LoadedConfig): void {
	worker.on('message', (message: unknown) => {
		if (message !== question) return;
		const reply: Reply = { responses: question, configuration: configuration() };
		worker.send(reply);
	});
}

function isWorkerReply(message: unknown): message is Reply {
	return typeof message === 'object' && message !== null && 'responses' in message && message.responses === question;
}
