import type { HttpResponse } from '../../../core/handler.ts';
import type { ClientDialect } from '../../../wire/dialects/dialect.ts';
import { isJsonObject, type JsonObject } from '../../../wire/json/parse-body.ts';
import { repeatsMember } from '../../../wire/json/repeated-member.ts';
import { spliceBody } from '../../../wire/json/splice-body.ts';
import { blocked, type GuardedRequest, type GuardrailRunner } from '../guardrail-runner.ts';
import { maskEdits, maskedTexts } from '../mask-edits.ts';
import type { RequestRecorder } from '../request-scope/request-recorder.ts';
import { BlockingGuard } from '../streams/blocking-guard.ts';
import { EventBody, type EventSource } from '../streams/event-source.ts';
import { ModeratedGuard } from '../streams/moderated-guard.ts';
import { MonitoringGuard, type ObservesTexts } from '../streams/monitoring-guard.ts';
import { StreamRelay } from '../streams/stream-relay.ts';
import { ambiguous } from '../streams/view-event.ts';
import type { InferenceRequest } from './read-inference-request.ts';

/**
 * Runs guardrails on the model's output, in the client's format. Monitoring changes neither bytes nor timing.
 * @throws `Rejection` `guardrail_blocked`, for a non-streaming response.
 */
export async function evaluateOutput(
	inferenceRequest: InferenceRequest,
	guarded: GuardedRequest,
	response: HttpResponse,
	recorder: RequestRecorder,
	guardrailRunner: GuardrailRunner,
): Promise<HttpResponse> {
	if (response.status >= 400 || inferenceRequest.endpoint.response === 'computed') return response;
	const { body } = response;
	if (body instanceof EventBody && body.source instanceof StreamRelay) {
		return {
			...response,
			body: new EventBody(await guardStream(body.source, inferenceRequest.format, guarded, recorder, guardrailRunner)),
		};
	}
	const isEnforced = guardrailRunner.isEnforced(guarded.team);
	if (!Buffer.isBuffer(body) && typeof body !== 'string') return response;
	const reported = readObject(body);
	if (reported === undefined) {
		guardrailRunner.report(guarded, 'output', [], { unreadable: [{ role: 'assistant', type: 'body', path: [] }] });
		if (isEnforced) throw blocked('output', { policy: 'unreadable', category: 'body' });
		return response;
	}
	// The text was evaluated as UTF-8, and would differ for a client that trusts another `charset`.
	const headers = isEnforced ? { ...response.headers, 'content-type': 'application/json' } : response.headers;
	return evaluateNonStreaming(inferenceRequest, guarded, { ...response, headers }, Buffer.from(body), reported, guardrailRunner);
}

async function guardStream(
	relay: StreamRelay,
	format: ClientDialect,
	inferenceRequest: GuardedRequest,
	recorder: RequestRecorder,
	guardrailRunner: GuardrailRunner,
): Promise<EventSource> {
	if (!guardrailRunner.isEnforced(inferenceRequest.team)) return new MonitoringGuard(relay, format, inferenceRequest, guardrailRunner);
	const guardrails = await guardrailRunner.guardrails;
	const Guard = guardrailRunner.moderationProviders.stopping(inferenceRequest.team).length > 0 ? ModeratedGuard : BlockingGuard;
	const guard = new Guard(relay, format, inferenceRequest, guardrailRunner, guardrails, recorder);
	if (guardrailRunner.moderationProviders.noting(inferenceRequest.team).length === 0) return guard;
	const recordedByModeration: ObservesTexts = {
		observe: (noted, stage, { texts }) =>
			guardrailRunner.recordModeration(
				noted,
				stage,
				texts.map(({ text }) => text),
			),
	};
	return new MonitoringGuard(guard, format, inferenceRequest, recordedByModeration);
}

async function evaluateNonStreaming(
	{ format }: InferenceRequest,
	guarded: GuardedRequest,
	response: HttpResponse,
	body: Buffer,
	reported: JsonObject,
	guardrailRunner: GuardrailRunner,
): Promise<HttpResponse> {
	const isAmbiguous = repeatsMember(body.toString(), reported);
	const responseView = format.textViews.response(reported);
	const view = isAmbiguous ? { ...responseView, unreadable: [ambiguous, ...responseView.unreadable] } : responseView;
	if (!guardrailRunner.isEnforced(guarded.team)) {
		guardrailRunner.observe(guarded, 'output', view);
		return response;
	}
	const evaluation = await guardrailRunner.enforce(guarded, 'output', view);
	if (isAmbiguous) throw blocked('output', { policy: 'unreadable', category: ambiguous.type });
	const changes = maskedTexts(view, evaluation);
	if (changes.length === 0) return response;
	return { ...response, body: spliceBody(body, maskEdits(body, reported, changes)) };
}

function readObject(body: Buffer | string): JsonObject | undefined {
	try {
		const value: unknown = JSON.parse(body.toString());
		return isJsonObject(value) ? value : undefined;
	} catch {
		return undefined;
	}
}
