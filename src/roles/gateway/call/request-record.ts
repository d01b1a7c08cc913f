import { CallFacts } from '../../../core/call-facts.ts';
import type { Team } from '../../../core/team.ts';
import type { Usage } from '../../../core/usage.ts';
import type { Target } from '../../../policy/routing/target.ts';

type Writable<Value> = { -readonly [Name in keyof Value]: Value[Name] };

/** The part of a record that belongs to one target. */
export interface TargetRecord {
	readonly target: Pick<Target, 'provider' | 'model'> | undefined;
	readonly warnings: readonly string[];
}

const noWarnings: readonly string[] = [];

/**
 * What is known of a request: each stage writes what it finds out, the response's header fields and the log line read it. The end of the
 * request closes it for all but the code that the response reports, which a guardrail may still decide.
 */
export class RequestRecord {
	readonly #facts: Writable<CallFacts> = new CallFacts();
	#isEnded = false;
	#team: Team | undefined;
	#warnings = noWarnings;
	#limitHeaders: Readonly<Record<string, string>> | undefined;

	/** For the log line. */
	get facts(): CallFacts {
		return this.#facts;
	}

	/** The client's. */
	get team(): Team | undefined {
		return this.#team;
	}

	/** What was dropped or changed in the request, for its sender. */
	get warnings(): readonly string[] {
		return this.#warnings;
	}

	/** `x-ratelimit-*` of the client's team; undefined while its counters are not known. */
	get limitHeaders(): Readonly<Record<string, string>> | undefined {
		return this.#limitHeaders;
	}

	set limitHeaders(headers: Readonly<Record<string, string>> | undefined) {
		this.#limitHeaders = headers;
	}

	identifyClient(clientId: string): void {
		if (!this.#isEnded) this.#facts.clientId = clientId;
	}

	identifyTeam(team: Team): void {
		if (this.#isEnded) return;
		this.#team = team;
		this.#facts.team = team.id;
	}

	/** @param isStreaming undefined where no stream can be asked for. */
	read(bytes: number, isStreaming: boolean | undefined): void {
		if (this.#isEnded) return;
		this.#facts.requestBytes = bytes;
		this.#facts.isStreamed = isStreaming;
	}

	get ofTarget(): TargetRecord {
		const { provider, model } = this.#facts;
		return { target: provider === undefined || model === undefined ? undefined : { provider, model }, warnings: this.#warnings };
	}

	/** The next target is tried, or the one before it remains the last. */
	set ofTarget({ target, warnings }: TargetRecord) {
		if (this.#isEnded) return;
		this.#facts.provider = target?.provider;
		this.#facts.model = target?.model;
		this.#warnings = warnings;
	}

	warn(warnings: readonly string[]): void {
		if (warnings.length > 0 && !this.#isEnded) this.#warnings = this.#warnings.length === 0 ? warnings : [...this.#warnings, ...warnings];
	}

	/** Admitted while the counters could not be reached. */
	admitUncounted(): void {
		if (!this.#isEnded) this.#facts.isUncounted = true;
	}

	/** @param firstByteMs since the request arrived. */
	respondUpstream(status: number, firstByteMs: number): void {
		if (this.#isEnded) return;
		this.#facts.upstreamStatus = status;
		this.#facts.firstByteMs = firstByteMs;
	}

	/** The response of the target that failed is not the request's. */
	failOver(): void {
		if (!this.#isEnded) this.#facts.upstreamStatus = undefined;
	}

	/** Of all targets that were called. */
	charge({ inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens }: Usage, costNanoUsd: bigint, isEstimated: boolean): void {
		const facts = this.#facts;
		if (this.#isEnded) return;
		facts.inputTokens = (facts.inputTokens ?? 0) + inputTokens + cacheReadTokens + cacheWriteTokens;
		facts.outputTokens = (facts.outputTokens ?? 0) + outputTokens;
		facts.costNanoUsd = (facts.costNanoUsd ?? 0n) + costNanoUsd;
		if (isEstimated) facts.isEstimated = true;
	}

	/** The code of the error that the client gets: also when a guardrail blocks the rest of a stream that has ended. */
	report(code: string): void {
		this.#facts.code = code;
	}

	/** Nothing else is written from now on. */
	end(code: string | undefined): void {
		if (code !== undefined) this.report(code);
		this.#isEnded = true;
	}
}
