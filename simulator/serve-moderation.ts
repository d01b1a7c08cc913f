/** Serves one moderation request: its faults, its verdict, its log entry. */
import { createHash } from 'node:crypto';
import { readAll } from '../src/core/byte-stream.ts';
import type { Clock } from '../src/core/clock.ts';
import { ConnectionReset, type HttpRequest, type HttpResponse } from '../src/core/handler.ts';
import { readFaultNames, splitModelName } from './faults/fault-names.ts';
import type { FaultPlan } from './faults/fault-plan.ts';
import { isObject, type JsonObject } from './json-value.ts';
import { type OpenRequest, openRequest } from './open-request.ts';
import { maxStallMs, pacedStream } from './paced-stream.ts';
import type { RequestServer } from './serve-request.ts';
import { bedrockGuardrailWire } from './wires/bedrock-guardrail/bedrock-guardrail-wire.ts';
import { contentSafetyWire } from './wires/content-safety/content-safety.ts';
import { judgeWire } from './wires/judge/chat-judge-wire.ts';
import { moderationWire } from './wires/moderation/openai-moderation-wire.ts';
import type { ModerationWire } from './wires/moderation-wire.ts';
import { headerText } from './wires/wire.ts';

/** @returns undefined for a path of no moderation service. */
export function findModerationWire(path: string): ModerationWire | undefined {
	if (path === '/openai/v1/moderations') return moderationWire;
	if (path === '/azure/contentsafety/text:analyze') return contentSafetyWire;
	if (path === '/judge/v1/chat/completions') return judgeWire;
	return /^\/bedrock\/guardrail\/[^/]+\/version\/[^/]+\/apply$/.test(path) ? bedrockGuardrailWire : undefined;
}

export async function serveModeration(request: HttpRequest, wire: ModerationWire, server: RequestServer): Promise<HttpResponse> {
	const call = openRequest(request, `${wire.name}-${server.nextNumber(wire.name)}`, wire.name, server);
	request.onClientDisconnect(() => call.settle('aborted'));
	const bytes = await readAll(request.body, server.settings().maxBodyBytes);
	call.row.bodyBytes = bytes.length;
	server.requestLog.keepReceived(call.row, request, sha256Of(bytes), server.settings().recordBodies ? bytes : undefined);
	const body = parseBody(bytes);
	const key = wire.readKey(request.headers);
	const model = body === undefined ? '' : wire.readModel(body, request.path);
	call.identify(key, model);
	const faults = {
		...server.rules.take({ wire: wire.name, key, model, path: request.path }),
		...readFaultNames(splitModelName(model).faults ?? ''),
		...readFaultNames(headerText(request.headers, 'x-simulator-fault')),
	};
	call.row.faults = Object.keys(faults);
	await suffer(request, faults, server.clock);
	const response = (status: number, text: string, type = 'application/json'): HttpResponse => {
		call.row.status = status;
		call.settle(status === 200 ? 'complete' : 'rejected');
		return { status, headers: { 'content-type': type }, body: text };
	};
	const reject = (status: number): HttpResponse => response(status, JSON.stringify(wire.renderError(status)));
	if (faults.status !== undefined) return reject(faults.status);
	if (key === '' || key.includes('bad-key')) return reject(401);
	if (request.method !== 'POST') return reject(405);
	if (faults.replacement !== undefined) {
		return response(200, faults.replacement === 'html' ? '<!doctype html><title>Maintenance</title>' : '', 'text/html');
	}
	const verdict = body === undefined ? undefined : wire.judge(body, model);
	if (verdict === undefined) return reject(400);
	const text = JSON.stringify(verdict);
	if (faults.breakOff !== undefined) return breakOff(request, text, faults.breakOff, call, server.clock);
	return response(200, faults.isMalformed === true ? text.slice(0, text.length * 0.6) : text);
}

function sha256Of(bytes: Buffer): string {
	return createHash('sha256').update(bytes).digest('hex');
}

function parseBody(bytes: Buffer): JsonObject | undefined {
	try {
		const parsed: unknown = JSON.parse(bytes.toString('utf8'));
		return isObject(parsed) ? parsed : undefined;
	} catch {
		return undefined;
	}
}

/** @throws ConnectionReset when the fault is silence, or when the client disconnects meanwhile. */
async function suffer(request: HttpRequest, { silence, firstByteMs = 0 }: FaultPlan, clock: Clock): Promise<void> {
	if (silence === 'reset') throw new ConnectionReset();
	const waitMs = silence === 'hang' ? maxStallMs : firstByteMs;
	if (waitMs <= 0) return;
	await new Promise<void>((resolve, reject) => {
		const timer = clock.after(waitMs, resolve);
		request.onClientDisconnect(() => {
			timer.cancel();
			reject(new ConnectionReset('The client disconnected while waiting'));
		});
	});
}

/** Sends half of the response, then applies the fault. */
function breakOff(
	request: HttpRequest,
	text: string,
	how: NonNullable<FaultPlan['breakOff']>,
	call: OpenRequest,
	clock: Clock,
): HttpResponse {
	const half = { bytes: text.slice(0, text.length / 2), outputTokens: 0 };
	const pace = { firstEventMs: 0, intervalMs: 0, breakOff: { ...how, afterEvents: 1 } };
	const stream = pacedStream([half].values(), pace, clock, () => '', { onSent: () => {}, onOver: (outcome) => call.settle(outcome) });
	request.onClientDisconnect(stream.abort);
	call.row.status = 200;
	return { status: 200, headers: { 'content-type': 'application/json' }, body: stream };
}
