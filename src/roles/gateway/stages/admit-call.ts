import { Fault } from '../../../core/fault.ts';
import type { Price } from '../../../core/price.ts';
import { Refusal } from '../../../core/refusal.ts';
import type { Team } from '../../../core/team.ts';
import { worstCaseNanoUsd } from '../../../policy/budgets/cost.ts';
import { estimateNanoUsd, usualOutputTokens } from '../../../policy/budgets/estimate.ts';
import { measureInput } from '../../../policy/budgets/input-size.ts';
import { capFor, mayThinkUnseen } from '../../../policy/budgets/model-limits.ts';
import { refuseCall } from '../../../policy/limits/limit-refusal.ts';
import { rateLimitHeaders } from '../../../policy/limits/rate-limit-headers.ts';
import type { TeamTerms } from '../../../policy/limits/team-terms.ts';
import { periodOf } from '../../../policy/limits/utc-time.ts';
import type { Target } from '../../../policy/routing/target.ts';
import { type BudgetHold, CountersUnreachable } from '../../../stores/contracts/admission.ts';
import type { Edit } from '../../../wire/json/splice-body.ts';
import type { Provider } from '../../../wire/providers/provider.ts';
import { requestedOutput, writeCap } from '../../../wire/usage/output-cap.ts';
import type { GatewayParts } from '../gateway-parts.ts';
import type { OpenCall } from '../open-calls.ts';
import { Permit } from '../permit.ts';
import type { PreparedCall } from './prepare-call.ts';

/** A call may take its whole time, and its end has to be booked. */
const bookingMs = 30_000;
const longestHoldMs = 24 * 3_600_000;

/**
 * Takes all that the call needs of its team's limits and budgets, in one step, and opens its row in the ledger.
 * @throws LimitRefusal; Refusal `model_unpriced`; Fault `records_unavailable`; what the call was ended with.
 */
export async function admitCall(call: PreparedCall, team: Team, open: OpenCall, parts: GatewayParts): Promise<Permit> {
	const { settings, ports } = parts;
	const { target, provider } = call;
	const nowMs = ports.clock.nowMs();
	const terms = parts.terms.termsOf(team, ports.teams.budgetsFor(team.id, target.model));
	const price = findPrice(target, provider, nowMs, parts);
	const need = settings.budgets.hold === 'worst_case' ? worstCase(call, price) : estimate(call, price);
	const period = periodOf(nowMs);
	const check = settings.budgets.hold === 'worst_case' ? 'after' : 'before';
	const holds = terms.budgets.map(
		({ budget, limitNanoUsd }): BudgetHold => ({ budget, period, limitNanoUsd, amountNanoUsd: need.amountNanoUsd, check }),
	);
	if (need.capEdits.length > 0) {
		open.facts.warnings = [...(open.facts.warnings ?? []), `the output is capped at ${need.capTokens} tokens, for a budget`];
	}
	const { id } = call.request;
	const holdMs = Math.min(settings.timeouts.totalMs + bookingMs, longestHoldMs);
	await takeLimits(id, team.id, terms, holds, holdMs, open, parts);
	const usageEdits = provider.asksForStreamUsage ? call.providerFormat.askForUsage(call.outgoing) : [];
	const permit = new Permit(
		{
			id,
			team: team.id,
			admittedMs: nowMs,
			price,
			budgets: terms.budgets,
			holds,
			inputTokens: need.inputTokens,
			outputTokens: need.outputTokens,
			capEdits: need.capEdits,
			isUnasked: usageEdits.length > 0,
			usageEdits,
			reader: call.providerFormat.usage,
			mayThinkUnseen: mayThinkUnseen(target.model),
		},
		open,
		parts,
	);
	try {
		await ports.ledger.open({
			id,
			startedMs: nowMs,
			team: team.id,
			clientId: open.facts.clientId ?? '',
			provider: target.provider,
			model: target.model,
			format: call.format.name,
			isStreamed: call.isStreamed,
			priceVersion: price.version,
			holdNanoUsd: need.amountNanoUsd,
			budgets: terms.budgets.map(({ budget }) => budget),
		});
	} catch (cause) {
		await ports.admission.release(id, team.id).catch(() => undefined);
		throw cause;
	}
	return permit;
}

function findPrice(target: Target, provider: Provider, nowMs: number, { prices, ports, settings }: GatewayParts): Price {
	const priced = prices.priceOf(provider, target.model, nowMs);
	if (priced?.isUnknown !== false) ports.unpriced.note(target, settings.budgets.unknownPrice, ports.log);
	if (priced !== undefined) return priced.price;
	throw new Refusal('model_unpriced', {
		param: 'model',
		message: `The model \`${target.model}\` of ${target.provider} has no price, and calls without one are refused: use another model`,
	});
}

async function takeLimits(
	id: string,
	team: string,
	terms: TeamTerms,
	holds: readonly BudgetHold[],
	holdMs: number,
	{ facts }: OpenCall,
	{ ports }: GatewayParts,
): Promise<void> {
	const { requestsPerMinute, dailyTokens } = terms;
	const admission = await ports.admission.admit({ id, team, requestsPerMinute, dailyTokens, holds, holdMs }).catch((cause: unknown) => {
		// Only counters that are summed up from the ledger can be out of reach; shared ones are stood in for.
		throw cause instanceof CountersUnreachable ? new Fault('records_unavailable', { cause }) : cause;
	});
	const isUncounted = admission.isAdmitted && admission.isUncounted === true;
	if (isUncounted) facts.isUncounted = true;
	else facts.limitHeaders = rateLimitHeaders(terms, admission.reading);
	if (admission.isAdmitted) return;
	const amountNanoUsd = holds[0]?.amountNanoUsd ?? 0n;
	throw refuseCall(admission, { ...terms, budgets: terms.budgets.map((budget) => ({ ...budget, amountNanoUsd })) });
}

interface Need {
	readonly amountNanoUsd: bigint;
	readonly inputTokens: number;
	readonly outputTokens: number;
	/** Of one choice, where the gateway writes it. */
	readonly capTokens?: number;
	readonly capEdits: readonly Edit[];
}

function estimate({ outgoing: body, target: { model } }: PreparedCall, price: Price): Need {
	const { estimatedTokens } = measureInput(body.bytes, body.members, model);
	const { capTokens, choices } = requestedOutput(body.members);
	return {
		amountNanoUsd: estimateNanoUsd({ inputTokens: estimatedTokens, capTokens, choices }, price),
		inputTokens: estimatedTokens,
		outputTokens: Math.min(capTokens ?? usualOutputTokens, usualOutputTokens) * choices,
		capEdits: [],
	};
}

/** The cap is what makes the worst case finite, so the request is made to have one. */
function worstCase({ outgoing: body, providerFormat: format, target: { model } }: PreparedCall, price: Price): Need {
	const { highestTokens } = measureInput(body.bytes, body.members, model);
	const { capTokens, choices } = requestedOutput(body.members);
	const cap = capFor(model, capTokens);
	const outputTokens = cap.tokens * choices;
	return {
		amountNanoUsd: worstCaseNanoUsd(highestTokens, outputTokens, price),
		inputTokens: highestTokens,
		outputTokens,
		capTokens: cap.tokens,
		capEdits: cap.mustWrite ? writeCap(body, cap.tokens, format.capMember) : [],
	};
}
