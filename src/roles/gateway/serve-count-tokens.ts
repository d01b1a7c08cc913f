import { Fault } from '../../core/fault.ts';
import type { HttpRequest, HttpResponse } from '../../core/handler.ts';
import type { Steps } from '../../core/steps.ts';
import type { Team } from '../../core/team.ts';
import { measureInput } from '../../policy/budgets/input-size.ts';
import { mayFallBack } from '../../policy/resilience/attempt-result.ts';
import type { Targets } from '../../policy/routing/target.ts';
import { tokenCounting } from '../../wire/dialects/messages/token-counting.ts';
import { unmarkingSteps } from '../../wire/foreign-marks.ts';
import type { JsonBody } from '../../wire/json/parse-body.ts';
import { spliceBody } from '../../wire/json/splice-body.ts';
import type { Provider } from '../../wire/providers/provider.ts';
import { isEncoded, relayedHeaders } from '../../wire/providers/relayed-headers.ts';
import { type Repair, repairingSteps } from '../../wire/repair-parameters.ts';
import { addAnswerHeaders, answerHeaders } from './answer-headers.ts';
import type { GatewayFacts } from './gateway-facts.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { inTurns } from './in-turns.ts';
import { noteLimits } from './note-limits.ts';
import type { OpenCall } from './open-calls.ts';
import { timeoutsLeft } from './provider-timeouts.ts';
import { takeLimits } from './stages/admit-call.ts';
import { answerError, readObject } from './stages/answer.ts';
import { type Outcome, resultOf } from './stages/call-provider.ts';
import { chooseTargets } from './stages/choose-targets.ts';
import { identifyCaller } from './stages/identify-caller.ts';
import { noteTeam } from './stages/identify-team.ts';
import { repairFor } from './stages/prepare-call.ts';
import { readAnswer, requireWanted } from './stages/reach-upstream.ts';
import { type Call, placedMembers, readCall } from './stages/read-call.ts';
import { refuseThread } from './stages/refuse-thread.ts';
import { screenInput } from './stages/screen-input.ts';
import { faultIn, notAnObject, requireSuccess } from './stages/send-call.ts';

const maxAnswerBytes = 1024 * 1024;

/** A team may count this many times as often as it may send requests. */
const countsPerRequest = 10;

const estimated = 'input_tokens: estimated, for the provider of the model does not count';

/**
 * How many input tokens a messages request has: asked of its provider where that can count, else estimated. Vendors charge nothing for
 * it, so no money is held and no row is written. Clients count before each request, so counts have a minute's limit of their own.
 */
export async function serveCountTokens(request: HttpRequest, facts: GatewayFacts, parts: GatewayParts): Promise<HttpResponse> {
	const { settings } = parts;
	const caller = await identifyCaller(request, parts);
	const team = noteTeam(caller, facts, parts);
	const hold = parts.work.bodySpace.hold(team.id, settings.maxBufferedRequestBytes);
	const asked = await readCall(request, tokenCounting, settings.maxBodyBytes, hold);
	facts.requestBytes = asked.body.bytes.length;
	const open = parts.work.openCalls.open(request, facts, hold);
	try {
		const call = parts.guarding === undefined ? asked : await screenInput(asked, team.id, parts.guarding);
		const targets = chooseTargets(call, team.id, parts);
		facts.provider = targets[0].provider;
		facts.model = targets[0].model;
		await takeCount(request.id, team, targets[0].model, open, parts);
		await noteLimits(facts, parts);
		return await countAt(targets, call, open, parts);
	} finally {
		open.close();
	}
}

/** Of the limit for counts, which has a counter of its own, whose name no registered team has. @throws LimitRefusal */
async function takeCount(id: string, team: Team, model: string, open: OpenCall, parts: GatewayParts): Promise<void> {
	const { requestsPerMinute, ...others } = parts.terms.termsOf(team, []);
	const terms = {
		...others,
		requestsPerMinute: requestsPerMinute === null ? null : requestsPerMinute * countsPerRequest,
		dailyTokens: null,
		budgets: [],
	};
	const row = { id, team: `:count_tokens:${team.id}` };
	const usual = parts.work.usual.of(team.id, model);
	try {
		await takeLimits(row, { terms, holds: [], reservedTokens: 0, usual }, parts.settings.timeouts.totalMs, open, parts);
	} finally {
		// The response tells of the team's own limits.
		open.facts.limitHeaders = undefined;
	}
	// The caller does not wait for it.
	releasePlace(row, team.id, parts);
}

