import { streamOf } from '../../../core/byte-stream.ts';
import type { Timer } from '../../../core/clock.ts';
import type { HttpRequest } from '../../../core/handler.ts';
import { formatUsd } from '../../../core/money.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';
import type { ProviderState, ResponseProgress } from '../../../wire/dialects/state.ts';
import { readResponse } from '../../../wire/endpoints/stored-responses.ts';
import { meterResponse } from '../../../wire/usage/usage-meter.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { BilledPermit } from '../request-scope/billed-permit.ts';
import { ChargedElsewherePermit } from '../request-scope/permit.ts';
import { type AbortReason, failed, RequestScope, type ScopeOutcome } from '../request-scope/request-scope.ts';
import type { PreparedRequest } from '../stages/prepare-request.ts';
import { prepareStored } from '../stages/prepare-stored.ts';
import { readObject } from '../stages/respond.ts';
import { type ProviderResponse, sendRequest } from '../stages/send-request.ts';
import type { BackgroundSlot, FollowedResponse } from './background-responses.ts';

/** Interval between two polls. */
const interval = { firstMs: 2000, factor: 1.5, maxMs: 10_000 };
const maxPollMs = 30_000;
/** Maximum time for which a response is followed. */
const maxFollowMs = 2 * 3_600_000;

const kinds: Readonly<Record<Exclude<ResponseProgress['status'], 'running'>, ScopeOutcome['kind']>> = {
	complete: 'completed',
	failed: 'upstream_error',
	cancelled: 'client_disconnected',
};

/** The parts of a request that its follower needs. */
export interface Handover {
	/** The request, whose body is not kept. */
	readonly prepared: Pick<PreparedRequest, 'request' | 'target'>;
	readonly state: ProviderState;
	readonly permit: BilledPermit;
	/** Id of the response; `isPathId` accepts it. */
	readonly id: string;
}

/**
 * Follows a background response at its provider to its end, and then settles the permit of its request with the reported usage. Polls take
 * no slot of the provider, and do not indicate its health.
 */
export class ResponseFollower implements FollowedResponse {
	readonly #scope: RequestScope;
	readonly #permit: BilledPermit;
	readonly #state: ProviderState;
	readonly #id: string;
	readonly #deps: GatewayDeps;
	readonly #poll: PreparedRequest;
	readonly #startedMs: number;
	#limit: Timer | undefined;
	#heartbeat: Timer | undefined;
	/** Callers of `check`. */
	readonly #checks: (() => void)[] = [];
	#wake: (() => void) | undefined;
	#isOver = false;

	constructor({ prepared: { request, target }, state, permit, id }: Handover, deps: GatewayDeps) {
		this.#poll = prepareStored(pollFor(request), readResponse, id, target, deps);
		this.#scope = new RequestScope(request.id, deps.ports.log);
		this.#permit = permit;
		this.#state = state;
		this.#id = id;
		this.#deps = deps;
		this.#startedMs = deps.ports.clock.monotonicMs();
	}

