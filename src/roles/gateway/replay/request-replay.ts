/** Decides recorded requests again under another policy, with the stages of the inference path and counters that follow recorded time. */
import type { RequestSize } from '../../../core/cost-factors.ts';
import type { BudgetPeriod } from '../../../core/counters.ts';
import type { HeaderFields } from '../../../core/handler.ts';
import { Rejection } from '../../../core/rejection.ts';
import type { Team } from '../../../core/team.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';
import { noUsage, totalTokens, type Usage } from '../../../core/usage.ts';
import { costNanoUsd } from '../../../policy/budgets/cost.ts';
import { noLimitNanoUsd } from '../../../policy/limits/request-limits.ts';
import type { TypicalRequest } from '../../../policy/limits/typical-requests.ts';
import { couldFailOver } from '../../../policy/resilience/attempt-result.ts';
import type { Target, Targets } from '../../../policy/routing/target.ts';
import type { AdmissionStore, TeamTotals } from '../../../stores/contracts/admission.ts';
import { type RecordedRequest, startedMsOf } from '../../../stores/contracts/request-records.ts';
import { dialects } from '../../../wire/dialects/dialects.ts';
import type { Endpoint, OwnLimit } from '../../../wire/endpoints/endpoint.ts';
import { endpoints } from '../../../wire/endpoints/endpoints.ts';
import { assembleDeps, type GatewayDeps } from '../gateway-deps.ts';
import type { GatewaySettings, TeamDirectory } from '../gateway-settings.ts';
import { portsWithoutEffect } from '../ports-without-effect.ts';
import { reservationMsOf } from '../stages/admit-request.ts';
import { chooseTargets, isFirstChoice, type RoutedRequest } from '../stages/choose-targets.ts';
import { type IdentifiedClient, identifyTeam } from '../stages/identify-caller.ts';
import { providerOf, readModel, servedDialect } from '../stages/prepare-request.ts';
import type { Substitution } from '../stages/read-inference-request.ts';
import {
	type AdmissionTerms,
	type RequestedLimits,
	rejectionOf,
	resolveAdmissionTerms,
	type TargetedRequest,
} from '../stages/resolve-admission-terms.ts';
import { canSkip, freeLimits } from '../stages/take-target.ts';
import { TargetPlan } from '../stages/target-plan.ts';
import { PendingEnds } from './pending-ends.ts';
import type { ReplayClock } from './replay-clock.ts';
import { type Decision, isDecidedElsewhere, recordedDecision, type ServedDecision } from './replay-decision.ts';

export interface RequestReplayPorts {
	readonly teams: TeamDirectory;
	/** Counters that follow this clock. */
	readonly admission: AdmissionStore;
	readonly clock: ReplayClock;
	/** Totals of a team before the first replayed request, for the day and the periods that contain the time of the clock. */
	readonly sumUp: (team: string, budgets: readonly BudgetPeriod[]) => Promise<TeamTotals>;
}

interface ReplayedRequest extends RoutedRequest {
	readonly substitution: Substitution | undefined;
}

/** End of an admitted request. */
interface End {
	readonly endMs: number;
	readonly id: string;
	readonly counter: string;
	readonly admittedMs: number;
	readonly tokens: number;
	readonly costNanoUsd: bigint;
	readonly budgets: readonly BudgetPeriod[];
	/** Usage for later estimates; undefined unless the request was successful. */
	readonly observed: { readonly typical: TypicalRequest; readonly outputTokens: number; readonly durationMs: number } | undefined;
}

/** A request that was admitted for a target. */
interface Taken {
	readonly target: Target;
	readonly counter: string;
	/** Undefined for requests that cost nothing. */
	readonly terms: AdmissionTerms | undefined;
}

const endpointsByPath: ReadonlyMap<string, Endpoint> = new Map(endpoints.map((endpoint) => [endpoint.path, endpoint]));

const noHeaders: HeaderFields = {};
const none: readonly never[] = [];

/** Time for which a reservation outlives the end of its request at least, because gateways renew it while the request runs. */
const renewedMs = 30_000;

/** Counters of a team that are not restored yet. */
class MissingCounters extends Error {
	readonly team: string;
	readonly budgets: readonly BudgetPeriod[];

	constructor(team: string, budgets: readonly BudgetPeriod[]) {
		super('the counters of a team are not restored yet');
		this.team = team;
		this.budgets = budgets;
	}
}

