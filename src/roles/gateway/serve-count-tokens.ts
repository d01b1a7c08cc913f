import { Fault } from '../../core/fault.ts';
import type { HttpRequest, HttpResponse } from '../../core/handler.ts';
import { measureInput } from '../../policy/budgets/input-size.ts';
import { tokenCounting } from '../../wire/formats/messages/token-counting.ts';
import { spliceBody } from '../../wire/json/splice-body.ts';
import type { Provider } from '../../wire/providers/provider.ts';
import { relayedHeaders } from '../../wire/providers/relayed-headers.ts';
import { unmarkingSteps } from '../../wire/translation/foreign-marks.ts';
import { addAnswerHeaders, answerHeaders } from './answer-headers.ts';
import type { GatewayFacts } from './gateway-facts.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { inTurns } from './in-turns.ts';
import type { OpenCall } from './open-calls.ts';
import { takeLimits } from './stages/admit-call.ts';
import { answerError } from './stages/answer.ts';
import { chooseTargets } from './stages/choose-targets.ts';
import { identifyCaller } from './stages/identify-caller.ts';
import { identifyTeam } from './stages/identify-team.ts';
import { readAnswer, requireWanted } from './stages/reach-upstream.ts';
import { type Call, placedMembers, readCall } from './stages/read-call.ts';
import { screenInput } from './stages/screen-input.ts';
import type { Reply } from './stages/send-call.ts';

const maxAnswerBytes = 1024 * 1024;

const estimated = 'input_tokens: estimated, for the provider of the model does not count';

/**
 * How many input tokens a messages request has: asked of its provider where that can count, else estimated. Vendors charge nothing for
 * it, so no money is held and no row is written; it is one of the requests of its team's minute.
 */
export async function serveCountTokens(request: HttpRequest, facts: GatewayFacts, parts: GatewayParts): Promise<HttpResponse> {
	const { settings, ports } = parts;
	const caller = await identifyCaller(request, parts);
	facts.clientId = caller.clientId;
	const team = identifyTeam(caller, settings, ports.teams);
	facts.team = team.id;
	facts.callerTeam = team;
	const hold = parts.work.bodySpace.hold(team.id, settings.maxBufferedRequestBytes);
	const asked = await readCall(request, tokenCounting, settings.maxBodyBytes, hold);
	facts.requestBytes = asked.body.bytes.length;
	const open = parts.work.openCalls.open(request, facts, hold);
	try {
		const call = parts.guarding === undefined ? asked : await screenInput(asked, team.id, parts.guarding);
		const [target] = chooseTargets(call, team.id, parts);
		facts.provider = target.provider;
		facts.model = target.model;
		const row = { id: request.id, team: team.id };
		const terms = { ...parts.terms.termsOf(team, []), budgets: [] };
		await takeLimits(row, terms, [], settings.timeouts.totalMs, open, parts);
		// The caller does not wait for it.
		releasePlace(row, parts);
		const provider = parts.providers.get(target.provider);
		const address = provider?.locateCount(request.query);
		const knownAs = parts.modelFacts.of(target).knownAs ?? target.model;
		if (provider !== undefined && address !== undefined) {
			const body = await inTurns(call.body.bytes.length, unmarkingSteps(call.body, { format: 'messages', knownAs }, placedMembers));
			return await askProvider({ ...call, body }, provider, address, target.model, open, parts);
		}
		const { writtenTokens } = measureInput(call.body, call.body.members, knownAs);
		facts.warnings = [estimated];
		const headers = { ...answerHeaders(request, facts, ports.clock), 'content-type': 'application/json' };
		return { status: 200, headers, body: JSON.stringify({ input_tokens: writtenTokens }), facts };
	} finally {
		open.close();
	}
}

function releasePlace({ id, team }: { id: string; team: string }, { ports, work: { settlements } }: GatewayParts): void {
	settlements.begin();
	const failed = (cause: unknown): void => {
		ports.log.error('counters could not be told that a count of tokens is over', { requestId: id, team, cause });
	};
	void ports.admission
		.release(id, team)
		.catch(failed)
		.then(() => settlements.end());
}

async function askProvider(
	{ request, body }: Call,
	provider: Provider,
	address: string,
	model: string,
	open: OpenCall,
	parts: GatewayParts,
): Promise<HttpResponse> {
	const { ports, settings, traffic } = parts;
	if (!provider.isConfigured) throw new Fault('provider_key_unset');
	const range = body.ranges.get('model');
	const isRenamed = range !== undefined && body.members.model !== model;
	open.requireRunning();
	const bound = traffic.get(provider.name);
	const refused = bound && (await bound.traffic.gate.enter(open, bound.terms, settings.timeouts.firstByteMs, ports.clock));
	if (refused !== undefined) throw refused;
	const sentMs = ports.clock.monotonicMs();
	const response = await ports.upstream({
		origin: provider.origin,
		method: 'POST',
		target: address,
		headers: provider.requestHeaders(request.headers),
		body: isRenamed ? spliceBody(body.bytes, [{ ...range, text: JSON.stringify(model) }]) : body.bytes,
		timeouts: settings.timeouts,
		mayReachPrivateNetwork: provider.mayReachPrivateNetwork,
		onClientGone: (listener) => open.whenEnded(listener),
	});
	requireWanted(response, open);
	open.facts.upstreamStatus = response.status;
	const answered = await readAnswer(response, open, maxAnswerBytes);
	const reply: Reply = { response, body: answered, told: undefined, upstreamMs: ports.clock.monotonicMs() - sentMs };
	const headers = relayedHeaders(response.status, response.headers);
	addAnswerHeaders(headers, request, open.facts, ports.clock, reply.upstreamMs);
	if (response.status >= 400) return answerError({ request, provider, translated: undefined }, reply, answered, headers, open);
	return { status: response.status, headers, body: answered, facts: open.facts };
}
