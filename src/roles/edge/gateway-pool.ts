/** Which of several gateways is asked: two are drawn, and the one with less to do is taken (the power of two choices). */
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

export class GatewayInPool {
	/** Scheme, host and port. */
	readonly origin: string;
	inFlight = 0;
	/** Why it is passed over; undefined while it takes its share. */
	awayBecause: string | undefined;
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

	/** @returns undefined when no gateway is left that is not among those `tried`. When all are away, one of them is tried all the same. */
	choose(tried: ReadonlySet<GatewayInPool>): GatewayInPool | undefined {
		const nowMs = this.#ports.clock.monotonicMs();
		const usable = this.gateways.filter((gateway) => !tried.has(gateway) && isUsable(gateway, nowMs));
		if (usable.length === 0) return tried.size === 0 ? this.#draw(this.gateways) : undefined;
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

	/** It cannot be connected to, or says that it is leaving: passed over until `noteBack`. */
	noteAway(gateway: GatewayInPool, reason: string): void {
		if (gateway.awayBecause === undefined) this.#ports.log.warn('a gateway is away', { gateway: gateway.origin, reason });
		gateway.awayBecause = reason;
	}

	noteBack(gateway: GatewayInPool): void {
		if (gateway.awayBecause === undefined) return;
		gateway.awayBecause = undefined;
		gateway.backSinceMs = this.#ports.clock.monotonicMs();
		this.#ports.log.info('a gateway is back', { gateway: gateway.origin });
	}

	/** It was lost with a request in its hands. */
	noteLost(gateway: GatewayInPool): void {
		gateway.lost += 1;
		if (gateway.lost < mostLost) return;
		gateway.lost = 0;
		gateway.ejectedUntilMs = this.#ports.clock.monotonicMs() + ejectionMs;
		gateway.backSinceMs = gateway.ejectedUntilMs;
		this.#ports.log.warn('a gateway is left alone', {
			gateway: gateway.origin,
			reason: `lost ${mostLost} requests in a row`,
			for_ms: ejectionMs,
		});
	}

	noteAnswered(gateway: GatewayInPool): void {
		gateway.lost = 0;
	}

	#draw(from: readonly GatewayInPool[]): GatewayInPool | undefined {
		return from[Math.floor(this.#ports.random() * from.length)];
	}
}

function isUsable({ awayBecause, ejectedUntilMs }: GatewayInPool, nowMs: number): boolean {
	return awayBecause === undefined && ejectedUntilMs <= nowMs;
}

/** In how many of its chances a gateway is drawn from; one that has come back needs some to be warm. */
function weightOf({ backSinceMs }: GatewayInPool, nowMs: number): number {
	return Math.min(1, Math.max(smallestWeight, (nowMs - backSinceMs) / slowStartMs));
}