/** Requests must come in the order of their start. */
export class RequestReplay {
	readonly #deps: GatewayDeps;
	readonly #ports: RequestReplayPorts;
	readonly #ends = new PendingEnds<End>();

	/** @throws Error if the settings contradict each other. */
	constructor({ guardrails: _recorded, ...settings }: GatewaySettings, ports: RequestReplayPorts) {
		const { teams, clock, admission } = ports;
		this.#deps = assembleDeps(settings, { ...portsWithoutEffect({ teams, clock }), admission });
		this.#ports = ports;
	}

	/** Decides a request under the policy. */
	decide(request: RecordedRequest): Decision | Promise<Decision> {
		return this.#restoring(request, () => this.#decide(request));
	}

	/** Counts a request as it was recorded, without limits, so that the counters of the first decided requests include it. */
	count(request: RecordedRequest): void | Promise<void> {
		return this.#restoring(request, () => this.#count(request));
	}

	/** Runs work at the start of a request, again once counters that it lacks are restored. */
	#restoring<Result>(request: RecordedRequest, work: () => Result): Result | Promise<Result> {
		this.#moveTo(startedMsOf(request.id) ?? 0);
		try {
			return work();
		} catch (cause) {
			if (!(cause instanceof MissingCounters)) throw cause;
			return this.#restored(cause, work);
		}
	}

	async #restored<Result>(missing: MissingCounters, work: () => Result): Promise<Result> {
		for (let cause = missing; ; ) {
			const { team, budgets } = cause;
			const totals = await this.#ports.sumUp(team, budgets);
			const unspent = budgets.map(({ budget, period }) => ({ budget, period, settledNanoUsd: 0n }));
			// Existing totals stay, so zeros come last.
			await this.#ports.admission.restore({ ...totals, budgets: [...totals.budgets, ...unspent] });
			try {
				return work();
			} catch (next) {
				if (!(next instanceof MissingCounters)) throw next;
				cause = next;
			}
		}
	}

	/** Ends the requests that ended until then. */
	#moveTo(nowMs: number): void {
		const { clock } = this.#ports;
		for (let end = this.#ends.takeUntil(nowMs); end !== undefined; end = this.#ends.takeUntil(nowMs)) {
			clock.moveTo(end.endMs);
			this.#end(end);
		}
		clock.moveTo(nowMs);
	}

	#end({ id, counter, admittedMs, tokens, costNanoUsd: cost, budgets, observed }: End): void {
		const { admission } = this.#ports;
		observed?.typical.note(observed.outputTokens, observed.durationMs);
		const settled = admission.settle({ id, team: counter, admittedMs, tokens, costNanoUsd: cost, budgets });
		// Counters that are no longer known belong to a period that no later request counts in.
		if (settled instanceof Promise) settled.catch(() => admission.release(id, counter));
	}

	#decide(request: RecordedRequest): Decision {
		const { settings, ports } = this.#deps;
		const recorded = recordedDecision(request);
		try {
			const team = identifyTeam(clientOf(request), settings, ports.teams);
			const endpoint = endpointsByPath.get(request.endpoint);
			if (endpoint === undefined || isDecidedElsewhere(request, recorded)) return recorded;
			return this.#serve(request, team, routedOf(request, endpoint), recorded);
		} catch (cause) {
			if (cause instanceof Rejection || cause instanceof UpstreamError) return { isServed: false, code: cause.code };
			throw cause;
		}
	}

	/** Tries targets in order, like the inference path, with the recorded result of each. */
	#serve(request: RecordedRequest, team: Team, routed: ReplayedRequest, recorded: Decision): Decision {
		const deps = this.#deps;
		const pinned = this.#pinnedTarget(request);
		const plan = new TargetPlan(routed, (chosen) => divertedAs(request, chooseTargets(chosen, team, deps, pinned)));
		let taken: Taken | undefined;
		for (let target = plan.next(); target !== undefined; target = plan.next()) {
			const tried = target;
			let next: Taken;
			try {
				next = this.#take(request, plan.served, tried, team, taken);
			} catch (cause) {
				if (canSkip(cause, taken !== undefined, plan.isLast(tried), () => isFirstChoice(plan.served, tried, team, deps))) continue;
				if (taken !== undefined || pinned !== undefined || !plan.substitute(cause)) throw cause;
				continue;
			}
			taken = next;
			if (!hasFailed(request, tried)) break;
		}
		if (taken === undefined) throw new Error('routing named no target');
		return this.#served(request, taken, recorded.isServed);
	}

	#pinnedTarget({ routing: { isPinned }, provider, model }: RecordedRequest): Target | undefined {
		if (!isPinned || provider === null || model === null) return undefined;
		const target = this.#deps.routing.targetOf({ provider, model });
		if (target === undefined) throw new Rejection('response_not_found');
		return target;
	}

	/** @param before target that failed, whose reservation stays. */
	#take(request: RecordedRequest, routed: ReplayedRequest, target: Target, team: Team, before: Taken | undefined): Taken {
		const { endpoint } = routed;
		const targeted = this.#targeted(request, routed, target, team);
		if (endpoint.bills !== 'usage') return before ?? this.#admitFree(request, endpoint.bills, target, team);
		const terms = this.#termsOf(request, targeted, team);
		if (before === undefined) this.#admit(request, team.id, terms);
		return { target, counter: team.id, terms };
	}

	#targeted(request: RecordedRequest, routed: ReplayedRequest, target: Target, team: Team): TargetedRequest {
		const deps = this.#deps;
		const provider = providerOf(target, deps);
		const hasCap = request.size?.hasOwnCap === true;
		const { knownAs, maxOutputTokens, defaultCapTokens } = readModel(target, team.id, hasCap, deps);
		const isEstimated = routed.endpoint.estimateFor(provider) !== undefined;
		const dialect = isEstimated ? routed.format.name : servedDialect(routed, provider, target, deps);
		const providerFormat = dialect === routed.format.name ? routed.format : dialects[dialect];
		const { isStreaming } = request;
		return { target, provider, knownAs, maxOutputTokens, defaultCapTokens, providerFormat, isStreaming, substitution: routed.substitution };
	}

	#termsOf(request: RecordedRequest, targeted: TargetedRequest, team: Team): AdmissionTerms {
		const { clientId, attributes } = request;
		const sender = { team, clientId, attributes };
		const isTranslated = targeted.providerFormat.name !== endpointsByPath.get(request.endpoint)?.dialect.name;
		const size = sizeFor(request, isTranslated, targeted.defaultCapTokens);
		return resolveAdmissionTerms(targeted, size, sender, this.#ports.clock.nowMs(), this.#deps);
	}

	/** @throws LimitRejection; MissingCounters. */
	#admit({ id, durationMs }: RecordedRequest, counter: string, requested: RequestedLimits): void {
		const { terms, reservations, reservedTokens } = requested;
		const reservationMs = Math.max(reservationMsOf(this.#deps), durationMs + renewedMs);
		const { limits } = terms;
		const admission = this.#ports.admission.admit({ id, team: counter, limits, reservedTokens, reservations, reservationMs });
		if (admission instanceof Promise) {
			admission.catch(() => undefined);
			throw new MissingCounters(counter, reservations);
		}
		if (!admission.isAdmitted) throw rejectionOf(admission, requested);
	}

	#admitFree(request: RecordedRequest, limit: OwnLimit, target: Target, team: Team): Taken {
		const { name, limits } = freeLimits(limit, team, target.model, this.#deps);
		this.#admit(request, name, limits);
		return { target, counter: name, terms: undefined };
	}

	/** @param wasServed false: usage and duration are not recorded, so they are those of similar requests. */
	#served(request: RecordedRequest, taken: Taken, wasServed: boolean): ServedDecision {
		const { provider, model } = taken.target;
		const { terms } = taken;
		if (terms === undefined) {
			this.#endLater(request, taken, noUsage, 0n, request.durationMs);
			return { isServed: true, provider, model, isOutputCapped: false, costNanoUsd: 0n };
		}
		const usage = wasServed ? (request.usage ?? noUsage) : typicalUsage(terms);
		const cost = costNanoUsd(usage, terms.priced.price);
		this.#endLater(request, taken, usage, cost, wasServed ? request.durationMs : terms.typical.durationMs);
		return { isServed: true, provider, model, isOutputCapped: terms.need.isOutputCapped, costNanoUsd: cost };
	}

	#endLater({ id, outcome, status }: RecordedRequest, { counter, terms }: Taken, usage: Usage, cost: bigint, durationMs: number): void {
		const nowMs = this.#ports.clock.nowMs();
		const isObserved = terms !== undefined && outcome === 'complete' && status < 400;
		this.#ends.add({
			endMs: nowMs + durationMs,
			id,
			counter,
			admittedMs: nowMs,
			tokens: totalTokens(usage),
			costNanoUsd: cost,
			budgets: terms?.reservations ?? none,
			observed: isObserved ? { typical: terms.typical, outputTokens: usage.outputTokens / terms.need.choices, durationMs } : undefined,
		});
	}

	#count(request: RecordedRequest): void {
		const { provider, model, usage, costNanoUsd: cost } = request;
		const endpoint = endpointsByPath.get(request.endpoint);
		if (usage === null || endpoint?.bills !== 'usage' || provider === null || model === null) return;
		const { settings, ports, routing } = this.#deps;
		const target = routing.targetOf({ provider, model });
		if (target === undefined) return;
		try {
			const team = identifyTeam(clientOf(request), settings, ports.teams);
			const targeted = this.#targeted(request, routedOf(request, endpoint), target, team);
			const terms = unlimited(this.#termsOf(request, targeted, team));
			this.#admit(request, team.id, terms);
			this.#endLater(request, { target, counter: team.id, terms }, usage, cost ?? 0n, request.durationMs);
		} catch (cause) {
			// The policy has no terms for the request, such as a price.
			if (!(cause instanceof Rejection || cause instanceof UpstreamError)) throw cause;
		}
	}
}

