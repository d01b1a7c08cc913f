import type { Denial } from '../../../core/allow-lists.ts';
import type { RequestSize } from '../../../core/cost-factors.ts';
import type { CounterReading, RateLimit } from '../../../core/counters.ts';
import {
	type MonitoredCode,
	type ReachedLimit,
	type RecordedRoute,
	type RecordedRouting,
	RequestRecord,
	type TargetAttempt,
} from '../../../core/request-record.ts';
import type { Team } from '../../../core/team.ts';
import type { Usage } from '../../../core/usage.ts';

/** A team's limits, and its counters when they were read. */
export interface MeasuredLimits {
	readonly rates: readonly RateLimit[];
	readonly reading: CounterReading;
}

type Writable<Value> = { -readonly [Name in keyof Value]: Value[Name] };

/** Discards writes after the end. */
const discarded: Writable<RequestRecord> = new RequestRecord();

/** The part of a record that belongs to one target. */
export interface TargetRecord {
	readonly provider: string | undefined;
	readonly model: string | undefined;
	/** Dropped or changed fields of the request, reported to the client. */
	readonly warnings: readonly string[];
}

/**
 * Record of one request. Stages write their results here; response headers and the log line read them. After the end, only `report` changes
 * the log line.
 */
export class RequestRecorder {
	/** Fields of the log line. */
	readonly record: RequestRecord;
	/** Limits of the client's team, for the header fields of its response; undefined while its counters are unknown. */
	limits: MeasuredLimits | undefined;
	readonly #reported: Writable<RequestRecord> = new RequestRecord();
	/** Target of writes: the record until the end, then a discarded object. */
	#written = this.#reported;
	#team: Team | undefined;
	#warnings: readonly string[] = [];
	#attempts: TargetAttempt[] | undefined;
	#monitored: MonitoredCode[] | undefined;

	constructor() {
		this.record = this.#reported;
	}

	get team(): Team | undefined {
		return this.#team;
	}

	get targetFields(): TargetRecord {
		const { provider, model } = this.record;
		return { provider, model, warnings: this.#warnings };
	}

	/** Set when the next target is tried, and restored if that target is skipped. */
	set targetFields({ provider, model, warnings }: TargetRecord) {
		this.#written.provider = provider;
		this.#written.model = model;
		this.#warnings = warnings;
	}

	enterEndpoint(path: string): void {
		this.#written.endpoint = path;
	}

	/** Sets the attributes by which the request is found and its cost is split. */
	attribute(attributes: Readonly<Record<string, string>>): void {
		this.#written.attributes = attributes;
	}

	identifyClient(clientId: string): void {
		this.#written.clientId = clientId;
	}

	/** @param isByRule true if `access.rules` gave the client its team. */
	identifyTeam(team: Team, isByRule = false): void {
		this.#team = team;
		this.#written.team = team.id;
		if (isByRule) this.#written.isTeamByRule = true;
	}

	/**
	 * @param isStreaming undefined if the endpoint has no streams.
	 * @param modelRequested undefined if the request names no model.
	 */
	readBody(bytes: number, isStreaming: boolean | undefined, modelRequested?: string): void {
		this.#written.requestBytes = bytes;
		this.#written.modelRequested = modelRequested;
		this.#written.isStreaming = isStreaming;
	}

	/** Records the numbers on which the reservation depends. */
	measure(size: RequestSize): void {
		this.#written.size = size;
	}

	route(routing: RecordedRouting): void {
		this.#written.routing = routing;
	}

	/** Marks a request whose output the gateway limits. */
	capOutput(): void {
		this.#written.isOutputCapped = true;
	}

	warn(warnings: readonly string[]): void {
		if (warnings.length > 0) this.#warnings = [...this.#warnings, ...warnings];
	}

	/** Marks a request that was admitted while the counters were unreachable. */
	admitUncounted(): void {
		this.#written.isUncounted = true;
	}

	/** Marks a request whose model has no price. */
	admitUnpriced(): void {
		this.#written.isUnpriced = true;
	}

	/** Adds an attempt to send the request, retries included. */
	attempt(made: TargetAttempt): void {
		if (this.#written === discarded) return;
		if (this.#attempts === undefined) {
			this.#attempts = [made];
			this.#written.targets = this.#attempts;
		} else {
			this.#attempts.push(made);
		}
	}

	/** Records the limit that rejects the request. */
	reject(limit: ReachedLimit): void {
		this.#reported.limit = limit;
	}

	/** Records the list that rejects the request, or would reject it in mode `enforce`. */
	deny({ path }: Denial): void {
		this.#reported.allowList = path;
	}

	/** Adds an effect that is recorded instead of enforced, also after the end; a repeated code counts once. */
	monitor(code: MonitoredCode): void {
		if (this.#monitored === undefined) {
			this.#monitored = [code];
			this.#reported.monitored = this.#monitored;
		} else if (!this.#monitored.includes(code)) {
			this.#monitored.push(code);
		}
	}

	/** Delays the stored record until an evaluation has ended. @param evaluation never rejects. */
	waitFor(evaluation: Promise<void>): void {
		const { evaluations } = this.#reported;
		this.#reported.evaluations = evaluations === undefined ? evaluation : evaluations.then(() => evaluation);
	}

	/** Records what a monitored routing rule would have chosen. */
	monitorRoute(route: RecordedRoute): void {
		this.#written.monitoredRoute = route;
	}

	/** Records the start of the provider's response. @param firstByteMs since the request arrived. */
	beginResponse(upstreamStatus: number, firstByteMs: number): void {
		this.#written.upstreamStatus = upstreamStatus;
		this.#written.firstByteMs = firstByteMs;
	}

	/** Clears the status of a failed target, which is not the request's. */
	failOver(): void {
		this.#written.upstreamStatus = undefined;
	}

	/** Adds the charge of one of the targets. */
	charge(usage: Usage, costNanoUsd: bigint, isEstimated: boolean): void {
		const { inputTokens, cacheReadTokens, cacheWriteTokens, cacheWriteHourTokens, outputTokens, reasoningTokens, toolCalls } = usage;
		const written = this.#written;
		written.inputTokens = (written.inputTokens ?? 0) + inputTokens + cacheReadTokens + cacheWriteTokens;
		written.cacheReadTokens = (written.cacheReadTokens ?? 0) + cacheReadTokens;
		written.cacheWriteTokens = (written.cacheWriteTokens ?? 0) + cacheWriteTokens;
		written.outputTokens = (written.outputTokens ?? 0) + outputTokens;
		if (cacheWriteHourTokens > 0) written.cacheWriteHourTokens = (written.cacheWriteHourTokens ?? 0) + cacheWriteHourTokens;
		if (reasoningTokens > 0) written.reasoningTokens = (written.reasoningTokens ?? 0) + reasoningTokens;
		if (toolCalls !== undefined) written.toolCalls = toolCalls;
		written.costNanoUsd = (written.costNanoUsd ?? 0n) + costNanoUsd;
		if (isEstimated) written.isEstimated = true;
	}

	/** Sets the error code that the client gets. It can follow the end of the request: a guardrail may block the rest of its stream. */
	report(code: string): void {
		this.#reported.code = code;
	}

	end(code: string | undefined): void {
		if (code !== undefined) this.report(code);
		this.#written = discarded;
	}
}
