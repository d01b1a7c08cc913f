/** Health checks of the gateways, at intervals. */
import { readAll } from '../../core/byte-stream.ts';
import type { Clock, Timer } from '../../core/clock.ts';
import { Rejection } from '../../core/rejection.ts';
import type { Upstream } from '../../core/upstream.ts';
import { UpstreamError, type UpstreamErrorCode } from '../../core/upstream-error.ts';
import { isDrainingResponse } from '../../wire/health.ts';
import type { GatewayInPool, GatewayPool } from './gateway-pool.ts';

export interface HealthCheckSettings {
	readonly intervalMs: number;
	/** Timeout of one health check, connection included. */
	readonly timeoutMs: number;
}

const maxBytes = 65_536;
/** Number of missed health checks in a row that marks a gateway unreachable; one is enough if it has never responded. */
const maxMissed = 2;

export class GatewayHealth {
	readonly #pool: GatewayPool;
	readonly #settings: HealthCheckSettings;
	readonly #ports: { readonly upstream: Upstream; readonly clock: Clock };
	/** Missed health checks in a row, of gateways that have responded once. */
	readonly #missed = new Map<GatewayInPool, number>();
	#timer: Timer | undefined;
	#isStopped = false;

	constructor(pool: GatewayPool, settings: HealthCheckSettings, ports: { readonly upstream: Upstream; readonly clock: Clock }) {
		this.#pool = pool;
		this.#settings = settings;
		this.#ports = ports;
	}

	/** Resolves after the first check of each gateway; checks continue until `stop`. */
	async start(): Promise<void> {
		await Promise.all(this.#pool.gateways.map((gateway) => this.#check(gateway)));
		if (this.#isStopped) return;
		this.#timer = this.#ports.clock.after(this.#settings.intervalMs, () => void this.start());
	}

	stop(): void {
		this.#isStopped = true;
		this.#timer?.cancel();
	}

	async #check(gateway: GatewayInPool): Promise<void> {
		const { timeoutMs } = this.#settings;
		const { returns } = gateway;
		const noteUnhealthy = (reason: string): void => this.#pool.markDown(gateway, { kind: 'unhealthy', reason }, returns);
		try {
			const { status, body } = await this.#ports.upstream({
				origin: gateway.origin,
				method: 'GET',
				target: '/',
				headers: {},
				body: null,
				timeouts: { connectMs: timeoutMs, firstByteMs: timeoutMs, idleMs: timeoutMs, totalMs: timeoutMs },
				canReachPrivateNetwork: true,
				isExpectedToFail: true,
				onClientDisconnect: () => undefined,
			});
			const text = (await readAll(body, maxBytes)).toString();
			this.#missed.set(gateway, 0);
			if (status !== 200) noteUnhealthy(`GET / returned ${status}`);
			else if (isDrainingResponse(text)) noteUnhealthy('it is shutting down');
			else this.#pool.markUp(gateway);
		} catch (cause) {
			this.#miss(gateway, reasonOf(cause), returns);
		}
	}

	#miss(gateway: GatewayInPool, reason: string, returns: number): void {
		const missed = (this.#missed.get(gateway) ?? maxMissed - 1) + 1;
		this.#missed.set(gateway, missed);
		if (missed >= maxMissed) this.#pool.markDown(gateway, { kind: 'unreachable', reason }, returns);
	}
}

/** Returns the underlying cause, because the upstream client's error names a provider. */
export function reasonOf(cause: unknown): string {
	let innermost = cause;
	while (innermost instanceof Error && innermost.cause !== undefined) innermost = innermost.cause;
	const isEndless = innermost instanceof Rejection && innermost.code === 'body_too_large';
	if (isEndless) return `GET / returned more than ${maxBytes} bytes: not a Tollgate gateway`;
	if (innermost instanceof UpstreamError) return reasons.get(innermost.code) ?? 'it does not respond';
	return innermost instanceof Error ? innermost.message : String(innermost);
}

const reasons: ReadonlyMap<UpstreamErrorCode, string> = new Map([
	['provider_unreachable', 'connection failed'],
	['provider_connect_timeout', 'connection timed out'],
	['provider_first_byte_timeout', 'health check timed out'],
	['provider_disconnected', 'it closed the connection'],
]);