function clientOf({ clientId, team, isTeamByRule }: RecordedRequest): IdentifiedClient {
	return isTeamByRule ? { clientId, grant: { team } } : { clientId };
}

function routedOf({ id, modelRequested, routing: { session, providerHeader } }: RecordedRequest, endpoint: Endpoint): ReplayedRequest {
	return {
		endpoint,
		format: endpoint.dialect,
		model: modelRequested ?? '',
		session: session ?? undefined,
		request: { id, headers: providerHeader === null ? noHeaders : { 'x-gateway-provider': providerHeader } },
		substitution: undefined,
	};
}

/** Moves the first target that was tried to the front, as its health did. */
function divertedAs({ routing, targets, provider, model }: RecordedRequest, chosen: Targets): Targets {
	if (!routing.isDiverted) return chosen;
	const { provider: firstProvider = provider, model: firstModel = model } = targets[0] ?? {};
	const first = chosen.find((target) => target.provider === firstProvider && target.model === firstModel);
	return first === undefined ? chosen : [first, ...chosen.filter((target) => target !== first)];
}

/** Returns true if the last attempt at a target allowed the next one. A target that was not tried is assumed to serve. */
function hasFailed({ targets }: RecordedRequest, { provider, model }: Target): boolean {
	const last = targets.findLast((attempt) => attempt.provider === provider && attempt.model === model);
	return last !== undefined && couldFailOver(last);
}

