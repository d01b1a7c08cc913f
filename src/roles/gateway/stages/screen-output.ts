import type { HttpResponse } from '../../../core/handler.ts';
import { isJsonObject, type JsonObject } from '../../../wire/json/parse-body.ts';
import { spliceBody } from '../../../wire/json/splice-body.ts';
import { textEdits } from '../../../wire/text-edits.ts';
import type { GatewayParts } from '../gateway-parts.ts';
import type { Guarding } from '../guarding.ts';
import { JudgedStream } from './judged-stream.ts';
import { maskedTexts } from './masked-texts.ts';
import { ObservedStream, type ObservesTexts } from './observed-stream.ts';
import type { Call } from './read-call.ts';
import { ScreenedStream } from './screened-stream.ts';
import { StreamRelay } from './stream-relay.ts';

/**
 * Guardrails on what the model says, as the caller is about to read it. Observing changes neither bytes nor timing.
 * @throws Refusal `guardrail_blocked`, of an answer that is there as a whole.
 */
export async function screenOutput(call: Call, team: string, response: HttpResponse, parts: GatewayParts): Promise<HttpResponse> {
	const { guarding } = parts;
	if (guarding === undefined || response.status >= 400) return response;
	const guarded = { requestId: call.request.id, team };
	const { body } = response;
	if (body instanceof StreamRelay) {
		if (!guarding.isEnforced) return { ...response, body: new ObservedStream(body, call.format, guarded, guarding) };
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
		if (guarding.isEnforced) guarding.requireReadable('output', 'body');
		return response;
	}
	return screenWhole(call, guarded.team, response, Buffer.from(body), told, guarding);
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
	const view = format.textViews.answer(told);
	if (!guarding.isEnforced) {
		guarding.observe(guarded, 'output', view);
		return response;
	}
	const screening = await guarding.screen(guarded, 'output', view);
	const changes = maskedTexts(view, screening);
	if (changes.length === 0) return response;
	return { ...response, body: spliceBody(body, textEdits(body, [...changes, ...withoutCopies(told)])) };
}

/** What a chat completion tells of each of its pieces of text would show what was masked. */
function withoutCopies(told: JsonObject): readonly (readonly [Parameters<typeof textEdits>[1][number][0], string])[] {
	if (!Array.isArray(told.choices)) return [];
	return told.choices.flatMap((choice: unknown, index) =>
		isJsonObject(choice) && isJsonObject(choice.logprobs)
			? [
					[
						{ text: '', isJson: true, isValue: true, role: 'assistant', part: 'other', path: ['choices', index, 'logprobs'] },
						'null',
					] as const,
				]
			: [],
	);
}

function readObject(body: Buffer | string): JsonObject | undefined {
	try {
		const value: unknown = JSON.parse(body.toString());
		return isJsonObject(value) ? value : undefined;
	} catch {
		return undefined;
	}
}
