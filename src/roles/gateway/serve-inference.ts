import type { CallFacts } from '../../core/call-facts.ts';
import type { HeaderFields, HttpRequest, HttpResponse } from '../../core/handler.ts';
import type { Format } from '../../wire/formats/format.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { answer } from './stages/answer.ts';
import { callProvider } from './stages/call-provider.ts';
import { identifyCaller } from './stages/identify-caller.ts';
import { identifyTeam } from './stages/identify-team.ts';
import { readCall } from './stages/read-call.ts';

/** The inference path: every decision about a call, in order. What it throws becomes the caller's error answer. */
export async function serveInference(request: HttpRequest, format: Format, facts: CallFacts, parts: GatewayParts): Promise<HttpResponse> {
	const { settings, ports, routing, openCalls } = parts;
	const caller = await identifyCaller(request, settings, ports.verifier);
	facts.clientId = caller.clientId;
	const team = identifyTeam(caller, settings, ports.teams);
	facts.team = team.id;
	const call = await readCall(request, format, settings.maxBodyBytes);
	facts.requestBytes = call.body.bytes.length;
	facts.isStreamed = call.isStreamed;
	const target = routing.resolveTarget({ format: format.name, model: call.model, providerHeader: providerHeaderOf(request.headers) });
	facts.provider = target.provider;
	facts.model = target.model;
	const open = openCalls.open(request, facts);
	try {
		const reply = await callProvider(call, target, open, parts);
		return answer(call, reply, open, parts);
	} catch (cause) {
		open.close();
		throw cause;
	}
}

function providerHeaderOf(headers: HeaderFields): string | undefined {
	const value = headers['x-gateway-provider'];
	return Array.isArray(value) ? value.join(', ') : value;
}
