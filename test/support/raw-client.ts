/** TCP client that sends exactly these bytes and records exactly the received bytes. */
import { connect, type Socket } from 'node:net';
import { until } from './until.ts';

export class RawClient {
	readonly socket: Socket;
	receivedBytes = 0;
	#pieces: Buffer[] = [];
	isEnded = false;
	isClosed = false;

	constructor(port: number, localAddress = '127.0.0.1') {
		this.socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true });
		this.socket.on('data', (chunk: Buffer) => {
			this.#pieces.push(chunk);
			this.receivedBytes += chunk.length;
		});
		this.socket.on('end', () => {
			this.isEnded = true;
			this.socket.end();
		});
		this.socket.on('error', () => undefined);
		this.socket.on('close', () => {
			this.isClosed = true;
		});
	}

	/** Sends text with one byte per character. */
	send(bytes: string | Buffer): this {
		this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
		return this;
	}

	get text(): string {
		const whole = Buffer.concat(this.#pieces);
		this.#pieces = [whole];
		return whole.toString('latin1');
	}

	/** Status codes of the responses, in order; interim ones included. */
	get statuses(): number[] {
		return [...this.text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
	}

	async untilReceived(part: string): Promise<this> {
		await until(() => this.text.includes(part), `"${part}" in "${this.text.slice(0, 300)}"`);
		return this;
	}

	async untilClosed(): Promise<this> {
		await until(() => this.isClosed, `the end of the connection after "${this.text.slice(0, 300)}"`);
		return this;
	}

	destroy(): void {
		this.socket.destroy();
	}
}
