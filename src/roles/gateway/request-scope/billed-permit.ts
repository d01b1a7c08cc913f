import type { Price } from '../../../core/price.ts';
import { noUsage, totalTokens, type Usage } from '../../../core/usage.ts';
import { costNanoUsd } from '../../../policy/budgets/cost.ts';
import type { BudgetTerms } from '../../../policy/limits/terms-resolver.ts';
import type { TypicalRequest } from '../../../policy/limits/typical-requests.ts';
import type { BudgetReservation, Settled, Settlement } from '../../../stores/contracts/admission.ts';
import type { ClosedEntry, OpenEntry, OpenedEntry, RequestOutcome } from '../../../stores/contracts/ledger.ts';
import { type MeteredUsage, meterResponse, type ReportedUsage, UsageMeter } from '../../../wire/usage/usage-meter.ts';
import type { UsageReader } from '../../../wire/usage/usage-reader.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { StreamReservation, StreamStopped } from '../stream-reservation.ts';
import { type BodyEdits, releaseCounters, type StreamPermit } from './permit.ts';
import type { RequestScope, ScopeOutcome } from './request-scope.ts';

/** Maximum speed of one response; models that hide their reasoning are slower. */
const maxTokensPerSecond = 500;

/** Number of renewals within the lifetime of a reservation. */
const renewalsPerReservation = 3;

const noModerationUsage: MeteredUsage = { usage: noUsage, isEstimated: false };

/** Terms under which a request was admitted. */
export interface PermitSettings extends BodyEdits {
	/** Ledger entry of the request, while it stays with this target. */
	readonly entry: OpenEntry;
	/** Number of targets that failed before this one. */
	readonly earlierTargets: number;
	readonly price: Price;
	readonly budgets: readonly BudgetTerms[];
	readonly reservations: readonly BudgetReservation[];
	/** Lifetime of the reservations without renewal. */
	readonly reservationMs: number;
	/** Initial reservation of a stream that a budget can stop. Undefined for other requests. */
	readonly stopsAtNanoUsd: bigint | undefined;
	/** Input tokens of the request, for responses that report no usage. */
	readonly inputTokens: number;
	/** Output tokens that the reservation covers, over all choices. */
	readonly outputTokens: number;
	/** Maximum output tokens over all choices. */
	readonly maxOutputTokens: number;
	/** Maximum output tokens by the request's own cap. */
	readonly allowedOutputTokens: number;
	/** Number of requested choices. */
	readonly choices: number;
	/** Receives the usage of this request at its end. */
	readonly typical: TypicalRequest;
	/** True if the gateway requested usage in the stream and the client did not. */
	readonly isUsageInjected: boolean;
	readonly reader: UsageReader;
	/** True if calls of hosted tools are read from the response. */
	readonly hasHostedTools: boolean;
	/** The response may show little of its cost, because reasoning can be hidden. */
	readonly canHideReasoning: boolean;
	/** True if the provider generates the response to its end, also if its stream is cut. */
	readonly isBackground: boolean;
}

/**
 * Permit of a request that costs: its ledger entry is open and its cost is reserved. It ends exactly once, whatever happens to the request.
 * At the end, the actual cost is settled, in the ledger first.
 */
export class BilledPermit implements StreamPermit {
	readonly terms: PermitSettings;
	/** Undefined until the ledger has the entry. */
	#entry: OpenedEntry | undefined;
	/**
	 * Cleared when the permit ends. Otherwise, each garbage collection would copy the request and response while the permit waits for the
	 * ledger.
	 */
	#scope: RequestScope | undefined;
	readonly #deps: GatewayDeps;
	#coveredTokens: number;
	#isExtending = false;
	/** Time of sending by the monotonic clock. */
	#sentMs: number | undefined;
	#canCost = false;
	/** Usage of a complete response, which may still be withheld. */
	#metered: MeteredUsage | undefined;
	/** Usage of an ended stream. */
	#streaming: MeteredUsage | undefined;
	/** Reservation of a stream that stops when its budgets are exhausted. */
	readonly #reservation: StreamReservation | undefined;
	#renewedMs: number;
	#settled: MeteredUsage | undefined;

	/** Creates the permit of a reservation that the team's counters already contain. @param scope owns the permit. */
	constructor(terms: PermitSettings, scope: RequestScope, deps: GatewayDeps) {
		this.terms = terms;
		this.#scope = scope;
		this.#deps = deps;
		this.#coveredTokens = terms.outputTokens;
		this.#renewedMs = deps.ports.clock.monotonicMs();
		this.#reservation = terms.stopsAtNanoUsd === undefined ? undefined : this.#reserve(terms.stopsAtNanoUsd);
		if (terms.reservations.length > 0) deps.work.openReservations++;
		scope.attach(this);
	}