	/** Takes permit and slot from the scope of the request, which may then end. */
	start(slot: BackgroundSlot): void {
		const { ports, work } = this.#deps;
		this.#permit.moveTo(this.#scope);
		slot.moveTo(this.#scope);
		this.#limit = ports.clock.after(maxFollowMs, () => this.abort(new UpstreamError('provider_total_timeout')));
		this.#renew();
		work.background.add(this.#poll.target.provider, this.#id, this);
		void this.#run();
	}

	abort(reason: AbortReason): void {
		this.#scope.abort(reason);
	}

	check(): Promise<void> {
		if (this.#isOver) return Promise.resolve();
		return new Promise((resolve) => {
			this.#checks.push(resolve);
			this.#wake?.();
		});
	}

	async #run(): Promise<void> {
		try {
			const { kind } = await this.#follow();
			this.#end({ kind, status: 200, code: undefined, isEarly: false });
		} catch (cause) {
			const { kind, code } = failed(cause);
			this.#end({ kind, status: 200, code, isEarly: false }, cause);
		}
	}

	async #follow(): Promise<Pick<ScopeOutcome, 'kind'>> {
		for (let waitMs = interval.firstMs; ; waitMs = Math.min(waitMs * interval.factor, interval.maxMs)) {
			if (this.#checks.length === 0) await this.#pause(waitMs);
			const checksBefore = this.#checks.length;
			const end = await this.#readEnd();
			if (end !== undefined) return end;
			for (const resolve of this.#checks.splice(0, checksBefore)) resolve();
		}
	}

	#pause(ms: number): Promise<void> {
		return this.#scope.wait<void>((resolve) => {
			const timer = this.#deps.ports.clock.after(ms, () => resolve());
			this.#wake = () => {
				timer.cancel();
				resolve();
			};
			return () => timer.cancel();
		});
	}

	/**
	 * Polls once, and meters a response at its end.
	 * @returns undefined if it is still running, or its state is unknown.
	 * @throws `UpstreamError` `provider_response_invalid` if the provider has deleted it; the reason of an abort.
	 */
	async #readEnd(): Promise<Pick<ScopeOutcome, 'kind'> | undefined> {
		const polled = await this.#send();
		if (polled === undefined) return undefined;
		const { response, body, reported } = polled;
		if (response.status === 404 || response.status === 410) {
			throw new UpstreamError('provider_response_invalid', { message: 'The provider has deleted the response' });
		}
		const reading = reported === undefined || !Buffer.isBuffer(body) ? undefined : readObject(body);
		const status = reading && this.#state.progressOf(reading)?.status;
		if (status === undefined || status === 'running' || !Buffer.isBuffer(body)) return undefined;
		const { reader, inputTokens } = this.#permit.terms;
		if (status === 'complete') this.#permit.meterResponse(body, reported);
		// Without usage it is charged like a cut stream, because its reasoning can be hidden.
		else this.#permit.meterStream(meterResponse(body, reported?.usage, reader, inputTokens));
		return { kind: kinds[status] };
	}

	/** @returns undefined if the provider sent no response. @throws the reason of an abort. */
	async #send(): Promise<ProviderResponse | undefined> {
		const { timeouts, ports } = this.#deps;
		const { full } = timeouts.nonStreaming;
		const limits = { ...full, totalMs: Math.min(full.totalMs, maxPollMs) };
		const permit = new ChargedElsewherePermit(this.#permit);
		const polled = await sendRequest(this.#poll, permit, this.#scope, limits, ports.clock.monotonicMs(), this.#deps).catch(unlessBroken);
		this.#scope.requireRunning();
		return polled instanceof UpstreamError ? undefined : polled;
	}

	readonly #renew = (): void => {
		this.#permit.renew();
		this.#heartbeat = this.#deps.ports.clock.after(this.#deps.settings.heartbeatMs, this.#renew);
	};

	/** @param cause why the end of the response is unknown. */
	#end(outcome: ScopeOutcome, cause?: unknown): void {
		this.#isOver = true;
		this.#limit?.cancel();
		this.#heartbeat?.cancel();
		const { entry } = this.#permit.terms;
		const { ports, work } = this.#deps;
		work.background.remove(this.#poll.target.provider, this.#id, this);
		this.#scope.end(outcome);
		const { inputTokens, outputTokens, costNanoUsd = 0n, isEstimated } = this.#scope.recorder.record;
		const fields = {
			requestId: entry.id,
			team: entry.team,
			provider: entry.provider,
			model: entry.model,
			inputTokens,
			outputTokens,
			costUsd: formatUsd(costNanoUsd),
			isEstimated,
			durationMs: Math.round(ports.clock.monotonicMs() - this.#startedMs),
		};
		if (cause === undefined) ports.log.info('background response settled', fields);
		else ports.log.warn('the cost of a background response is unknown: its reservation is charged', { ...fields, cause });
		for (const resolve of this.#checks.splice(0)) resolve();
	}
}

/** A response that breaks off says as little as none. */
function unlessBroken(cause: unknown): UpstreamError {
	if (cause instanceof UpstreamError) return cause;
	throw cause;
}

/** Returns a request for polls, with the header fields of the client's. */
function pollFor({ id, headers, peerAddress, arrivedMs }: HttpRequest): HttpRequest {
	return {
		id,
		method: 'GET',
		path: '',
		query: '',
		headers,
		body: streamOf([]),
		announcedLength: 0,
		peerAddress,
		arrivedMs,
		onClientDisconnect: () => undefined,
	};
}
