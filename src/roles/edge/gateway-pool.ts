/** Load balancing over gateways: draws two and takes the one with fewer open responses (the power of two choices). */
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';

export interface GatewayPoolPorts {
	readonly clock: Clock;
	readonly log: Log;
	/** Returns a number from 0 to below 1. */
	readonly random: () => number;
}

/** Lost requests in a row after which a gateway is ejected for a while, even if it accepts connections. */
const maxLost = 3;
const ejectionMs = 5000;
/** Time after which a gateway that came back gets its full share; before, it gets at least a tenth. */
const slowStartMs = 10_000;
const minWeight = 0.1;

/**
 * Reason why a gateway is out of rotation. `unreachable`: no connection, or no response to the health check; any response ends it.
 * `unhealthy`: reported by its health check response; only a healthy response ends it.
 */
export interface Outage {
	readonly kind: 'unreachable' | 'unhealthy';
	readonly reason: string;
}

export class GatewayInPool {
	/** Scheme, host and port. */
	readonly origin: string;
	inFlight = 0;
	/** Undefined while the gateway is in rotation. */
	outage: Outage | undefined;
	/** Number of returns to rotation. Findings of an attempt that began before the latest return are outdated. */
	returns = 0;
	/** Requests lost since the last successful one. */
	lost = 0;
	ejectedUntilMs = Number.NEGATIVE_INFINITY;
	upSinceMs = Number.NEGATIVE_INFINITY;

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
	 * Chooses a gateway. If none is in rotation, still tries one of the others.
	 * @param tried the value of `returns` of each gateway when it was tried; one that has come back since can be tried again.
	 * @returns undefined if all were tried.
	 */
	choose(tried: ReadonlyMap<GatewayInPool, number>): GatewayInPool | undefined {
		const nowMs = this.#ports.clock.monotonicMs();
		const untried = this.gateways.filter((gateway) => tried.get(gateway) !== gateway.returns);
		const usable = untried.filter((gateway) => isUsable(gateway, nowMs));
		// An ejected gateway accepts connections; one that is shutting down may accept them.
		if (usable.length === 0) return this.#draw(untried.filter(({ outage }) => outage?.kind !== 'unreachable')) ?? this.#draw(untried);
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

	/** Takes a gateway out of rotation. @param returns its `returns` at the start of the attempt that failed. */
	markDown(gateway: GatewayInPool, outage: Outage, returns: number): void {
		if (returns !== gateway.returns) return;
		if (gateway.outage === undefined) this.#ports.log.warn('gateway unhealthy', { gateway: gateway.origin, reason: outage.reason });
		gateway.outage = outage;
	}

	/** Puts the gateway back into rotation, after a healthy response to the health check. */
	markUp(gateway: GatewayInPool): void {
		if (gateway.outage === undefined) return;
		gateway.outage = undefined;
		gateway.returns += 1;
		gateway.upSinceMs = this.#ports.clock.monotonicMs();
		this.#ports.log.info('gateway back in rotation', { gateway: gateway.origin });
	}

	/** Ends `unreachable` when the gateway begins to respond to a request. */
	noteReached(gateway: GatewayInPool): void {
		if (gateway.outage?.kind === 'unreachable') this.markUp(gateway);
	}

	/** Counts a request that was lost after the gateway received it. */
	countLost(gateway: GatewayInPool): void {
		gateway.lost += 1;
		if (gateway.lost < maxLost) return;
		gateway.lost = 0;
		gateway.ejectedUntilMs = this.#ports.clock.monotonicMs() + ejectionMs;
		gateway.upSinceMs = gateway.ejectedUntilMs;
		this.#ports.log.warn('gateway ejected', {
			gateway: gateway.origin,
			reason: `lost ${maxLost} requests in a row`,
			ejected_for_ms: ejectionMs,
		});
	}

	noteResponse(gateway: GatewayInPool): void {
		gateway.lost = 0;
	}

	#draw(from: readonly GatewayInPool[]): GatewayInPool | undefined {
		return from[Math.floor(this.#ports.random() * from.length)];
	}
}

function isUsable({ outage, ejectedUntilMs }: GatewayInPool, nowMs: number): boolean {
	return outage === undefined && ejectedUntilMs <= nowMs;
}

/**
 * Returns the share of draws in which a gateway takes part. It grows with the time since the gateway came back, so that caches can warm up.
 */
function weightOf({ upSinceMs }: GatewayInPool, nowMs: number): number {
	return Math.min(1, Math.max(minWeight, (nowMs - upSinceMs) / slowStartMs));
}