	/** Opens the ledger entry, without which nothing is sent. @throws UpstreamError `records_unavailable`. */
	open(): this | Promise<this> {
		const opened = this.#deps.ports.ledger.open(this.terms.entry);
		if (opened instanceof Promise) return opened.then((entry) => this.#opened(entry));
		return this.#opened(opened);
	}

	#opened(entry: OpenedEntry): this {
		this.#entry = entry;
		return this;
	}

	/** Moves the permit to another scope, for a response that outlives its request. */
	moveTo(scope: RequestScope): void {
		if (this.#scope === undefined) throw new Error('the permit has ended');
		this.#scope.drop(this);
		this.#scope = scope;
		scope.attach(this);
	}

	get edits(): BodyEdits {
		return this.terms;
	}

	#reserve(reservedNanoUsd: bigint): StreamReservation {
		const { entry, reservations, reservationMs, price, choices, allowedOutputTokens, inputTokens } = this.terms;
		const { admission, clock, log } = this.#deps.ports;
		return new StreamReservation(
			{ id: entry.id, team: entry.team, reservations, reservationMs, price, choices, allowedTokens: allowedOutputTokens, reservedNanoUsd },
			{ ...noUsage, inputTokens },
			{
				admission,
				clock,
				log,
				hiddenTokens: () => this.#writableTokens(),
				isBlind: (metered) => this.isBlind(metered),
				stop: (reason) => this.#scope?.abort(reason),
			},
		);
	}

