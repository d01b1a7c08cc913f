import type { HeaderFields, HttpRequest, HttpResponse } from '../../core/handler.ts';
import type { Format } from '../../wire/formats/format.ts';
import type { GatewayFacts } from './gateway-facts.ts';
import type { GatewayParts } from './gateway-parts.ts';
import type { Permit } from './permit.ts';
import { admitCall } from './stages/admit-call.ts';
import { answer } from './stages/answer.ts';
import { callProvider } from './stages/call-provider.ts';
import { identifyCaller } from './stages/identify-caller.ts';
import { identifyTeam } from './stages/identify-team.ts';
import { prepareCall } from './stages/prepare-call.ts';
import { readCall } from './stages/read-call.ts';

/** The inference path: every decision about a call, in order. What it throws becomes the caller's error answer. */
export async function serveInference(
	request: HttpRequest,
	format: Format,
	facts: GatewayFacts,
	parts: GatewayParts,
): Promise<HttpResponse> {
	const { settings, ports, routing, openCalls } = parts;
	const caller = await identifyCaller(request, settings, ports.verifier);
	facts.clientId = caller.clientId;
	const team = identifyTeam(caller, settings, ports.teams);
	facts.team = team.id;
	facts.callerTeam = team;
	const call = await readCall(request, format, settings.maxBodyBytes);
	facts.requestBytes = call.body.bytes.length;
	facts.isStreamed = call.isStreamed;
	const target = routing.resolveTarget({
		format: format.name,
		model: call.model,
		team: team.id,
		stickyKey: stickyKeyOf(request, team.id),
		rules: ports.teams.routingRules(),
		providerHeader: providerHeaderOf(request.headers),
	});
	facts.provider = target.provider;
	facts.model = target.model;
	const prepared = prepareCall(call, target, facts, parts);
	const open = openCalls.open(request, facts);
	let permit: Permit | undefined;
	try {
		permit = await admitCall(prepared, team, open, parts);
		const reply = await callProvider(prepared, permit, open, parts);
		return answer(prepared, reply, permit, open, parts);
	} catch (cause) {
		open.close();
		permit?.endUnanswered(cause);
		throw cause;
	}
}

/** Calls of one session find the same target; others are spread. */
function stickyKeyOf({ id, headers }: HttpRequest, team: string): string {
	const session = headers['x-gateway-session'];
	return typeof session === 'string' ? `${team}/${session}` : id;
}

function providerHeaderOf(headers: HeaderFields): string | undefined {
	const value = headers['x-gateway-provider'];
	return Array.isArray(value) ? value.join(', ') : value;
}
