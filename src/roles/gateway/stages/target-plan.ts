import type { Target, Targets } from '../../../policy/routing/target.ts';
import type { InferenceRequest } from './read-inference-request.ts';
import { substituteFor } from './substitute-model.ts';

/** Targets that a request tries, in order. */
export class TargetPlan<Request extends Pick<InferenceRequest, 'model' | 'substitution'>> {
	/** The request, or its substitute with another model. */
	served: Request;
	#targets: Targets;
	#tried = 0;
	readonly #choose: (request: Request) => Targets;

	/** @throws errors of `choose`. */
	constructor(request: Request, choose: (request: Request) => Targets) {
		this.served = request;
		this.#targets = choose(request);
		this.#choose = choose;
	}

	get targets(): Targets {
		return this.#targets;
	}

	next(): Target | undefined {
		return this.#targets[this.#tried++];
	}

	isLast(target: Target): boolean {
		return target === this.#targets.at(-1);
	}

	/**
	 * Begins again with the model that serves the request in place of a rejection.
	 * @returns false if the rejection stands.
	 * @throws errors of `choose`.
	 */
	substitute(cause: unknown): boolean {
		const substitute = substituteFor(cause, this.served);
		if (substitute === undefined) return false;
		this.served = substitute;
		this.#targets = this.#choose(substitute);
		this.#tried = 0;
		return true;
	}
}
