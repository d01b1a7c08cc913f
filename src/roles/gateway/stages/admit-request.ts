import { attributesText } from '../../../core/attributes.ts';
import type { InputContent } from '../../../core/cost-factors.ts';
import type { Admission, Rejected } from '../../../core/counters.ts';
import type { Price } from '../../../core/price.ts';
import { Rejection } from '../../../core/rejection.ts';
import type { Team } from '../../../core/team.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';
import { dearestCallsNanoUsd, plainCostNanoUsd, surchargedField, worstCaseNanoUsd } from '../../../policy/budgets/cost.ts';
import { estimatedOutputTokens, maxServerToolCalls, measureInput, serverToolRounds } from '../../../policy/budgets/estimate.ts';
import { canHideReasoning } from '../../../policy/budgets/hidden-reasoning.ts';
import { capFor, outputTokenLimitOf } from '../../../policy/budgets/model-output-limits.ts';
import type { PricedAs } from '../../../policy/budgets/price-resolver.ts';
import { type LimitRejection, toLimitRejection } from '../../../policy/limits/limit-rejection.ts';
import { type ReservedPart, reservationsOn } from '../../../policy/limits/request-limits.ts';
import type { BudgetTerms } from '../../../policy/limits/terms-resolver.ts';
import type { TypicalRequest } from '../../../policy/limits/typical-requests.ts';
import { periodOf } from '../../../policy/limits/utc-time.ts';
import { type BudgetReservation, budgetKey, CountersUnreachable, type MaybePromise } from '../../../stores/contracts/admission.ts';
import type { OpenEntry } from '../../../stores/contracts/ledger.ts';
import type { Edit } from '../../../wire/json/splice-body.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { BilledPermit, type PermitSettings } from '../request-scope/billed-permit.ts';
import type { RequestRecorder } from '../request-scope/request-recorder.ts';
import type { RequestScope } from '../request-scope/request-scope.ts';
import { admittedTokens } from '../stream-reservation.ts';
import type { PreparedRequest } from './prepare-request.ts';
import { runsInBackground } from './read-inference-request.ts';
import { type CheckedLimits, reportExceeded } from './report-exceeded.ts';
import { nameInReports } from './reported-name.ts';
import { hasEnforced, type Sender, termsForRequest } from './terms-for-request.ts';

/** Time to settle a request after its maximum duration. */
const bookingMs = 30_000;
const reservationLimitMs = 24 * 3_600_000;

const none: readonly never[] = [];

/**
 * Reserves everything the request needs of its team's limits and budgets, in one step, and opens its ledger entry. After a failover it
 * remains the same request, but price, budgets and caps of the new model are checked again.
 * @param before permit of the previous target, which is transferred if this succeeds.
 * @throws LimitRejection; `Rejection` `model_unpriced`, `field_invalid`, `budget_exceeded`; `UpstreamError` `records_unavailable`; the reason of an abort.
 */
export function admitRequest(
	inferenceRequest: PreparedRequest,
	team: Team,
	scope: RequestScope,
	deps: GatewayDeps,
	before?: BilledPermit,
): BilledPermit | Promise<BilledPermit> {
	const { ports } = deps;
	const { recorder } = scope;
	const nowMs = before?.terms.entry.startedMs ?? ports.clock.nowMs();
	const { clientId = '', attributes } = recorder.record;
	const admission = resolveAdmissionTerms(inferenceRequest, { team, clientId, attributes }, nowMs, deps);
	recorder.warn(admissionWarnings(admission, deps));
	if (admission.priced.isUnknown) recorder.admitUnpriced();
	const entry = rowOf(inferenceRequest, team, recorder, admission);
	const permitTerms = permitTermsOf(inferenceRequest, entry, admission, before, deps);
	const taking =
		before === undefined
			? takeLimits(entry, admission, permitTerms.reservationMs, recorder, deps)
			: takeOver(before, entry, admission.reservations, deps);
	const go = ({ reservedNanoUsd }: Taken): BilledPermit | Promise<BilledPermit> => {
		const stopsAtNanoUsd = admission.isStoppable ? (reservedNanoUsd ?? admission.need.amountNanoUsd) : undefined;
		return new BilledPermit(stopsAtNanoUsd === undefined ? permitTerms : { ...permitTerms, stopsAtNanoUsd }, scope, deps).open();
	};
	return taking instanceof Promise ? taking.then(go) : go(taking);
}

