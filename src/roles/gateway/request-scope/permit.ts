import type { Edit } from '../../../wire/json/splice-body.ts';
import { type MeteredUsage, type ReportedUsage, UsageMeter } from '../../../wire/usage/usage-meter.ts';
import type { UsageReader } from '../../../wire/usage/usage-reader.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { RequestScope, Resource } from './request-scope.ts';

/** Edits of a request before it is sent to the provider. */
export interface BodyEdits {
	/** Edits to the output cap, if the gateway sets it. */
	readonly capEdits: readonly Edit[];
	readonly usageEdits: readonly Edit[];
}

/** Proof that a request was admitted, which sending it to a provider requires. Only admission creates one; the request's scope ends it. */
export interface Permit extends Resource {
	readonly edits: BodyEdits;
	/** True if the provider may charge for the request although it sent no response. */
	readonly canCost: boolean;
	/** True if the provider may run tools that it charges by the call. */
	readonly hasHostedTools: boolean;
	/**
	 * Called when the request starts to be sent, after which the provider may charge for it.
	 * @throws UpstreamError `records_unavailable` if it must not be sent.
	 */
	markSent(): void;
	/** Called when the provider responded with an error, for which it charges nothing. */
	markRejected(): void;
	/** Called with a complete response. The charge does not depend on what the client gets. */
	meterResponse(body: Buffer, reported: ReportedUsage | undefined): void;
	/** Charged usage of a complete response. */
	readonly chargedUsage: MeteredUsage | undefined;
}

/** Permit of a request whose response may be a stream. */
export interface StreamPermit extends Permit {
	createMeter(): UsageMeter;
	/** Called when a part of the stream has arrived. */
	delivered(meter: UsageMeter): void;
	/** Called repeatedly while the stream runs, so that nothing that it reserved expires first. */
	renew(): void;
	/** Called at the end of the stream; the request ends in the same turn of the event loop. */
	meterStream(metered: MeteredUsage): void;
	/** True for a stream that stops when its budgets are exhausted. */
	readonly isStoppable: boolean;
	/** Charged usage of an ended stream. */
	readonly settled: MeteredUsage | undefined;
	/** Returns true if the metered usage may be far below the provider's charge. */
	isBlind(metered: MeteredUsage): boolean;
	/** Returns the usage to charge. */
	charged(metered: MeteredUsage): MeteredUsage;
}

interface Admitted {
	readonly id: string;
	readonly team: string;
	/** Counter of the request, by default the team's. */
	readonly counter: string;
}

const noEdits: BodyEdits = { capEdits: [], usageEdits: [] };

/** Permit of a request that costs nothing. It uses a separate limit and has no ledger entry. */
export class FreePermit implements Permit {
	readonly edits: BodyEdits = noEdits;
	readonly canCost = false;
	readonly hasHostedTools = false;
	readonly chargedUsage = undefined;
	readonly #admitted: Admitted;
	readonly #deps: GatewayDeps;

	/** @param scope owns the permit from now on. */
	constructor(admitted: Admitted, scope: RequestScope, deps: GatewayDeps) {
		this.#admitted = admitted;
		this.#deps = deps;
		scope.attach(this);
	}

	markSent(): void {}

	markRejected(): void {}

	meterResponse(): void {}

	release(): void {
		releaseCounters(this.#admitted, this.#deps);
	}
}

/** Permit of a request whose response another permit settles. It counts toward no limit. */
export class ChargedElsewherePermit implements Permit {
	readonly edits: BodyEdits = noEdits;
	readonly canCost = false;
	readonly chargedUsage = undefined;
	readonly hasHostedTools: boolean;

	/** @param hasHostedTools of the other permit. */
	constructor({ hasHostedTools }: Pick<Permit, 'hasHostedTools'>) {
		this.hasHostedTools = hasHostedTools;
	}

	markSent(): void {}

	markRejected(): void {}

	meterResponse(): void {}

	release(): void {}
}

/** Permit of a stream that costs nothing, because an earlier request has paid for it. */
export class FreeStreamPermit extends FreePermit implements StreamPermit {
	readonly isStoppable = false;
	readonly settled = undefined;
	readonly #reader: UsageReader;

	constructor(admitted: Admitted, reader: UsageReader, scope: RequestScope, deps: GatewayDeps) {
		super(admitted, scope, deps);
		this.#reader = reader;
	}

	createMeter(): UsageMeter {
		return new UsageMeter(this.#reader, { estimatedInputTokens: 0, isUsageInjected: false });
	}

	delivered(): void {}

	renew(): void {}

	meterStream(): void {}

	isBlind(): boolean {
		return false;
	}

	charged(metered: MeteredUsage): MeteredUsage {
		return metered;
	}
}

/** Releases a request without cost from the counters. The client does not wait for it. */
export function releaseCounters({ id, team, counter }: Admitted, { ports, work: { settlements } }: GatewayDeps): void {
	settlements.begin();
	const failed = (cause: unknown): void => {
		ports.log.error('a reservation could not be released in the counter store', { requestId: id, team, cause });
	};
	void ports.admission
		.release(id, counter)
		.catch(failed)
		.then(() => settlements.end());
}
