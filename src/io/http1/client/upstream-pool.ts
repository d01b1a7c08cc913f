/** The connections to one origin, and the calls that wait for one. */
import { type ConnectionParts, type ConnectionUser, UpstreamConnection } from './upstream-connection.ts';
import { type Connect, ConnectTimeout, type Opened } from './upstream-connector.ts';

/** A call that is given a connection, or told why there is none. */
export interface WaitingCall extends ConnectionUser {
	onNoConnection(cause: Error): void;
}

/** Where calls get their connections from. */
export interface CallPool {
	/** Gives the call a connection, now or when there is one. */
	enter(call: WaitingCall): void;
	/** As `enter`, but not on a connection that has rested. */
	enterAnew(call: WaitingCall): void;
	/** The call waits no longer, or is over. */
	leave(call: WaitingCall): void;
}

export interface PoolParts extends Omit<ConnectionParts, 'onRest' | 'onClose'> {
	readonly maxConnections: number;
	readonly connect: Connect;
}

export class UpstreamPool implements CallPool {
	readonly #parts: PoolParts;
	readonly #connectionParts: ConnectionParts;
	readonly #connections = new Set<UpstreamConnection>();
	/** The one that rested last is used first, so that the others come to their end. */
	readonly #resting: UpstreamConnection[] = [];
	readonly #waiting = new Set<WaitingCall>();
	/** What ends the attempts to connect. */
	readonly #opening = new Set<() => void>();
	/** Answered in this turn of the event loop. */
	#returning: UpstreamConnection[] = [];
	#isRetired = false;
	/** Why nothing is served any more. */
	#end: Error | undefined;

	constructor(parts: PoolParts) {
		this.#parts = parts;
		this.#connectionParts = {
			clock: parts.clock,
			deadlines: parts.deadlines,
			onRest: (connection) => this.#await(connection),
			onClose: (connection) => this.#remove(connection),
		};
	}

	/** Gives the call a connection, now or when there is one. */
	enter(call: WaitingCall): void {
		for (let connection = this.#resting.pop(); connection !== undefined; connection = this.#resting.pop()) {
			if (!connection.isUsable) continue;
			connection.send(call);
			return;
		}
		this.enterAnew(call);
	}

	/** As `enter`, but not on a connection that has rested. */
	enterAnew(call: WaitingCall): void {
		if (this.#end !== undefined) {
			call.onNoConnection(this.#end);
			return;
		}
		this.#waiting.add(call);
		this.#openIfWanted();
	}

	/** The call waits no longer. */
	leave(call: WaitingCall): void {
		this.#waiting.delete(call);
	}

	/** Lets what is there come to its end; nothing is kept after that. */
	retire(): void {
		this.#isRetired = true;
		for (const connection of this.#resting.splice(0)) connection.destroy();
	}

	/** Ends every connection; what is in flight or waits fails with the cause. */
	destroy(cause: Error): void {
		this.retire();
		this.#end = cause;
		for (const call of [...this.#waiting]) call.onNoConnection(cause);
		this.#waiting.clear();
		for (const cancel of this.#opening) cancel();
		for (const connection of this.#connections) connection.fail(cause);
	}

	#openIfWanted(): void {
		const { maxConnections, connect } = this.#parts;
		const [opening, returning] = [this.#opening, this.#returning];
		while (opening.size + returning.length < this.#waiting.size && this.#connections.size + opening.size < maxConnections) {
			const [first] = this.#waiting;
			if (first === undefined) return;
			const cancel = connect(first.request.timeouts.connectMs, (result) => {
				opening.delete(cancel);
				if (!(result instanceof Error)) this.#add(result);
				// Each call that waits has a time limit of its own.
				else if (!(result instanceof ConnectTimeout)) this.#refuseFirst(result);
				this.#openIfWanted();
			});
			opening.add(cancel);
		}
	}

	/** Until the turn ends: what came along with the answer, such as the end of the connection, is read before another call is given it. */
	#await(connection: UpstreamConnection): void {
		if (this.#returning.push(connection) > 1) return;
		setImmediate(() => {
			const returning = this.#returning;
			this.#returning = [];
			for (const one of returning) if (one.isUsable) this.#takeBack(one);
			this.#openIfWanted();
		});
	}

	#add(opened: Opened): void {
		const connection = new UpstreamConnection(opened, this.#connectionParts);
		this.#connections.add(connection);
		this.#takeBack(connection);
	}

	/** For each call that waits a connection is tried once at least: whoever waits longest hears that it failed. */
	#refuseFirst(cause: Error): void {
		const [first] = this.#waiting;
		if (first === undefined) return;
		this.#waiting.delete(first);
		first.onNoConnection(cause);
	}

	#takeBack(connection: UpstreamConnection): void {
		const [first] = this.#waiting;
		if (first !== undefined) {
			this.#waiting.delete(first);
			connection.send(first);
		} else if (this.#isRetired) connection.destroy();
		else this.#resting.push(connection);
	}

	#remove(connection: UpstreamConnection): void {
		this.#connections.delete(connection);
		const index = this.#resting.indexOf(connection);
		if (index !== -1) this.#resting.splice(index, 1);
		this.#openIfWanted();
	}
}