/** Returns the recorded size, with the output limit that a translation would write by this policy. */
function sizeFor({ size, requestBytes }: RecordedRequest, isTranslated: boolean, defaultCapTokens: number | undefined): RequestSize {
	if (size === null) return unmeasuredSize(requestBytes);
	if (size.hasOwnCap) return size;
	const capTokens = isTranslated ? (defaultCapTokens ?? size.capTokens) : null;
	return capTokens === size.capTokens ? size : { ...size, capTokens };
}

const bytesPerToken = 4;

function unmeasuredSize(requestBytes: number): RequestSize {
	return { ...unmeasured, writtenTokens: Math.max(1, Math.ceil(requestBytes / bytesPerToken)), boundTokens: requestBytes };
}

/** Size of requests that earlier releases recorded. */
const unmeasured: Omit<RequestSize, 'writtenTokens' | 'boundTokens'> = {
	contextWindows: 0,
	prompts: 1,
	capTokens: null,
	hasOwnCap: false,
	choices: 1,
	defaultTokens: null,
	cacheWrites: 'short',
	hasHostedTools: false,
	maxToolCalls: null,
	surchargedField: null,
	requestsThinking: null,
	isBackground: false,
};

function typicalUsage({ need, typical }: AdmissionTerms): Usage {
	const outputTokens = Math.min(Math.ceil(typical.outputTokens * need.choices), need.allowedOutputTokens);
	return { ...noUsage, inputTokens: need.estimatedInputTokens, outputTokens };
}

/** Returns the terms without limits: the request counts, and nothing rejects it. */
function unlimited(terms: AdmissionTerms): AdmissionTerms {
	return {
		...terms,
		terms: { ...terms.terms, limits: terms.terms.limits.map((limit) => ({ ...limit, limit: null })) },
		reservations: terms.reservations.map((reservation) => ({ ...reservation, limitNanoUsd: noLimitNanoUsd, check: 'before' })),
	};
}
