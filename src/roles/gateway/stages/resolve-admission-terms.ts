/** Resolves what a request needs of limits and budgets, from numbers alone: of a request that is served, explained or replayed. */
import type { RequestSize } from '../../../core/cost-factors.ts';
import type { Rejected } from '../../../core/counters.ts';
import type { Price } from '../../../core/price.ts';
import { Rejection } from '../../../core/rejection.ts';
import { dearestCallsNanoUsd, plainCostNanoUsd, worstCaseNanoUsd } from '../../../policy/budgets/cost.ts';
import { estimatedOutputTokens, inputTokensFor, maxServerToolCalls, serverToolRounds } from '../../../policy/budgets/estimate.ts';
import { canHideReasoning } from '../../../policy/budgets/hidden-reasoning.ts';
import { capFor, outputTokenLimitOf } from '../../../policy/budgets/model-output-limits.ts';
import type { PricedAs } from '../../../policy/budgets/price-resolver.ts';
import { type LimitRejection, toLimitRejection } from '../../../policy/limits/limit-rejection.ts';
import { type ReservedPart, reservationsOn } from '../../../policy/limits/request-limits.ts';
import type { TypicalRequest } from '../../../policy/limits/typical-requests.ts';
import { periodOf } from '../../../policy/limits/utc-time.ts';
import type { BudgetReservation } from '../../../stores/contracts/admission.ts';
import type { Provider } from '../../../wire/providers/provider.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { admittedTokens } from '../stream-reservation.ts';
import type { PreparedRequest } from './prepare-request.ts';
import type { CheckedLimits } from './report-exceeded.ts';
import { nameInReports } from './reported-name.ts';
import { hasEnforced, type Sender, termsForRequest } from './terms-for-request.ts';

const none: readonly never[] = [];

export interface AdmissionTerms extends RequestedLimits {
	/** Time of the decision, Unix milliseconds. */
	readonly nowMs: number;
	readonly priced: PricedAs;
	/** Model name in the ledger. */
	readonly reportedModel: string;
	readonly need: Need;
	/** True for a stream that stops when its budgets are exhausted. */
	readonly isStoppable: boolean;
}

/** A request and its target, without its content. */
export interface TargetedRequest
	extends Pick<
		PreparedRequest,
		'target' | 'knownAs' | 'maxOutputTokens' | 'defaultCapTokens' | 'isStreaming' | 'substitution' | 'providerFormat'
	> {
	readonly provider: Pick<Provider, 'name' | 'kind'>;
}

/** Limits that a request needs. */
export interface RequestedLimits extends CheckedLimits {
	readonly typical: TypicalRequest;
}

/** Determines limits, price and reservation of a request without reserving anything. @throws `Rejection` `model_unpriced`, `field_invalid`. */
export function resolveAdmissionTerms(
	targeted: TargetedRequest,
	size: RequestSize,
	sender: Sender,
	nowMs: number,
	deps: GatewayDeps,
): AdmissionTerms {
	const { settings } = deps;
	const { team } = sender;
	const listed = deps.prices.listedModel(targeted.provider.kind, targeted.knownAs);
	const terms = termsForRequest(targeted, sender, listed, nowMs, deps);
	const reportedModel = nameInReports(targeted, team, periodOf(nowMs), listed, terms, deps);
	const priced = findPrice(targeted, reportedModel, nowMs, deps);
	const { price } = priced;
	const isWorstCase = settings.budgets.reservation === 'worst_case';
	if (isWorstCase && hasEnforced(terms.budgets)) requireListPrice(targeted, size, priced);
	const need = needOf(targeted, size, price, isWorstCase);
	const canStop = targeted.isStreaming && !size.isBackground;
	const isStoppable = hasEnforced(terms.budgets) && !isWorstCase && canStop && settings.budgets.onStreamOver === 'stop';
	const part = isStoppable
		? firstPart(targeted, size, need, price, deps)
		: { amountNanoUsd: need.amountNanoUsd, check: checkOf(isWorstCase) };
	const reservations: readonly BudgetReservation[] = terms.budgets.length === 0 ? none : reservationsOn(terms.budgets, part);
	const typical = deps.work.typical.of(team.id, targeted.target.model);
	const reservedTokens = typical.estimateTokens(need.estimatedInputTokens, need.choices, need.allowedOutputTokens);
	return { nowMs, terms, priced, reportedModel, need, reservations, reservedTokens, typical, isStoppable };
}

function checkOf(shouldFit: boolean): 'after' | 'before' {
	return shouldFit ? 'after' : 'before';
}

/**
 * Returns the initial reservation of a stoppable stream, which grows later. With hidden reasoning, the time to grow it is unknown, so the
 * full amount is reserved.
 */
function firstPart(targeted: TargetedRequest, size: RequestSize, need: Need, price: Price, deps: GatewayDeps): ReservedPart {
	const { inputTokens, outputTokens, choices } = need;
	const costOf = (tokensOfChoice: number): bigint => plainCostNanoUsd(inputTokens, Math.min(tokensOfChoice * choices, outputTokens), price);
	const amountNanoUsd = hasHiddenReasoning(targeted, size, deps) ? need.amountNanoUsd : costOf(admittedTokens.first);
	return { amountNanoUsd, check: 'fit', minNanoUsd: costOf(admittedTokens.min) };
}

/** Reduces the reservation of a stoppable stream to the minimum, from which it grows. */
export function withLeast(reservation: BudgetReservation): BudgetReservation {
	return reservation.check === 'fit' ? { ...reservation, amountNanoUsd: reservation.minNanoUsd ?? 0n, check: 'after' } : reservation;
}

