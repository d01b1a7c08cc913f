/** Connections to one origin, and the requests that wait for one. */
import { type ConnectionDeps, type ConnectionUser, UpstreamConnection } from './upstream-connection.ts';
import { type Connect, ConnectTimeout, type Opened } from './upstream-connector.ts';

/** A request that receives a connection or the cause of its absence. */
export interface WaitingExchange extends ConnectionUser {
	onNoConnection(cause: Error): void;
}

/** Source of connections for requests. */
export interface ExchangePool {
	/** Assigns a connection to the request, now or when one is available. */
	enter(exchange: WaitingExchange): void;
	/** Like `enter`, but never assigns a connection that has been idle. */
	reenter(exchange: WaitingExchange): void;
	/** The request no longer waits, or has ended. */
	leave(exchange: WaitingExchange): void;
}

export interface PoolDeps extends Omit<ConnectionDeps, 'onRest' | 'onClose'> {
	readonly maxConnections: number;
	readonly connect: Connect;
}

export class UpstreamPool implements ExchangePool {
	readonly #deps: PoolDeps;
	readonly #connectionParts: ConnectionDeps;
	readonly #connections = new Set<UpstreamConnection>();
	/** The most recently used connection is reused first, so that the others expire. */
	readonly #resting: UpstreamConnection[] = [];
	readonly #waiting = new Set<WaitingExchange>();
	/** Functions that end the connection attempts. */
	readonly #opening = new Set<() => void>();
	/** Connections whose response completed in this tick of the event loop. */
	#returning: UpstreamConnection[] = [];
	#isRetired = false;
	/** Cause of the pool's end; set once it serves no more requests. */
	#end: Error | undefined;

	constructor(deps: PoolDeps) {
		this.#deps = deps;
		this.#connectionParts = {
			clock: deps.clock,
			deadlines: deps.deadlines,
			onRest: (connection) => this.#await(connection),
			onClose: (connection) => this.#remove(connection),
		};
	}

	enter(exchange: WaitingExchange): void {
		for (let connection = this.#resting.pop(); connection !== undefined; connection = this.#resting.pop()) {
			if (!connection.isUsable) continue;
			connection.send(exchange);
			return;
		}
		this.reenter(exchange);
	}

	reenter(exchange: WaitingExchange): void {
		if (this.#end !== undefined) {
			exchange.onNoConnection(this.#end);
			return;
		}
		this.#waiting.add(exchange);
		this.#openIfWanted();
	}

	leave(exchange: WaitingExchange): void {
		this.#waiting.delete(exchange);
	}

	/** Lets in-flight requests finish; no connection stays idle after that. */
	retire(): void {
		this.#isRetired = true;
		for (const connection of this.#resting.splice(0)) connection.destroy();
	}

	/** Closes every connection; in-flight and waiting requests fail with the cause. */
	destroy(cause: Error): void {
		this.retire();
		this.#end = cause;
		for (const exchange of [...this.#waiting]) exchange.onNoConnection(cause);
		this.#waiting.clear();
		for (const cancel of this.#opening) cancel();
		for (const connection of this.#connections) connection.fail(cause);
	}

	#openIfWanted(): void {
		const { maxConnections, connect } = this.#deps;
		const [opening, returning] = [this.#opening, this.#returning];
		while (opening.size + returning.length < this.#waiting.size && this.#connections.size + opening.size < maxConnections) {
			const [first] = this.#waiting;
			if (first === undefined) return;
			const cancel = connect(first.request.timeouts.connectMs, (result) => {
				opening.delete(cancel);
				if (!(result instanceof Error)) this.#add(result);
				// Each waiting request has its own time limit.
				else if (!(result instanceof ConnectTimeout)) this.#rejectFirst(result);
				this.#openIfWanted();
			});
			opening.add(cancel);
		}
	}

	/**
	 * Waits for the end of the tick: whatever arrived with the response, such as the end of the connection, is read before the next request
	 * uses it.
	 */
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

	/** At least one connection is attempted per waiting request; a failure is reported to the one that has waited longest. */
	#rejectFirst(cause: Error): void {
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
