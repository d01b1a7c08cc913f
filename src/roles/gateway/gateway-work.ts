import type { HttpRequest } from '../../core/handler.ts';
import { Rejection } from '../../core/rejection.ts';
import { SwapRemoveList } from '../../core/swap-remove-list.ts';
import { ReportedModels } from '../../policy/limits/reported-models.ts';
import { TypicalRequests } from '../../policy/limits/typical-requests.ts';
import { BodyMemoryBudget } from '../../policy/overload/body-memory-budget.ts';
import { BackgroundResponses } from './background/background-responses.ts';
import type { RequestScope } from './request-scope/request-scope.ts';

/**
 * In-flight work of a process. It outlives configurations, so that requests that began under one are found, and awaited, under the next.
 */
export class GatewayWork {
	readonly inFlightRequests = new InFlightRequests();
	readonly background = new BackgroundResponses();
	readonly bodyMemory = new BodyMemoryBudget();
	readonly settlements = new Settlements();
	readonly typical = new TypicalRequests();
	readonly reportedModels = new ReportedModels();
	/** Time of the last sweep of response owners, by the monotonic clock. */
	ownersSweptMs = Number.NEGATIVE_INFINITY;
	/** Number of requests with a reservation in a budget. */
	openReservations = 0;

	/** Aborts all requests, and ends the followers of background responses. */
	endAll(): void {
		this.inFlightRequests.endAll();
		this.background.endAll();
	}
}

/** Settlements of ended requests, which the process awaits before it exits. */
export class Settlements {
	#running = 0;
	readonly #waiting: (() => void)[] = [];

	get count(): number {
		return this.#running;
	}

	begin(): void {
		this.#running++;
	}

	end(): void {
		this.#running--;
		if (this.#running > 0) return;
		for (const resolve of this.#waiting.splice(0)) resolve();
	}

	/** Resolves when no settlement is pending. */
	settled(): Promise<void> {
		return this.#running === 0 ? Promise.resolve() : new Promise((resolve) => void this.#waiting.push(resolve));
	}
}

/** Requests whose body has been read, until they end. */
export class InFlightRequests {
	readonly #requests = new SwapRemoveList<RequestScope>();

	get count(): number {
		return this.#requests.size;
	}

	get streamCount(): number {
		let count = 0;
		this.#requests.each(({ recorder }) => {
			if (recorder.record.isStreaming === true) count++;
		});
		return count;
	}

	/** Adds a request, which is aborted when its client disconnects, or by `endAll`. */
	add(scope: RequestScope, request: Pick<HttpRequest, 'onClientDisconnect'>): void {
		scope.enlist(this.#requests);
		request.onClientDisconnect(() => scope.abort(new Rejection('client_closed')));
	}

	/** Aborts all requests. Streams end with an error event, other requests with an error response. */
	endAll(): void {
		const reason = new Rejection('draining', { message: 'The gateway is shutting down: retry', retryAfterSeconds: 1 });
		this.#requests.each((scope) => scope.abort(reason));
	}
}