function findPrice(
	{ target, provider, knownAs }: TargetedRequest,
	reportedModel: string,
	nowMs: number,
	{ prices, ports, settings }: GatewayDeps,
): PricedAs {
	const priced = prices.priceOf(provider, target.model, nowMs, knownAs);
	if (priced?.isUnknown !== false && reportedModel === target.model) ports.unpriced.note(target, settings.budgets.unknownPrice, ports.log);
	if (priced !== undefined) return priced;
	throw new Rejection('model_unpriced', {
		param: 'model',
		message: `The model \`${target.model}\` of ${target.provider} has no price, and \`budgets.unknown_price\` is \`reject\`: use another model`,
	});
}

/**
 * Rejects fields with a surcharge over the list price, which could cost more than the reservation. A price override is assumed to include
 * it.
 */
function requireListPrice({ target }: TargetedRequest, { surchargedField: field }: RequestSize, { overrides }: PricedAs): void {
	if (field === null || overrides !== undefined) return;
	throw new Rejection('field_invalid', {
		param: field,
		message: `\`${field}\` selects an option that costs more than the list price of \`${target.model}\`, which \`budgets.reservation: worst_case\` does not allow: omit it`,
	});
}

export function rejectionOf(rejected: Rejected, { terms, reservations, typical }: RequestedLimits): LimitRejection {
	const [first] = reservations.map(withLeast);
	const check = checkOf(first?.check === 'after');
	const budgets = terms.budgets.map((budget) => ({ ...budget, amountNanoUsd: first?.amountNanoUsd ?? 0n, check }));
	return toLimitRejection(rejected, { limits: terms.limits, budgets, typicalMs: typical.durationMs });
}

export interface Need {
	readonly amountNanoUsd: bigint;
	/** Estimate of the provider's own count. */
	readonly estimatedInputTokens: number;
	/** Input tokens that the reservation covers. */
	readonly inputTokens: number;
	/** True if the provider may run tools that it charges by the call. */
	readonly hasHostedTools: boolean;
	readonly outputTokens: number;
	/** Maximum output tokens over all choices. */
	readonly maxOutputTokens: number;
	/** Maximum output tokens by the request's own cap. */
	readonly allowedOutputTokens: number;
	readonly choices: number;
	/** Output cap of one choice, which the gateway sets if `isOutputCapped`. */
	readonly capTokens: number;
	readonly isOutputCapped: boolean;
	/** True if the gateway limits the calls of tools that the provider runs. */
	readonly areCallsCapped: boolean;
}

/** Computes the reservation. The worst case needs an output cap, so one is added to the request. A default cap is added in either mode. */
function needOf(
	{ providerFormat, knownAs, maxOutputTokens, defaultCapTokens }: TargetedRequest,
	size: RequestSize,
	price: Price,
	isWorstCase: boolean,
): Need {
	const { capTokens, choices, defaultTokens, cacheWrites, hasHostedTools, maxToolCalls } = size;
	const { estimatedTokens, highestTokens } = inputTokensFor(size, knownAs);
	const requested = capTokens ?? defaultCapTokens ?? defaultTokens ?? undefined;
	const max = outputTokenLimitOf(knownAs, maxOutputTokens);
	const cap = capFor(knownAs, requested, maxOutputTokens);
	const allowedOutputTokens = cap.tokens * choices;
	const inputTokens = isWorstCase ? highestTokens : estimatedTokens;
	const outputTokens = isWorstCase ? allowedOutputTokens : estimatedOutputTokens(Math.min(requested ?? max, max), choices);
	// A translation already includes the default, if the provider's format has a field for it.
	const lacksCap = capTokens === null ? isWorstCase || defaultCapTokens !== undefined : isWorstCase && cap.shouldWrite;
	const tokensNanoUsd = isWorstCase
		? worstCaseNanoUsd(inputTokens, outputTokens, price, cacheWrites)
		: plainCostNanoUsd(inputTokens, outputTokens, price);
	const canCapCalls = providerFormat.toolCallCap !== undefined;
	const areCallsCapped = hasHostedTools && isWorstCase && canCapCalls && (maxToolCalls ?? Infinity) > maxServerToolCalls;
	const highestCalls = canCapCalls ? Math.min(maxToolCalls ?? maxServerToolCalls, maxServerToolCalls) : serverToolRounds;
	const calls = hasHostedTools ? (isWorstCase ? highestCalls : 1) : 0;
	return {
		amountNanoUsd: calls === 0 ? tokensNanoUsd : tokensNanoUsd + dearestCallsNanoUsd(calls, price),
		estimatedInputTokens: estimatedTokens,
		inputTokens,
		hasHostedTools,
		outputTokens,
		maxOutputTokens: max * choices,
		allowedOutputTokens,
		choices,
		capTokens: cap.tokens,
		isOutputCapped: lacksCap,
		areCallsCapped,
	};
}

export function hasHiddenReasoning(
	{ provider, knownAs, target }: Pick<TargetedRequest, 'provider' | 'knownAs' | 'target'>,
	{ requestsThinking }: Pick<RequestSize, 'requestsThinking'>,
	{ modelCapabilities }: GatewayDeps,
): boolean {
	const { thinking } = modelCapabilities.of(target);
	return canHideReasoning({ kind: provider.kind, knownAs, thinking, requested: requestsThinking ?? undefined });
}
