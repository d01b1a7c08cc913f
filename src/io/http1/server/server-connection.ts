import type { Socket } from 'node:net';
import type { Refusal } from '../../../core/refusal.ts';
import type { DeadlineSweep, Watched } from '../../deadline-sweep.ts';

/** How long an ended connection may take to take its last bytes. */
const closeGraceMs = 5000;

/** A request on a connection, as far as the connection is concerned. */
export interface ConnectionUser {
	onConnectionLost(): void;
	/** The parser found bytes that are not HTTP, in the body of this request or after it. */
	onMalformed(refusal: Refusal): void;
}

/** One client's TCP connection and the requests on it that are not over. */
export class ServerConnection implements Watched {
	readonly socket: Socket;
	readonly peerAddress: string;
	/** The answer that is being made, or has been, is the last: nothing that comes after its request is served. */
	isClosing = false;
	requestCount = 0;
	/** Requests that came after the last one that is answered. */
	ignoredCount = 0;
	dueMs = Number.POSITIVE_INFINITY;
	listIndex = -1;
	private readonly exchanges: ConnectionUser[] = [];
	private readonly deadlines: DeadlineSweep;

	constructor(socket: Socket, deadlines: DeadlineSweep) {
		this.socket = socket;
		this.peerAddress = plainAddress(socket.remoteAddress ?? '');
		this.deadlines = deadlines;
		socket.once('close', () => this.onClose());
		// The end of a connection says all there is to say; after CONNECT nobody else listens, and an error would end the process.
		socket.on('error', () => undefined);
	}

	add(exchange: ConnectionUser): void {
		this.exchanges.push(exchange);
	}

	remove(exchange: ConnectionUser): void {
		const index = this.exchanges.indexOf(exchange);
		if (index !== -1) this.exchanges.splice(index, 1);
	}

	/** Requests that wait for their turn to be answered, or never will be. */
	get pipelinedCount(): number {
		return this.exchanges.length + this.ignoredCount;
	}

	/** The request that was received last and is not over. */
	get latest(): ConnectionUser | undefined {
		return this.exchanges.at(-1);
	}

	/** Ends the connection once what was written has left, and by force when the client does not take it. */
	closeSoon(nowMs: number): void {
		if (this.socket.destroyed) return;
		this.dueMs = Math.min(this.dueMs, nowMs + closeGraceMs);
		this.deadlines.watch(this);
		this.socket.destroySoon();
	}

	onDue(): void {
		this.socket.destroy();
	}

	private onClose(): void {
		this.deadlines.unwatch(this);
		for (const exchange of [...this.exchanges]) exchange.onConnectionLost();
	}
}

/** An IPv4 client of a dual-stack socket appears as `::ffff:192.0.2.1`; everyone else calls it `192.0.2.1`. */
function plainAddress(address: string): string {
	return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}