function rowOf(
	{ request, endpoint, target, format, isStreaming }: PreparedRequest,
	{ id: team }: Team,
	{ record }: RequestRecorder,
	admission: AdmissionTerms,
): OpenEntry {
	return {
		id: request.id,
		startedMs: admission.nowMs,
		team,
		clientId: record.clientId ?? '',
		provider: target.provider,
		model: admission.reportedModel,
		dialect: format.name,
		isStreaming,
		priceVersion: admission.priced.price.version,
		reservedNanoUsd: admission.need.amountNanoUsd,
		budgets: namesOf(admission.terms.budgets),
		endpoint: endpoint.path,
		attributes: record.attributes === undefined ? '' : attributesText(record.attributes),
	};
}

/** Returns the lifetime of a reservation. Streams can take longer, because theirs is renewed. */
function reservationMsOf({ settings: { timeouts } }: GatewayDeps): number {
	return Math.min(Math.max(timeouts.totalMs, timeouts.firstByteMs) + bookingMs, reservationLimitMs);
}

function permitTermsOf(
	inferenceRequest: PreparedRequest,
	entry: OpenEntry,
	{ terms, priced, need, reservations, typical, usageEdits }: AdmissionTerms,
	before: BilledPermit | undefined,
	deps: GatewayDeps,
): PermitSettings {
	return {
		entry,
		earlierTargets: before === undefined ? 0 : before.terms.earlierTargets + 1,
		price: priced.price,
		budgets: terms.budgets,
		reservations,
		reservationMs: reservationMsOf(deps),
		stopsAtNanoUsd: undefined,
		inputTokens: need.inputTokens,
		outputTokens: need.outputTokens,
		maxOutputTokens: need.maxOutputTokens,
		allowedOutputTokens: need.allowedOutputTokens,
		choices: need.choices,
		typical,
		capEdits: need.capEdits,
		isUsageInjected: usageEdits.length > 0,
		usageEdits,
		reader: inferenceRequest.providerFormat.usage,
		hasHostedTools: need.hasHostedTools,
		canHideReasoning: hasHiddenReasoning(inferenceRequest, deps),
		isBackground: runsInBackground(inferenceRequest),
	};
}

function hasHiddenReasoning(
	{ provider, providerFormat, knownAs, target, outgoing }: PreparedRequest,
	{ modelCapabilities }: GatewayDeps,
): boolean {
	const { thinking } = modelCapabilities.of(target);
	return canHideReasoning({ kind: provider.kind, knownAs, thinking, requested: providerFormat.requestsThinking(outgoing.members) });
}

export interface AdmissionTerms extends RequestedLimits {
	/** Time of the decision, Unix milliseconds. */
	readonly nowMs: number;
	readonly priced: PricedAs;
	/** Model name in the ledger. */
	readonly reportedModel: string;
	readonly need: Need;
	readonly usageEdits: readonly Edit[];
	/** True for a stream that stops when its budgets are exhausted. */
	readonly isStoppable: boolean;
}

function namesOf(budgets: readonly BudgetTerms[]): readonly string[] {
	if (budgets.length === 0) return none;
	const names = budgets.map(({ ledgerName }) => ledgerName);
	return names.length === 1 ? names : [...new Set(names)];
}

/** Determines limits, price and reservation of a request without reserving anything. @throws `Rejection` `model_unpriced`, `field_invalid`. */
export function resolveAdmissionTerms(inferenceRequest: PreparedRequest, sender: Sender, nowMs: number, deps: GatewayDeps): AdmissionTerms {
	const { settings } = deps;
	const { team } = sender;
	const listed = deps.prices.listedModel(inferenceRequest.provider.kind, inferenceRequest.knownAs);
	const terms = termsForRequest(inferenceRequest, sender, listed, nowMs, deps);
	const reportedModel = nameInReports(inferenceRequest, team, periodOf(nowMs), listed, terms, deps);
	const priced = findPrice(inferenceRequest, reportedModel, nowMs, deps);
	const { price } = priced;
	const isWorstCase = settings.budgets.reservation === 'worst_case';
	if (isWorstCase && hasEnforced(terms.budgets)) requireListPrice(inferenceRequest, priced);
	const need = needOf(inferenceRequest, price, isWorstCase);
	const canStop = inferenceRequest.isStreaming && !runsInBackground(inferenceRequest);
	const isStoppable = hasEnforced(terms.budgets) && !isWorstCase && canStop && settings.budgets.onStreamOver === 'stop';
	const part = isStoppable
		? firstPart(inferenceRequest, need, price, deps)
		: { amountNanoUsd: need.amountNanoUsd, check: checkOf(isWorstCase) };
	const reservations: readonly BudgetReservation[] = terms.budgets.length === 0 ? none : reservationsOn(terms.budgets, part);
	const usageEdits = inferenceRequest.provider.requestsStreamUsage
		? inferenceRequest.providerFormat.requestUsage(inferenceRequest.outgoing)
		: none;
	const typical = deps.work.typical.of(team.id, inferenceRequest.target.model);
	const reservedTokens = typical.estimateTokens(need.estimatedInputTokens, need.choices, need.allowedOutputTokens);
	return { nowMs, terms, priced, reportedModel, need, reservations, reservedTokens, typical, usageEdits, isStoppable };
}

