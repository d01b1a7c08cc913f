import { Rejection } from '../../../core/rejection.ts';
import type { AbortReason, RequestScope, Resource } from '../request-scope/request-scope.ts';

const retryAfterSeconds = 10;

/** A response that is followed until its cost is known. */
export interface FollowedResponse {
	/** Reads its state now. Resolves when that is done, and a response at its end is settled. */
	check(): Promise<void>;
	/** Stops following; the response is charged its reservation. */
	abort(reason: AbortReason): void;
}

/** Background responses of a process: requests that may start one, and those that are followed until their cost is known. */
export class BackgroundResponses {
	/** By provider and id. */
	readonly #followed = new Map<string, FollowedResponse>();
	readonly #waiting: (() => void)[] = [];
	#slots = 0;

	/** Number of followed responses. */
	get count(): number {
		return this.#followed.size;
	}

	/** Takes one of the slots. @throws `Rejection` `background_limit_exceeded` */
	takeSlot(scope: RequestScope, maxSlots: number): BackgroundSlot {
		if (this.#slots >= maxSlots) {
			const message = `This gateway follows ${maxSlots} background responses, its limit (\`responses.max_background\`). Retry later, or omit \`background\``;
			throw new Rejection('background_limit_exceeded', { param: 'background', message, retryAfterSeconds });
		}
		this.#slots++;
		const slot = new BackgroundSlot(scope, () => this.#slots--);
		scope.attach(slot);
		return slot;
	}

	find(provider: string, id: string): FollowedResponse | undefined {
		return this.#followed.get(keyOf(provider, id));
	}

	add(provider: string, id: string, response: FollowedResponse): void {
		this.#followed.set(keyOf(provider, id), response);
	}

	/** Keeps a later response with the same id. */
	remove(provider: string, id: string, response: FollowedResponse): void {
		if (this.find(provider, id) === response) this.#followed.delete(keyOf(provider, id));
		if (this.#followed.size > 0) return;
		for (const resolve of this.#waiting.splice(0)) resolve();
	}

	/** Resolves when no response is followed. */
	idle(): Promise<void> {
		return this.#followed.size === 0 ? Promise.resolve() : new Promise((resolve) => void this.#waiting.push(resolve));
	}

	/** Charges all followed responses their reservation, because the process ends. */
	endAll(): void {
		for (const response of [...this.#followed.values()]) response.abort(new Rejection('draining'));
	}
}

function keyOf(provider: string, id: string): string {
	return `${provider}/${id}`;
}

/** Limits the background responses of the process. Belongs to a request, and then to its follower. */
export class BackgroundSlot implements Resource {
	#scope: RequestScope;
	readonly #free: () => void;

	constructor(scope: RequestScope, free: () => void) {
		this.#scope = scope;
		this.#free = free;
	}

	moveTo(scope: RequestScope): void {
		this.#scope.drop(this);
		this.#scope = scope;
		scope.attach(this);
	}

	release(): void {
		this.#free();
	}
}