/** From target to target, as calls go. */
async function countAt(targets: Targets, call: Call, open: OpenCall, parts: GatewayParts): Promise<HttpResponse> {
	const { facts } = open;
	let last: { readonly provider: Provider; readonly outcome: Outcome } | undefined;
	for (const target of targets) {
		facts.provider = target.provider;
		facts.model = target.model;
		facts.upstreamStatus = undefined;
		const provider = parts.providers.get(target.provider);
		if (provider !== undefined) refuseThread(call, provider, parts);
		const address = provider?.locateCount(call.request.query);
		const said = parts.modelFacts.of(target);
		const knownAs = said.knownAs ?? target.model;
		if (provider === undefined || address === undefined) return estimate(call, knownAs, open, parts);
		const repair = repairFor(call, { said, knownAs }, provider, parts);
		facts.warnings = repair?.warnings;
		const body = await inTurns(call.body.bytes.length, countableSteps(call, knownAs, repair));
		last = { provider, outcome: await askProvider({ ...call, body }, provider, address, target.model, open, parts) };
		if (!mayFallBack(resultOf(last.outcome))) break;
	}
	if (last === undefined) throw new Error('routing named no target');
	return answerCount(call.request, last.provider, last.outcome, open, parts);
}

/** The request as its provider counts it. */
function* countableSteps({ body }: Call, knownAs: string, repair: Repair | undefined): Steps<JsonBody> {
	const unmarked = yield* unmarkingSteps(body, { format: 'messages', knownAs }, placedMembers);
	return repair === undefined ? unmarked : yield* repairingSteps(unmarked, repair, placedMembers);
}

function estimate(call: Call, knownAs: string, { facts }: OpenCall, { ports }: GatewayParts): HttpResponse {
	const { writtenTokens } = measureInput(call.body, call.body.members, knownAs);
	facts.warnings = [estimated];
	const headers = { ...answerHeaders(call.request, facts, ports.clock), 'content-type': 'application/json' };
	return { status: 200, headers, body: JSON.stringify({ input_tokens: writtenTokens }), facts };
}

function releasePlace(
	{ id, team: counter }: { id: string; team: string },
	team: string,
	{ ports, work: { settlements } }: GatewayParts,
): void {
	settlements.begin();
	const failed = (cause: unknown): void => {
		ports.log.error('counters could not be told that a count of tokens is over', { requestId: id, team, cause });
	};
	void ports.admission
		.release(id, counter)
		.catch(failed)
		.then(() => settlements.end());
}

/** @throws what the call was ended with. */
async function askProvider(
	call: Call,
	provider: Provider,
	address: string,
	model: string,
	open: OpenCall,
	parts: GatewayParts,
): Promise<Outcome> {
	const { request, body } = call;
	const { ports, settings, traffic } = parts;
	if (!provider.isConfigured) return new Fault('provider_key_unset');
	const range = body.ranges.get('model');
	const isRenamed = range !== undefined && body.members.model !== model;
	open.requireRunning();
	const bound = traffic.get(provider.name);
	const cameMs = ports.clock.monotonicMs();
	const refused = bound && (await bound.traffic.concurrency.acquire(open, bound.terms, settings.timeouts.firstByteMs, ports.clock));
	if (refused !== undefined) return refused;
	try {
		const sentMs = ports.clock.monotonicMs();
		const timeouts = timeoutsLeft(parts.timeouts.tokenCount, open, cameMs, sentMs);
		if (timeouts instanceof Fault) return timeouts;
		const response = await ports.upstream({
			origin: provider.origin,
			method: 'POST',
			target: address,
			headers: provider.requestHeaders(request.headers),
			body: isRenamed ? spliceBody(body.bytes, [{ ...range, text: JSON.stringify(model) }]) : body.bytes,
			timeouts,
			mayReachPrivateNetwork: provider.mayReachPrivateNetwork,
			proxy: provider.proxy,
			onClientGone: (listener) => open.whenEnded(listener),
		});
		requireWanted(response, open);
		open.facts.upstreamStatus = response.status;
		if (response.status < 400) requireSuccess(response, 'application/json');
		const answered = await readAnswer(response, open, maxAnswerBytes);
		if (response.status < 400 && !isEncoded(response.headers) && readObject(answered) === undefined) throw notAnObject();
		return { response, status: response.status, body: answered, told: undefined, upstreamMs: ports.clock.monotonicMs() - sentMs };
	} catch (cause) {
		return faultIn(cause);
	} finally {
		open.releaseSlot();
	}
}

/** @throws Fault `provider_*`; Refusal `provider_busy`. */
function answerCount(request: HttpRequest, provider: Provider, outcome: Outcome, open: OpenCall, { ports }: GatewayParts): HttpResponse {
	if (outcome instanceof Error) throw outcome;
	const { response, body, upstreamMs } = outcome;
	if (!Buffer.isBuffer(body)) throw new Error('a count of tokens is no stream');
	const headers = relayedHeaders(response.status, response.headers);
	addAnswerHeaders(headers, request, open.facts, ports.clock, upstreamMs);
	if (response.status >= 400) return answerError({ request, provider, translated: undefined }, outcome, body, headers, open);
	return { status: response.status, headers, body, facts: open.facts };
}
