import type { ProviderState } from '../../../wire/dialects/state.ts';
import { isPathId } from '../../../wire/endpoints/stored-responses.ts';
import type { EventBatch } from '../../../wire/events/event-batch.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { BilledPermit } from '../request-scope/billed-permit.ts';
import { ChargedElsewherePermit, type Permit } from '../request-scope/permit.ts';
import type { RequestScope } from '../request-scope/request-scope.ts';
import { type InferenceRequest, runsInBackground } from '../stages/read-inference-request.ts';
import { readObject } from '../stages/respond.ts';
import type { ProviderResponse } from '../stages/send-request.ts';
import type { Taken } from '../stages/take-target.ts';
import type { StreamFollower } from '../streams/stream-relay.ts';
import type { BackgroundSlot } from './background-responses.ts';
import { ResponseFollower } from './response-follower.ts';

const defaultMaxBackground = 500;

/**
 * Takes a slot for a request whose response the provider may generate in the background; undefined for other requests.
 * @throws `Rejection` `background_limit_exceeded`
 */
export function takeBackgroundSlot(
	inferenceRequest: InferenceRequest,
	scope: RequestScope,
	{ settings, work }: GatewayDeps,
): BackgroundSlot | undefined {
	if (!runsInBackground(inferenceRequest)) return undefined;
	return work.background.takeSlot(scope, settings.responses?.maxBackground ?? defaultMaxBackground);
}

/** Leaves a response that is not complete when its request ends to a follower. */
export class BackgroundRequest implements StreamFollower {
	readonly #slot: BackgroundSlot;
	readonly #taken: Taken;
	readonly #deps: GatewayDeps;
	readonly #state: ProviderState | undefined;
	/** Id of the response in a stream. */
	#id: string | undefined;

	constructor(slot: BackgroundSlot, taken: Taken, deps: GatewayDeps) {
		this.#slot = slot;
		this.#taken = taken;
		this.#deps = deps;
		this.#state = taken.prepared.format.state;
	}

	/** Follows a non-streaming response that is not complete. @returns the permit for the client's response. */
	followResponse({ body, reported }: ProviderResponse): Permit {
		const { permit } = this.#taken;
		if (!Buffer.isBuffer(body) || reported === undefined) return permit;
		const response = readObject(body);
		const progress = response && this.#state?.progressOf(response);
		if (progress?.status !== 'running' || !this.#follow(progress.id)) return permit;
		return new ChargedElsewherePermit(permit);
	}

	push({ events }: EventBatch): void {
		for (const streamed of events) {
			if (this.#id !== undefined) return;
			if (this.#state?.canHaveIds(streamed.bytes) !== true) continue;
			const event = streamed.json();
			this.#id = event && this.#state.progressOf(event)?.id;
		}
	}

	followStream(): boolean {
		return this.#id !== undefined && this.#follow(this.#id);
	}

	#follow(id: string): boolean {
		const { permit, prepared } = this.#taken;
		if (!isPathId(id) || this.#state === undefined || !(permit instanceof BilledPermit)) return false;
		new ResponseFollower({ prepared, state: this.#state, permit, id }, this.#deps).start(this.#slot);
		return true;
	}
}