function checkOf(shouldFit: boolean): 'after' | 'before' {
	return shouldFit ? 'after' : 'before';
}

/**
 * Returns the initial reservation of a stoppable stream, which grows later. With hidden reasoning, the time to grow it is unknown, so the
 * full amount is reserved.
 */
function firstPart(inferenceRequest: PreparedRequest, need: Need, price: Price, deps: GatewayDeps): ReservedPart {
	const { inputTokens, outputTokens, choices } = need;
	const costOf = (tokensOfChoice: number): bigint => plainCostNanoUsd(inputTokens, Math.min(tokensOfChoice * choices, outputTokens), price);
	const amountNanoUsd = hasHiddenReasoning(inferenceRequest, deps) ? need.amountNanoUsd : costOf(admittedTokens.first);
	return { amountNanoUsd, check: 'fit', minNanoUsd: costOf(admittedTokens.min) };
}

/** Reserves the amount for the next target, in addition to the possible cost of the previous one, before that is settled. */
async function takeOver(
	before: BilledPermit,
	{ id, team }: OpenEntry,
	reservations: readonly BudgetReservation[],
	{ ports }: GatewayDeps,
): Promise<Taken> {
	const { owedNanoUsd } = before;
	const shared = new Set(before.terms.reservations.map(budgetKey));
	const min = reservations.map(withLeast);
	const wanted = min.map((reservation) =>
		shared.has(budgetKey(reservation)) ? { ...reservation, amountNanoUsd: reservation.amountNanoUsd + owedNanoUsd } : reservation,
	);
	const isReserved = wanted.length === 0 || (await ports.admission.extend(id, team, wanted).catch(unlessUnreachable));
	if (!isReserved) throw new Rejection('budget_exceeded', { message: 'The budget does not allow the next target' });
	await before.transferReservation();
	return { reservedNanoUsd: min[0]?.amountNanoUsd };
}

/** Reduces the reservation of a stoppable stream to the minimum, from which it grows. */
function withLeast(reservation: BudgetReservation): BudgetReservation {
	return reservation.check === 'fit' ? { ...reservation, amountNanoUsd: reservation.minNanoUsd ?? 0n, check: 'after' } : reservation;
}

