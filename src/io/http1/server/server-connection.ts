import type { Socket } from 'node:net';
import type { Rejection } from '../../../core/rejection.ts';
import type { DeadlineSweep, Watched } from '../../deadline-sweep.ts';

/** Time for a closed connection to take its last bytes. */
const closeGraceMs = 5000;
/** Maximum time for which the rest of an unreadable request is discarded. */
const discardMs = 2000;

/** A request as its connection sees it. */
export interface ConnectionUser {
	onConnectionLost(): void;
	/** Called when the parser finds bytes that are not HTTP, in the body of this request or after it. */
	onMalformed(rejection: Rejection): void;
}

/** One client's TCP connection and its in-flight requests. */
export class ServerConnection implements Watched {
	readonly socket: Socket;
	readonly peerAddress: string;
	/** True if the current or latest response is the last: requests after it are not processed. */
	isClosing = false;
	requestCount = 0;
	/** Number of requests received after the last one that receives a response. */
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
		// The close event is sufficient. After CONNECT there is no other listener, and an unhandled error would end the process.
		socket.on('error', () => undefined);
	}

	add(exchange: ConnectionUser): void {
		this.exchanges.push(exchange);
	}

	remove(exchange: ConnectionUser): void {
		const index = this.exchanges.indexOf(exchange);
		if (index !== -1) this.exchanges.splice(index, 1);
	}

	/** Number of requests that wait for their turn to be processed, or are ignored. */
	get pipelinedCount(): number {
		return this.exchanges.length + this.ignoredCount;
	}

	/** The latest request that has not ended. */
	get latest(): ConnectionUser | undefined {
		return this.exchanges.at(-1);
	}

	/** Closes the connection once written bytes have left, and by force if the client does not take them. */
	closeSoon(nowMs: number): void {
		if (this.socket.destroyed) return;
		this.dueMs = Math.min(this.dueMs, nowMs + closeGraceMs);
		this.deadlines.watch(this);
		this.socket.destroySoon();
	}

	/**
	 * Discards what the client still sends before the connection closes, because closing earlier would reset it and lose the response. The
	 * write side has ended.
	 */
	closeAfterRest(nowMs: number): void {
		if (this.socket.destroyed) return;
		this.dueMs = Math.min(this.dueMs, nowMs + discardMs);
		this.deadlines.watch(this);
		this.socket.resume();
	}

	onDue(): void {
		this.socket.destroy();
	}

	private onClose(): void {
		this.deadlines.unwatch(this);
		for (const exchange of [...this.exchanges]) exchange.onConnectionLost();
	}
}

/** An IPv4 client of a dual-stack socket appears as `::ffff:192.0.2.1`; rules and logs use `192.0.2.1`. */
function plainAddress(address: string): string {
	return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}
