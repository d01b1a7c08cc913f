import { attributesText } from '../../../core/attributes.ts';
import type { RequestSize } from '../../../core/cost-factors.ts';
import type { Admission } from '../../../core/counters.ts';
import { Rejection } from '../../../core/rejection.ts';
import type { Team } from '../../../core/team.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';
import { maxServerToolCalls } from '../../../policy/budgets/estimate.ts';
import type { BudgetTerms } from '../../../policy/limits/terms-resolver.ts';
import { type BudgetReservation, budgetKey, CountersUnreachable, type MaybePromise } from '../../../stores/contracts/admission.ts';
import type { OpenEntry } from '../../../stores/contracts/ledger.ts';
import type { Edit } from '../../../wire/json/splice-body.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { BilledPermit, type PermitSettings } from '../request-scope/billed-permit.ts';
import type { BodyEdits } from '../request-scope/permit.ts';
import type { RequestRecorder } from '../request-scope/request-recorder.ts';
import type { RequestScope } from '../request-scope/request-scope.ts';
import type { PreparedRequest } from './prepare-request.ts';
import { reportExceeded } from './report-exceeded.ts';
import { sizeOfPrepared } from './request-size.ts';
import {
	type AdmissionTerms,
	hasHiddenReasoning,
	type Need,
	type RequestedLimits,
	rejectionOf,
	resolveAdmissionTerms,
	withLeast,
} from './resolve-admission-terms.ts';

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
	const size = sizeOfPrepared(inferenceRequest);
	recorder.measure(size);
	const admission = resolveAdmissionTerms(inferenceRequest, size, { team, clientId, attributes }, nowMs, deps);
	if (admission.need.isOutputCapped) recorder.capOutput();
	recorder.warn(admissionWarnings(admission, deps));
	if (admission.priced.isUnknown) recorder.admitUnpriced();
	const entry = rowOf(inferenceRequest, team, recorder, admission);
	const permitTerms = permitTermsOf(inferenceRequest, size, entry, admission, before, deps);
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
export function reservationMsOf({ settings: { timeouts } }: GatewayDeps): number {
	return Math.min(Math.max(timeouts.totalMs, timeouts.firstByteMs) + bookingMs, reservationLimitMs);
}

function permitTermsOf(
	inferenceRequest: PreparedRequest,
	size: RequestSize,
	entry: OpenEntry,
	{ terms, priced, need, reservations, typical }: AdmissionTerms,
	before: BilledPermit | undefined,
	deps: GatewayDeps,
): PermitSettings {
	const { capEdits, usageEdits } = bodyEditsOf(inferenceRequest, need);
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
		capEdits,
		isUsageInjected: usageEdits.length > 0,
		usageEdits,
		reader: inferenceRequest.providerFormat.usage,
		hasHostedTools: need.hasHostedTools,
		canHideReasoning: hasHiddenReasoning(inferenceRequest, size, deps),
		isBackground: size.isBackground,
	};
}

/** Returns the edits of the body that an admission demands. */
export function bodyEditsOf({ provider, providerFormat, outgoing }: PreparedRequest, need: Need): BodyEdits {
	const outputEdits = need.isOutputCapped ? providerFormat.writeCap(outgoing, need.capTokens) : none;
	const callEdits: readonly Edit[] = need.areCallsCapped ? (providerFormat.toolCallCap?.write(outgoing, maxServerToolCalls) ?? none) : none;
	return {
		capEdits: callEdits.length === 0 ? outputEdits : [...outputEdits, ...callEdits],
		usageEdits: provider.requestsStreamUsage ? providerFormat.requestUsage(outgoing) : none,
	};
}

function namesOf(budgets: readonly BudgetTerms[]): readonly string[] {
	if (budgets.length === 0) return none;
	const names = budgets.map(({ ledgerName }) => ledgerName);
	return names.length === 1 ? names : [...new Set(names)];
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

/** Only counters that are restored from the ledger can be unreachable; shared ones have a fallback. */
export function unlessUnreachable(cause: unknown): never {
	throw cause instanceof CountersUnreachable ? new UpstreamError('records_unavailable', { cause }) : cause;
}

/** Lists warnings for the client. */
export function admissionWarnings({ need, priced }: AdmissionTerms, { settings }: Pick<GatewayDeps, 'settings'>): readonly string[] {
	if (!need.isOutputCapped && !need.areCallsCapped && !priced.isUnknown) return none;
	const warnings: string[] = [];
	if (need.isOutputCapped) warnings.push(`the output is capped at ${need.capTokens} tokens, for a budget`);
	if (need.areCallsCapped) warnings.push(`max_tool_calls: limited to ${maxServerToolCalls}, for a budget`);
	if (priced.isUnknown) {
		const rate = settings.budgets.unknownPrice === 'default_rate' ? 'budgets.default_rate' : '$0';
		warnings.push(`model: has no price, its cost is recorded at ${rate}`);
	}
	return warnings;
}
