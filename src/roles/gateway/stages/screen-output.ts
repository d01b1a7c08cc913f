import type { HttpResponse } from '../../../core/handler.ts';
import { isJsonObject, type JsonObject } from '../../../wire/json/parse-body.ts';
import { repeatsMember } from '../../../wire/json/repeated-member.ts';
import { spliceBody } from '../../../wire/json/splice-body.ts';
import { isEncoded } from '../../../wire/providers/relayed-headers.ts';
import { blocked, type Guarding } from '../guarding.ts';
import { JudgedStream } from './judged-stream.ts';
import { maskEdits, maskedTexts } from './masked-texts.ts';
import { ObservedStream, type ObservesTexts } from './observed-stream.ts';
import type { Call } from './read-call.ts';
import { ScreenedStream } from './screened-stream.ts';
import { StreamRelay } from './stream-relay.ts';
import { ambiguous } from './view-event.ts';

/**
 * Guardrails on what the model says, as the caller is about to read it. Observing changes neither bytes nor timing.
 * @throws Refusal `guardrail_blocked`, of an answer that is there as a whole.
 */
export async function screenOutput(call: Call, team: string, response: HttpResponse, guarding: Guarding): Promise<HttpResponse> {
	if (response.status >= 400) return response;
	const guarded = { requestId: call.request.id, team };
	const { body } = response;
	if (body instanceof StreamRelay) {
		if (!guarding.isEnforced) {
			const isOpaque = isEncoded(response.headers);
			return { ...response, body: new ObservedStream(body, call.format, guarded, guarding, isOpaque) };
		}
		const guardrails = await guarding.guardrails;
		const Stream = guarding.engines.stopping(team).length > 0 ? JudgedStream : ScreenedStream;
		const screened = new Stream(body, call.format, guarded, guarding, guardrails, response.facts);
		if (guarding.engines.noting(team).length === 0) return { ...response, body: screened };
		const notedByEngines: ObservesTexts = {
			observe: (noted, stage, { texts }) =>
				guarding.noteByEngines(
					noted,
					stage,
					texts.map(({ text }) => text),
				),
		};
		return { ...response, body: new ObservedStream(screened, call.format, guarded, notedByEngines) };
	}
	if (!Buffer.isBuffer(body) && typeof body !== 'string') return response;
	const told = readObject(body);
	if (told === undefined) {
		guarding.report(guarded, 'output', [], { unreadable: [{ role: 'assistant', type: 'body', path: [] }] });
		if (guarding.isEnforced) throw blocked('output', { policy: 'unreadable', category: 'body' });
		return response;
	}
	// What was read as UTF-8 says something else to a client that believes another `charset`.
	const headers = guarding.isEnforced ? { ...response.headers, 'content-type': 'application/json' } : response.headers;
	return screenWhole(call, guarded.team, { ...response, headers }, Buffer.from(body), told, guarding);
}

async function screenWhole(
	{ request, format }: Call,
	team: string,
	response: HttpResponse,
	body: Buffer,
	told: JsonObject,
	guarding: Guarding,
): Promise<HttpResponse> {
	const guarded = { requestId: request.id, team };
	const isAmbiguous = repeatsMember(body.toString(), told);
	const answerView = format.textViews.answer(told);
	const view = isAmbiguous ? { ...answerView, unreadable: [ambiguous, ...answerView.unreadable] } : answerView;
	if (!guarding.isEnforced) {
		guarding.observe(guarded, 'output', view);
		return response;
	}
	const screening = await guarding.screen(guarded, 'output', view);
	if (isAmbiguous) throw blocked('output', { policy: 'unreadable', category: ambiguous.type });
	const changes = maskedTexts(view, screening);
	if (changes.length === 0) return response;
	return { ...response, body: spliceBody(body, maskEdits(body, told, changes)) };
}

function readObject(body: Buffer | string): JsonObject | undefined {
	try {
		const value: unknown = JSON.parse(body.toString());
		return isJsonObject(value) ? value : undefined;
	} catch {
		return undefined;
	}
}
