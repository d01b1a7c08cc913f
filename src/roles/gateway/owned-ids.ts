import type { ResponseOwner } from '../../stores/contracts/response-owners.ts';
import { canBeStoredId, type ProviderState } from '../../wire/dialects/state.ts';
import type { EventBatch } from '../../wire/events/event-batch.ts';
import type { JsonObject } from '../../wire/json/parse-body.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import type { RequestScope } from './request-scope/request-scope.ts';
import type { PreparedRequest } from './stages/prepare-request.ts';

/** Limit for responses of hostile servers. */
const maxIds = 4096;

/** Interval between sweeps of a process. */
const sweepMs = 600_000;
/** About 1 GB in a database. */
const maxStoredIds = 5_000_000;

/** Stores the team as the owner of the ids in one response, as they arrive. */
export class OwnedIds {
	readonly #state: ProviderState;
	readonly #owner: ResponseOwner;
	readonly #requestId: string;
	readonly #deps: GatewayDeps;
	readonly #noted = new Set<string>();
	#hasFailed = false;

	constructor(state: ProviderState, owner: ResponseOwner, requestId: string, deps: GatewayDeps) {
		this.#state = state;
		this.#owner = owner;
		this.#requestId = requestId;
		this.#deps = deps;
	}

	/** Called with the events of a stream before they are sent, because the provider has stored a cut response too. */
	push({ events }: EventBatch): void {
		for (const streamed of events) {
			if (!this.#state.canHaveIds(streamed.bytes)) continue;
			const event = streamed.json();
			if (event !== undefined) void this.#note(this.#state.idsOfEvent(event));
		}
	}

	/** Resolves when the ids are stored, or cannot be: the client gets its response in any case. */
	async pushResponse(response: JsonObject): Promise<void> {
		await this.#note(this.#state.idsOf(response));
	}

	async #note(ids: readonly string[]): Promise<void> {
		const fresh = ids.filter((id) => canBeStoredId(id) && !this.#noted.has(id));
		const { ports, work, ownerFailures } = this.#deps;
		if (fresh.length === 0 || this.#noted.size + fresh.length > maxIds) return;
		for (const id of fresh) this.#noted.add(id);
		// A shutdown waits for it.
		work.settlements.begin();
		try {
			await ports.responseOwners.note(fresh, this.#owner);
			this.#sweep();
		} catch (cause) {
			ownerFailures.add();
			this.#report(cause);
		} finally {
			work.settlements.end();
		}
	}

	/** Logs the first failure of a response. */
	#report(cause: unknown): void {
		if (this.#hasFailed) return;
		this.#hasFailed = true;
		const { team, provider } = this.#owner;
		const fields = { requestId: this.#requestId, team, provider, cause };
		this.#deps.ports.log.error('the owner of a response could not be stored: its ids return 404', fields);
	}

	#sweep(): void {
		const { ports, work } = this.#deps;
		const nowMs = ports.clock.monotonicMs();
		if (nowMs - work.ownersSweptMs < sweepMs) return;
		work.ownersSweptMs = nowMs;
		ports.responseOwners
			.sweep(maxStoredIds)
			.catch((cause: unknown) => ports.log.warn('expired owners of responses could not be removed', { cause }));
	}
}

/** Returns undefined if the provider stores nothing under an id that a client may use. Of a response not stored, it keeps containers. */
export function ownedIdsOf(
	{ request, format, body, stateMode, target, translated }: PreparedRequest,
	{ recorder }: RequestScope,
	deps: GatewayDeps,
): OwnedIds | undefined {
	const { team } = recorder;
	const { responses } = deps.settings;
	if (stateMode === 'off' || responses === undefined || team === undefined || format.state === undefined || translated !== undefined) {
		return undefined;
	}
	const { provider, model } = target;
	const expiresAtMs = deps.ports.clock.nowMs() + responses.retentionMs;
	const { state } = format;
	const noted = state.storesResponse(body.members) ? state : { ...state, idsOf: state.containersOf, idsOfEvent: state.containersOf };
	return new OwnedIds(noted, { team: team.id, provider, model, expiresAtMs }, request.id, deps);
}
