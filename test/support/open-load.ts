/** Open-loop load: requests at a rate that does not depend on responses, as from many independent clients. */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface TimedResponse {
	readonly sentMs: number;
	readonly status: number;
	readonly durationMs: number;
}

export interface OpenLoad {
	readonly port: number;
	/** Bytes of one complete request. */
	readonly bytes: string;
	readonly perSecond: number;
	readonly seconds: number;
}

/** Maximum of concurrent connections. A request without a free one is dropped, and counted with status 0. */
const maxConnections = 4000;

const stepMs = 5;

/** @returns one entry for each request that was due. */
export async function loadSteadily({ port, bytes, perSecond, seconds }: OpenLoad): Promise<TimedResponse[]> {
	const responses: TimedResponse[] = [];
	const idle: Connection[] = [];
	const all = new Set<Connection>();
	const startMs = performance.now();
	let due = 0;
	const send = (): void => {
		const sentMs = performance.now() - startMs;
		const one = idle.pop() ?? (all.size < maxConnections ? new Connection(port) : undefined);
		if (one === undefined) {
			responses.push({ sentMs, status: 0, durationMs: 0 });
			return;
		}
		all.add(one);
		one.exchange(bytes, (status, canContinue) => {
			responses.push({ sentMs, status, durationMs: performance.now() - startMs - sentMs });
			if (canContinue) idle.push(one);
			else all.delete(one);
		});
	};
	for (;;) {
		const nowMs = performance.now() - startMs;
		if (nowMs >= seconds * 1000) break;
		for (const until = (nowMs / 1000) * perSecond; due < until; due++) send();
		await sleep(stepMs);
	}
	const lastMs = performance.now() + 10_000;
	while (responses.length < due && performance.now() < lastMs) await sleep(20);
	for (const one of all) one.socket.destroy();
	return responses;
}

/** HTTP/1.1 client, as far as Tollgate's responses require it. */
class Connection {
	readonly socket: Socket;
	private received = '';
	private tell: ((status: number, canContinue: boolean) => void) | undefined;

	constructor(port: number) {
		this.socket = connect({ port, host: '127.0.0.1', noDelay: true });
		this.socket.setEncoding('latin1').on('data', (text: string) => this.onText(text));
		this.socket.on('error', () => undefined);
		this.socket.on('close', () => this.finish(0, false));
	}

	exchange(bytes: string, tell: (status: number, canContinue: boolean) => void): void {
		this.received = '';
		this.tell = tell;
		this.socket.write(bytes);
	}

	private onText(text: string): void {
		this.received += text;
		const headEnd = this.received.indexOf('\r\n\r\n');
		if (headEnd === -1) return;
		const head = this.received.slice(0, headEnd);
		const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
		if (this.received.length < headEnd + 4 + length) return;
		const isLast = /^connection: close$/im.test(head);
		if (isLast) this.socket.end();
		this.finish(Number(head.slice(9, 12)), !isLast);
	}

	private finish(status: number, canContinue: boolean): void {
		const { tell } = this;
		this.tell = undefined;
		tell?.(status, canContinue);
	}
}

export function p99Ms(responses: readonly TimedResponse[]): number {
	const sorted = responses.map(({ durationMs }) => durationMs).toSorted((left, right) => left - right);
	return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
}