	markSent(): void {
		if (this.#entry === undefined) throw new Error('a request was sent before its ledger entry was open');
		if (this.#entry.failure !== undefined) throw this.#entry.failure;
		this.#sentMs ??= this.#deps.ports.clock.monotonicMs();
		this.#canCost = true;
		this.#reservation?.begin(this.terms.canHideReasoning);
	}

	markRejected(): void {
		this.#canCost = false;
	}

	get hasHostedTools(): boolean {
		return this.terms.hasHostedTools;
	}

	get canCost(): boolean {
		return this.#canCost;
	}

	/** Assumed charge of the provider if no response arrives. */
	get owedNanoUsd(): bigint {
		return this.#canCost ? costNanoUsd(this.#reserved().usage, this.terms.price) : 0n;
	}

	createMeter(): UsageMeter {
		const { reader, inputTokens, isUsageInjected, typical, hasHostedTools } = this.terms;
		const tokensPerCounted = this.#reservation === undefined ? undefined : typical.tokensPerCounted;
		return new UsageMeter(reader, { estimatedInputTokens: inputTokens, isUsageInjected, tokensPerCounted, hasHostedTools });
	}

	/** Called when a part of a stream has arrived; raises the reservation when the stream outgrows it. */
	delivered(meter: UsageMeter): void {
		if (this.#reservation !== undefined) {
			this.#reservation.arrived(meter.read());
			return;
		}
		const { reservations, maxOutputTokens } = this.terms;
		const observedTokens = Math.min(meter.deliveredTokens(), maxOutputTokens);
		if (observedTokens <= this.#coveredTokens || this.#isExtending || reservations.length === 0) return;
		this.#isExtending = true;
		void this.#extend(Math.min(2 * observedTokens, maxOutputTokens));
	}

	/** Called repeatedly while a stream runs, so that its reservation does not expire first. */
	renew(): void {
		const { reservationMs, entry } = this.terms;
		const nowMs = this.#deps.ports.clock.monotonicMs();
		if (this.#scope === undefined || nowMs - this.#renewedMs < reservationMs / renewalsPerReservation) return;
		this.#renewedMs = nowMs;
		this.#deps.ports.admission.grow(entry.id, entry.team, [], reservationMs).catch((cause: unknown) => {
			this.#deps.ports.log.debug('a reservation could not be renewed', { requestId: entry.id, cause });
		});
	}

	meterResponse(body: Buffer, reported: ReportedUsage | undefined): void {
		this.#metered = reported === undefined ? this.#reserved() : this.#meter(body, reported.usage);
	}

	#meter(body: Buffer, usage: Usage | undefined): MeteredUsage {
		const { reader, inputTokens } = this.terms;
		const metered = meterResponse(body, usage, reader, inputTokens);
		// A complete response is assumed to show all of its output.
		return metered.isEstimated ? this.charged({ ...metered, hidesReasoning: false }) : metered;
	}

	/** Called at the end of the stream; the request ends in the same turn of the event loop. */
	meterStream(metered: MeteredUsage): void {
		this.#streaming = metered;
	}

	/** Charges the reservation if the provider may have received the request and sent no response: its real cost is unknown. */
	release({ kind, status, isEarly }: ScopeOutcome): void {
		const { entry, earlierTargets } = this.terms;
		if (this.#streaming !== undefined) this.#endStream(ledgerOutcomeOf(kind), this.#streaming, isEarly);
		else if (this.#metered !== undefined) this.#end('complete', status, this.#metered);
		else if (kind === 'upstream_error') this.#end('upstream_error', status, noModerationUsage);
		else if (this.#sentMs !== undefined) this.#end(ledgerOutcomeOf(kind), status, this.#canCost ? this.#reserved() : noModerationUsage);
		else if (this.#entry !== undefined || earlierTargets > 0) this.#end('not_sent', status, noModerationUsage);
		else {
			// The ledger never had an entry.
			this.#detach();
			releaseCounters({ ...entry, counter: entry.team }, this.#deps);
		}
	}

	/** @param isEarly true if the stream ended before the provider could report usage. */
	#endStream(outcome: RequestOutcome, metered: MeteredUsage, isEarly: boolean): void {
		const charged = isEarly && this.#reservation !== undefined ? this.#reservation.charged(metered) : this.charged(metered, isEarly);
		if (outcome === 'complete' && !metered.isEstimated) this.terms.typical.noteCounted(metered);
		this.#settled = charged;
		this.#end(outcome, 200, charged);
	}

	/** True for a stream that stops when its budgets are exhausted. */
	get isStoppable(): boolean {
		return this.#reservation !== undefined;
	}

	/** Charged usage of an ended stream. */
	get settled(): MeteredUsage | undefined {
		return this.#settled;
	}

	/** Returns true if the metered usage may be far below the provider's charge. */
	isBlind({ isEstimated, hidesReasoning }: MeteredUsage): boolean {
		return isEstimated && (hidesReasoning ?? this.terms.canHideReasoning);
	}

	/**
	 * Returns the usage to charge: reported usage unchanged; estimated usage at least the hidden reasoning, at most the output limit.
	 * @param clientDisconnected true if the client disconnected. Hidden reasoning would otherwise be free.
	 */
	charged(metered: MeteredUsage, clientDisconnected = false): MeteredUsage {
		if (!metered.isEstimated) return metered;
		const { usage } = metered;
		const { outputTokens: reserved, maxOutputTokens } = this.terms;
		// Hidden reasoning is charged at its maximum, unless the visible output exceeds it.
		const hiddenReasoningTokens = clientDisconnected ? Math.max(reserved, this.#writableTokens()) : reserved;
		const minTokens = this.isBlind(metered) ? hiddenReasoningTokens : 0;
		const outputTokens = Math.min(Math.max(usage.outputTokens, minTokens), maxOutputTokens);
		return { usage: { ...usage, outputTokens, reasoningTokens: Math.min(usage.reasoningTokens, outputTokens) }, isEstimated: true };
	}

	/** Returns the maximum output since the provider received the request. */
	#writableTokens(): number {
		const { allowedOutputTokens, choices } = this.terms;
		const seconds = (this.#deps.ports.clock.monotonicMs() - (this.#sentMs ?? Number.POSITIVE_INFINITY)) / 1000;
		return Math.min(allowedOutputTokens, Math.ceil(Math.max(0, seconds) * maxTokensPerSecond) * choices);
	}

	get chargedUsage(): MeteredUsage | undefined {
		return this.#metered;
	}

	/**
	 * Transfers the request to the permit of another target. Cost that this target may have caused gets a ledger entry of its own.
	 * @throws UpstreamError `records_unavailable` if that entry cannot be opened; this permit then stays unchanged.
	 */
	async transferReservation(): Promise<void> {
		const { entry, earlierTargets } = this.terms;
		const apart = { ...entry, id: `${entry.id}.${earlierTargets + 1}` };
		if (this.#canCost) await this.#deps.ports.ledger.open(apart);
		const scope = this.#scope;
		if (scope === undefined) return;
		scope.drop(this);
		if (this.#canCost) this.#end('broken', 0, this.#reserved(), apart.id);
		else this.#detach();
	}

	#reserved(): MeteredUsage {
		return { usage: { ...noUsage, inputTokens: this.terms.inputTokens, outputTokens: this.#coveredTokens }, isEstimated: true };
	}

	#detach(): void {
		this.#scope = undefined;
		this.#reservation?.end();
		if (this.terms.reservations.length > 0) this.#deps.work.openReservations--;
	}

	/** @param id of the ledger entry. */
	#end(outcome: RequestOutcome, status: number, { usage, isEstimated }: MeteredUsage, id = this.terms.entry.id): void {
		const scope = this.#scope;
		if (scope === undefined) return;
		this.#detach();
		const cost = costNanoUsd(usage, this.terms.price);
		if (outcome !== 'not_sent') scope.recorder.charge(usage, cost, isEstimated);
		const entry: ClosedEntry = { id, endedMs: this.#deps.ports.clock.nowMs(), outcome, status, usage, costNanoUsd: cost, isEstimated };
		this.#count(outcome, usage, cost, isEstimated);
		this.#closeAndSettle(entry);
	}

	#count(outcome: RequestOutcome, usage: Usage, cost: bigint, isEstimated: boolean): void {
		if (this.#sentMs === undefined) return;
		const { requestMetrics, ports } = this.#deps;
		const { provider, model, team } = this.terms.entry;
		const upstreamMs = ports.clock.monotonicMs() - this.#sentMs;
		if (outcome === 'complete') this.terms.typical.note(usage.outputTokens / this.terms.choices, upstreamMs);
		requestMetrics.ended({ provider, model, team, usage, costNanoUsd: cost, isEstimated, upstreamMs });
	}

	/**
	 * Settles the cost, in the ledger first: counters can be restored from it, not the other way round. In-process counters are settled
	 * immediately, so that the client's next request sees them. Shared counters receive the settlement at the end of the turn of the event
	 * loop, after the ledger's entry.
	 */
	#closeAndSettle(entry: ClosedEntry): void {
		const { settlements } = this.#deps.work;
		const settled = (): void => settlements.end();
		const unbooked = (cause: unknown): void => {
			this.#deps.ports.log.error('the cost of a request could not be settled', { requestId: entry.id, team: this.terms.entry.team, cause });
			settled();
		};
		settlements.begin();
		try {
			// A close that the ledger cannot write now is stored and written later.
			this.#deps.ports.ledger.close(entry, settled);
		} catch (cause) {
			unbooked(cause);
			return;
		}
		settlements.begin();
		try {
			const settling = this.#settle(entry);
			if (settling === undefined) settled();
			else void settling.then(settled, unbooked);
		} catch (cause) {
			unbooked(cause);
		}
	}

	#settle(entry: ClosedEntry): Promise<void> | undefined {
		const { admission } = this.#deps.ports;
		if (entry.outcome === 'not_sent') return admission.release(entry.id, this.terms.entry.team);
		const settled = admission.settle(this.#settlementOf(entry));
		if (settled instanceof Promise) return settled.then((later) => this.#warn(later, entry.costNanoUsd));
		this.#warn(settled, entry.costNanoUsd);
		return undefined;
	}

	#settlementOf({ id, usage, costNanoUsd: cost }: ClosedEntry): Settlement {
		const { entry, reservations } = this.terms;
		return { id, team: entry.team, admittedMs: entry.startedMs, tokens: totalTokens(usage), costNanoUsd: cost, budgets: reservations };
	}

	#warn({ isDuplicate, budgets: readings }: Settled, costOfRequest: bigint): void {
		const { entry, budgets } = this.terms;
		if (isDuplicate || budgets.length === 0) return;
		this.#deps.warnOfBudgets({ team: entry.team, costNanoUsd: costOfRequest, readings }, budgets);
	}

	async #extend(outputTokens: number): Promise<void> {
		const { reservations, price, inputTokens, entry } = this.terms;
		const { id, team } = entry;
		const { ports, settings } = this.#deps;
		const amountNanoUsd = costNanoUsd({ ...noUsage, inputTokens, outputTokens }, price);
		try {
			const isReserved = await ports.admission.extend(
				id,
				team,
				reservations.map((reservation) => ({ ...reservation, amountNanoUsd, check: 'after' as const })),
			);
			this.#coveredTokens = outputTokens;
			if (isReserved || settings.budgets.onStreamOver === 'extend' || this.terms.isBackground) return;
			this.#scope?.abort(new StreamStopped());
		} catch (cause) {
			// The end of the request settles its cost in any case.
			this.#coveredTokens = outputTokens;
			ports.log.debug('a reservation could not be raised', { requestId: id, cause });
		} finally {
			this.#isExtending = false;
		}
	}
}

function ledgerOutcomeOf(kind: ScopeOutcome['kind']): RequestOutcome {
	if (kind === 'completed') return 'complete';
	if (kind === 'upstream_error') return kind;
	return kind === 'client_disconnected' ? 'client_closed' : 'broken';
}