function findPrice(
	{ target, provider, knownAs }: PreparedRequest,
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
function requireListPrice({ outgoing, providerFormat, target }: PreparedRequest, { overrides }: PricedAs): void {
	const field = overrides === undefined ? surchargedField(outgoing.members, providerFormat.surcharges) : undefined;
	if (field === undefined) return;
	throw new Rejection('field_invalid', {
		param: field,
		message: `\`${field}\` selects an option that costs more than the list price of \`${target.model}\`, which \`budgets.reservation: worst_case\` does not allow: omit it`,
	});
}

/** Limits that a request needs. */
export interface RequestedLimits extends CheckedLimits {
	readonly typical: TypicalRequest;
}

/** Result of an admission. */
export interface Taken {
	/** Amount reserved in each budget, if it can be less than requested. */
	readonly reservedNanoUsd: bigint | undefined;
}

/** @throws LimitRejection; UpstreamError `records_unavailable`. */
export function takeLimits(
	{ id, team }: Pick<OpenEntry, 'id' | 'team'>,
	requested: RequestedLimits,
	reservationMs: number,
	recorder: RequestRecorder,
	deps: GatewayDeps,
): MaybePromise<Taken> {
	const { reservedTokens, reservations } = requested;
	const { limits } = requested.terms;
	const admission = deps.ports.admission.admit({ id, team, limits, reservedTokens, reservations, reservationMs });
	if (admission instanceof Promise) {
		return admission.then((known) => requireAdmitted(known, team, requested, recorder, deps), unlessUnreachable);
	}
	return requireAdmitted(admission, team, requested, recorder, deps);
}

/** @throws LimitRejection. */
function requireAdmitted(
	admission: Admission,
	team: string,
	requested: RequestedLimits,
	recorder: RequestRecorder,
	deps: GatewayDeps,
): Taken {
	const isUncounted = admission.isAdmitted && admission.isUncounted === true;
	if (isUncounted) recorder.admitUncounted();
	else recorder.limits = { rates: requested.terms.limits, reading: admission.reading };
	if (!admission.isAdmitted) {
		const rejection = rejectionOf(admission, requested);
		deps.exhausted.note(team, admission, rejection, requested.terms.budgets);
		throw rejection;
	}
	if (!isUncounted) reportExceeded(admission.reading, requested, admission.reservedNanoUsd, recorder, deps);
	return { reservedNanoUsd: admission.reservedNanoUsd };
}

export function rejectionOf(rejected: Rejected, { terms, reservations, typical }: RequestedLimits): LimitRejection {
	const [first] = reservations.map(withLeast);
	const check = checkOf(first?.check === 'after');
	const budgets = terms.budgets.map((budget) => ({ ...budget, amountNanoUsd: first?.amountNanoUsd ?? 0n, check }));
	return toLimitRejection(rejected, { limits: terms.limits, budgets, typicalMs: typical.durationMs });
}

/** Only counters that are restored from the ledger can be unreachable; shared ones have a fallback. */
export function unlessUnreachable(cause: unknown): never {
	throw cause instanceof CountersUnreachable ? new UpstreamError('records_unavailable', { cause }) : cause;
}

/** Lists warnings for the client. */
export function admissionWarnings({ need, priced }: AdmissionTerms, { settings }: Pick<GatewayDeps, 'settings'>): readonly string[] {
	if (need.capEdits.length === 0 && !priced.isUnknown) return none;
	const warnings: string[] = [];
	if (need.isOutputCapped) warnings.push(`the output is capped at ${need.capTokens} tokens, for a budget`);
	if (need.areCallsCapped) warnings.push(`max_tool_calls: limited to ${maxServerToolCalls}, for a budget`);
	if (priced.isUnknown) {
		const rate = settings.budgets.unknownPrice === 'default_rate' ? 'budgets.default_rate' : '$0';
		warnings.push(`model: has no price, its cost is recorded at ${rate}`);
	}
	return warnings;
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
	/** Output cap of one choice, if the gateway sets it. */
	readonly capTokens?: number;
	readonly isOutputCapped: boolean;
	/** True if the gateway limits the calls of tools that the provider runs. */
	readonly areCallsCapped: boolean;
	/** Edits for both caps. */
	readonly capEdits: readonly Edit[];
}

/** Stored input counts as an attachment: the request does not show its size either. */
function contentOf({ format, body: { members }, stateMode }: PreparedRequest): InputContent {
	const content = format.inputContent(members);
	const hasStoredInput = stateMode !== 'off' && format.state?.references(members).some(({ isStored }) => isStored) === true;
	return hasStoredInput ? { ...content, attachments: content.attachments + 1 } : content;
}

/** Computes the reservation. The worst case needs an output cap, so one is added to the request. A default cap is added in either mode. */
function needOf(inferenceRequest: PreparedRequest, price: Price, isWorstCase: boolean): Need {
	const { outgoing, providerFormat, knownAs, maxOutputTokens, defaultCapTokens } = inferenceRequest;
	const content = contentOf(inferenceRequest);
	const hasHostedTools = content.serverTools > 0;
	// Measures the sent bytes. The client's dialect is the one that identifies their content.
	const { estimatedTokens, highestTokens } = measureInput(outgoing, content, knownAs);
	const { capTokens, choices, defaultTokens } = providerFormat.requestedOutput(outgoing.members);
	const requested = capTokens ?? defaultCapTokens ?? defaultTokens;
	const max = outputTokenLimitOf(knownAs, maxOutputTokens);
	const cap = capFor(knownAs, requested, maxOutputTokens);
	const allowedOutputTokens = cap.tokens * choices;
	const inputTokens = isWorstCase ? highestTokens : estimatedTokens;
	const outputTokens = isWorstCase ? allowedOutputTokens : estimatedOutputTokens(Math.min(requested ?? max, max), choices);
	// A translation already includes the default, if the provider's format has a field for it.
	const lacksCap = capTokens === undefined ? isWorstCase || defaultCapTokens !== undefined : isWorstCase && cap.shouldWrite;
	const tokensNanoUsd = isWorstCase
		? worstCaseNanoUsd(inputTokens, outputTokens, price, providerFormat.cacheWrites(outgoing.bytes))
		: plainCostNanoUsd(inputTokens, outputTokens, price);
	const outputEdits = lacksCap ? providerFormat.writeCap(outgoing, cap.tokens) : none;
	const { toolCallCap } = providerFormat;
	const wantedCalls = toolCallCap?.requested(outgoing.members);
	const areCallsCapped = hasHostedTools && isWorstCase && toolCallCap !== undefined && (wantedCalls ?? Infinity) > maxServerToolCalls;
	const highestCalls = toolCallCap === undefined ? serverToolRounds : Math.min(wantedCalls ?? maxServerToolCalls, maxServerToolCalls);
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
		capEdits: areCallsCapped ? [...outputEdits, ...toolCallCap.write(outgoing, maxServerToolCalls)] : outputEdits,
	};
}
