/** Asks each gateway now and then whether it is there. */
import { readWhole } from '../../core/byte-stream.ts';
import type { Clock, Timer } from '../../core/clock.ts';
import { Fault, type FaultCode } from '../../core/fault.ts';
import { Refusal } from '../../core/refusal.ts';
import type { Upstream } from '../../core/upstream.ts';
import { saysLeaving } from '../../wire/health.ts';
import type { GatewayInPool, GatewayPool } from './gateway-pool.ts';

export interface HealthCheckSettings {
	readonly intervalMs: number;
	/** For one answer, connection included. */
	readonly timeoutMs: number;
}

const mostBytes = 65_536;
/** A busy gateway may be late once; one that was never there is not there. */
const mostMissed = 2;

export class GatewayHealth {
	readonly #pool: GatewayPool;
	readonly #settings: HealthCheckSettings;
	readonly #ports: { readonly upstream: Upstream; readonly clock: Clock };
	/** In a row, of those that have answered once. */
	readonly #missed = new Map<GatewayInPool, number>();
	#timer: Timer | undefined;
	#isStopped = false;

	constructor(pool: GatewayPool, settings: HealthCheckSettings, ports: { readonly upstream: Upstream; readonly clock: Clock }) {
		this.#pool = pool;
		this.#settings = settings;
		this.#ports = ports;
	}

	/** Resolves when each was asked once; goes on until `stop`. */
	async start(): Promise<void> {
		await Promise.all(this.#pool.gateways.map((gateway) => this.#ask(gateway)));
		if (this.#isStopped) return;
		this.#timer = this.#ports.clock.after(this.#settings.intervalMs, () => void this.start());
	}

	stop(): void {
		this.#isStopped = true;
		this.#timer?.cancel();
	}

	async #ask(gateway: GatewayInPool): Promise<void> {
		const { timeoutMs } = this.#settings;
		const { returns } = gateway;
		const noteUnhealthy = (reason: string): void => this.#pool.noteAway(gateway, { kind: 'unhealthy', reason }, returns);
		try {
			const { status, body } = await this.#ports.upstream({
				origin: gateway.origin,
				method: 'GET',
				target: '/',
				headers: {},
				body: null,
				timeouts: { connectMs: timeoutMs, firstByteMs: timeoutMs, idleMs: timeoutMs, totalMs: timeoutMs },
				mayReachPrivateNetwork: true,
				isExpectedToFail: true,
				onClientGone: () => undefined,
			});
			const text = (await readWhole(body, mostBytes)).toString();
			this.#missed.set(gateway, 0);
			if (status !== 200) noteUnhealthy(`GET / returned ${status}`);
			else if (saysLeaving(text)) noteUnhealthy('it is shutting down');
			else this.#pool.noteBack(gateway);
		} catch (cause) {
			this.#miss(gateway, reasonOf(cause), returns);
		}
	}

	#miss(gateway: GatewayInPool, reason: string, returns: number): void {
		const missed = (this.#missed.get(gateway) ?? mostMissed - 1) + 1;
		this.#missed.set(gateway, missed);
		if (missed >= mostMissed) this.#pool.noteAway(gateway, { kind: 'unreachable', reason }, returns);
	}
}

/** The upstream client speaks of providers; what it found below says more. */
export function reasonOf(cause: unknown): string {
	let innermost = cause;
	while (innermost instanceof Error && innermost.cause !== undefined) innermost = innermost.cause;
	const isEndless = innermost instanceof Refusal && innermost.code === 'body_too_large';
	if (isEndless) return `GET / returned more than ${mostBytes} bytes: not a Tollgate gateway`;
	if (innermost instanceof Fault) return reasons.get(innermost.code) ?? 'it does not respond';
	return innermost instanceof Error ? innermost.message : String(innermost);
}

const reasons: ReadonlyMap<FaultCode, string> = new Map([
	['provider_unreachable', 'connection failed'],
	['provider_connect_timeout', 'connection timed out'],
	['provider_first_byte_timeout', 'health check timed out'],
	['provider_disconnected', 'it closed the connection'],
]);
