import type { HttpRequest } from '../../../core/handler.ts';
import { OpenList } from '../../../core/open-list.ts';
import { Refusal } from '../../../core/refusal.ts';
import type { CallScope } from './call-scope.ts';

/** Requests whose body has been read, until they end. */
export class OpenCalls {
	readonly #calls = new OpenList<CallScope>();

	get count(): number {
		return this.#calls.size;
	}

	get streamCount(): number {
		let count = 0;
		this.#calls.each(({ record }) => {
			if (record.facts.isStreamed === true) count++;
		});
		return count;
	}

	/** From now on the request is aborted when its client disconnects, or by `endAll`. */
	add(scope: CallScope, request: Pick<HttpRequest, 'onClientGone'>): void {
		scope.enlist(this.#calls);
		request.onClientGone(() => scope.abort(new Refusal('client_closed')));
	}

	/** Streams end by an error event, other requests by an error response. */
	endAll(): void {
		const reason = new Refusal('draining', { message: 'The gateway is shutting down: retry', retryAfterSeconds: 1 });
		this.#calls.each((scope) => scope.abort(reason));
	}
}
