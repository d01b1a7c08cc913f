import { CallFacts } from '../../../core/call-facts.ts';
import type { Team } from '../../../core/team.ts';
import type { Usage } from '../../../core/usage.ts';

type Writable<Value> = { -readonly [Name in keyof Value]: Value[Name] };

/** Takes what is written too late; nobody reads it. */
const nowhere: Writable<CallFacts> = new CallFacts();

/** The part of a record that belongs to one target. */
export interface TargetRecord {
	readonly provider: string | undefined;
	readonly model: string | undefined;
	/** What was dropped or changed in the request, for its sender. */
	readonly warnings: readonly string[];
}

/**
 * What is known of a request. The stage that finds something out writes it here; the response's header fields and the log line read it.
 * After the end only `report` changes what the log line says.
 */
export class RequestRecord {
	/** For the log line. */
	readonly facts: CallFacts;
	/** `x-ratelimit-*` of the client's team; undefined while its counters are not known. */
	limitHeaders: Readonly<Record<string, string>> | undefined;
	readonly #reported: Writable<CallFacts> = new CallFacts();
	/** Written to until the end; writes after it go nowhere. */
	#written = this.#reported;
	#team: Team | undefined;
	#warnings: readonly string[] = [];

	constructor() {
		this.facts = this.#reported;
	}

	/** The client's. */
	get team(): Team | undefined {
		return this.#team;
	}

	get ofTarget(): TargetRecord {
		const { provider, model } = this.facts;
		return { provider, model, warnings: this.#warnings };
	}

	/** Set when the next target is tried, and restored when that target is skipped. */
	set ofTarget({ provider, model, warnings }: TargetRecord) {
		this.#written.provider = provider;
		this.#written.model = model;
		this.#warnings = warnings;
	}

	identifyClient(clientId: string): void {
		this.#written.clientId = clientId;
	}

	identifyTeam(team: Team): void {
		this.#team = team;
		this.#written.team = team.id;
	}

	/** @param isStreamed undefined where no stream can be asked for. */
	readBody(bytes: number, isStreamed: boolean | undefined): void {
		this.#written.requestBytes = bytes;
		this.#written.isStreamed = isStreamed;
	}

	warn(warnings: readonly string[]): void {
		if (warnings.length > 0) this.#warnings = [...this.#warnings, ...warnings];
	}

	/** Admitted while the counters could not be reached. */
	admitUncounted(): void {
		this.#written.isUncounted = true;
	}

	/** The provider's response has begun. @param firstByteMs since the request arrived. */
	beginResponse(upstreamStatus: number, firstByteMs: number): void {
		this.#written.upstreamStatus = upstreamStatus;
		this.#written.firstByteMs = firstByteMs;
	}

	/** The response of a target that failed is not the request's. */
	failOver(): void {
		this.#written.upstreamStatus = undefined;
	}

	/** Of all targets that were called. */
	charge({ inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens }: Usage, costNanoUsd: bigint, isEstimated: boolean): void {
		const written = this.#written;
		written.inputTokens = (written.inputTokens ?? 0) + inputTokens + cacheReadTokens + cacheWriteTokens;
		written.outputTokens = (written.outputTokens ?? 0) + outputTokens;
		written.costNanoUsd = (written.costNanoUsd ?? 0n) + costNanoUsd;
		if (isEstimated) written.isEstimated = true;
	}

	/** The code of the error that the client gets: also where a guardrail blocks the rest of a stream whose request has ended. */
	report(code: string): void {
		this.#reported.code = code;
	}

	end(code: string | undefined): void {
		if (code !== undefined) this.report(code);
		this.#written = nowhere;
	}
}
