/** Chooses one of several gateways: two are drawn, and the one with fewer open responses is taken (the power of two choices). */
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';

export interface GatewayPoolPorts {
	readonly clock: Clock;
	readonly log: Log;
	/** From 0 to below 1. */
	readonly random: () => number;
}

/** After so many requests lost in a row a gateway is left alone for a while, though it takes connections. */
const mostLost = 3;
const ejectionMs = 5000;
/** One that has come back is given its full share only after so long, and at least a tenth of it before. */
const slowStartMs = 10_000;
const smallestWeight = 0.1;

/**
 * Why a gateway is out of rotation. `unreachable`: no connection, or no response to the health check; any response ends that.
 * `unhealthy`: its response to the health check says so, and only a better one ends that.
 */
export interface Away {
	readonly kind: 'unreachable' | 'unhealthy';
	readonly reason: string;
}

export class GatewayInPool {
	/** Scheme, host and port. */
	readonly origin: string;
	inFlight = 0;
	/** Undefined while it is in rotation. */
	away: Away | undefined;
	/** How often it was put back into rotation: what was found out before the latest time says nothing of now. */
	returns = 0;
	/** Requests lost since one went well. */
	lost = 0;
	ejectedUntilMs = Number.NEGATIVE_INFINITY;
	backSinceMs = Number.NEGATIVE_INFINITY;

	constructor(origin: string) {
		this.origin = origin;
	}
}

export class GatewayPool {
	readonly gateways: readonly GatewayInPool[];
	readonly #ports: GatewayPoolPorts;

	/** @param origins such as `http://10.0.0.7:8787`. */
	constructor(origins: readonly string[], ports: GatewayPoolPorts) {
		this.gateways = [...new Set(origins)].map((origin) => new GatewayInPool(origin));
		this.#ports = ports;
	}

	/**
	 * When none is in rotation, one of the others is tried all the same.
	 * @param tried with the `returns` of each gateway when it was tried: one that has come back since may be tried again.
	 * @returns undefined when all were tried.
	 */
	choose(tried: ReadonlyMap<GatewayInPool, number>): GatewayInPool | undefined {
		const nowMs = this.#ports.clock.monotonicMs();
		const untried = this.gateways.filter((gateway) => tried.get(gateway) !== gateway.returns);
		const usable = untried.filter((gateway) => isUsable(gateway, nowMs));
		// One that is ejected takes connections; one that is shutting down may.
		if (usable.length === 0) return this.#draw(untried.filter(({ away }) => away?.kind !== 'unreachable')) ?? this.#draw(untried);
		const ready = usable.filter((gateway) => this.#ports.random() < weightOf(gateway, nowMs));
		const drawnFrom = ready.length === 0 ? usable : ready;
		const first = this.#draw(drawnFrom);
		const second = this.#draw(drawnFrom.filter((gateway) => gateway !== first));
		if (first === undefined || second === undefined) return first;
		return second.inFlight < first.inFlight ? second : first;
	}

	isAnyUsable(): boolean {
		const nowMs = this.#ports.clock.monotonicMs();
		return this.gateways.some((gateway) => isUsable(gateway, nowMs));
	}

	/** Takes a gateway out of rotation. @param returns its `returns` when the attempt began that found this out. */
	noteAway(gateway: GatewayInPool, away: Away, returns: number): void {
		if (returns !== gateway.returns) return;
		if (gateway.away === undefined) this.#ports.log.warn('gateway unhealthy', { gateway: gateway.origin, reason: away.reason });
		gateway.away = away;
	}

	/** Its response to the health check says that it is well. */
	noteBack(gateway: GatewayInPool): void {
		if (gateway.away === undefined) return;
		gateway.away = undefined;
		gateway.returns += 1;
		gateway.backSinceMs = this.#ports.clock.monotonicMs();
		this.#ports.log.info('gateway back in rotation', { gateway: gateway.origin });
	}

	/** It has begun to respond to a request. */
	noteReached(gateway: GatewayInPool): void {
		if (gateway.away?.kind === 'unreachable') this.noteBack(gateway);
	}

	/** It was lost with a request in its hands. */
	noteLost(gateway: GatewayInPool): void {
		gateway.lost += 1;
		if (gateway.lost < mostLost) return;
		gateway.lost = 0;
		gateway.ejectedUntilMs = this.#ports.clock.monotonicMs() + ejectionMs;
		gateway.backSinceMs = gateway.ejectedUntilMs;
		this.#ports.log.warn('gateway ejected', {
			gateway: gateway.origin,
			reason: `lost ${mostLost} requests in a row`,
			ejected_for_ms: ejectionMs,
		});
	}

	noteAnswered(gateway: GatewayInPool): void {
		gateway.lost = 0;
	}

	#draw(from: readonly GatewayInPool[]): GatewayInPool | undefined {
		return from[Math.floor(this.#ports.random() * from.length)];
	}
}

function isUsable({ away, ejectedUntilMs }: GatewayInPool, nowMs: number): boolean {
	return away === undefined && ejectedUntilMs <= nowMs;
}

/** In how many of its chances a gateway is drawn from; one that has come back needs some to be warm. */
function weightOf({ backSinceMs }: GatewayInPool, nowMs: number): number {
	return Math.min(1, Math.max(smallestWeight, (nowMs - backSinceMs) / slowStartMs));
}
