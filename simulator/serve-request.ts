/** Serves one inference request: access, faults, recordings, planning, rendering, the bill. */
import { readAll } from '../src/core/byte-stream.ts';
import type { Clock } from '../src/core/clock.ts';
import { ConnectionReset, type HttpRequest, type HttpResponse } from '../src/core/handler.ts';
import { Rejection } from '../src/core/rejection.ts';
import { readFaultNames, splitModelName } from './faults/fault-names.ts';
import type { FaultPlan } from './faults/fault-plan.ts';
import type { FaultRules } from './faults/fault-rules.ts';
import type { CountedAccount, RateLimits } from './faults/rate-limits.ts';
import { type JsonObject, textOf } from './json-value.ts';
import type { BodyReader } from './large-bodies.ts';
import { type OpenRequest, openRequest, type RequestWitness } from './open-request.ts';
import { maxStallMs, pacedStream } from './paced-stream.ts';
import type { EmbeddingInput } from './plan/embed-text.ts';
import { planResponse, type ResponseScript } from './plan/plan-response.ts';
import type { PromptCache } from './plan/prompt-cache.ts';
import type { PromptDigest } from './plan/prompt-digest.ts';
import { type PromptReading, type ReadRequest, readPrompt } from './read-request.ts';
import { renderRecording, withMalformedEvent } from './render-body.ts';
import type { ReplayQueue } from './replay/scripted-responses.ts';
import { createSeededRandom, hashText } from './seeded-random.ts';
import type { SimulatorSettings } from './simulator-settings.ts';
import type { ResponseTurn, StoredResponses } from './stored-responses.ts';
import type { Threads, ThreadTurn } from './threads.ts';
import { errorOfStatus, VendorError } from './vendor-error.ts';
import type { ModerationWireName } from './wires/moderation-wire.ts';
import {
	headerText,
	type ModelRequest,
	type Wire,
	type WireEvent,
	type WireName,
	type WireResponse,
	type WireTarget,
} from './wires/wire.ts';

export interface RequestServer extends RequestWitness {
	readonly settings: () => SimulatorSettings;
	readonly clock: Clock;
	readonly rules: FaultRules;
	readonly rateLimits: RateLimits;
	readonly replays: ReplayQueue;
	readonly cache: PromptCache;
	readonly bodies: BodyReader;
	readonly threads: Threads;
	readonly responses: StoredResponses;
	/** Counts the responses of a wire dialect from 1. */
	nextNumber(wire: WireName | ModerationWireName): number;
}

type ReadPrompt = Extract<PromptReading, { readonly digest: PromptDigest }>;

/** State of a request while it is served. */
interface Serving {
	readonly request: HttpRequest;
	readonly wire: Wire;
	readonly target: WireTarget;
	readonly server: RequestServer;
	readonly call: OpenRequest;
	readonly requestId: string;
	readonly number: number;
	readonly key: string;
	model: string;
	faults: FaultPlan;
	inputTokens: number;
	/** Account with rate limits. */
	account?: CountedAccount | undefined;
	/** Turn of a stored conversation. */
	turn?: ThreadTurn;
	/** Request that stores its response, or refers to stored ones. */
	stored?: ResponseTurn;
	/** True if a response is generated to its end, although the client has disconnected. */
	outlivesClient?: boolean;
}

export async function serveRequest(request: HttpRequest, wire: Wire, target: WireTarget, server: RequestServer): Promise<HttpResponse> {
	const number = server.nextNumber(wire.name);
	const requestId = wire.newRequestId(createSeededRandom(seedOf(wire.name, number)));
	const opened = openRequest(request, requestId, wire.name, server);
	const call: OpenRequest = {
		...opened,
		settle(outcome) {
			serving.turn?.end();
			opened.settle(outcome);
		},
	};
	const key = wire.readKey(target);
	const serving: Serving = {
		request,
		wire,
		target,
		server,
		call,
		requestId,
		number,
		key,
		model: target.model ?? '',
		faults: {},
		inputTokens: 0,
	};
	call.identify(key, serving.model);
	request.onClientDisconnect(() => {
		if (serving.outlivesClient !== true) call.settle('aborted');
	});
	try {
		return await respondToRequest(serving);
	} catch (cause) {
		if (cause instanceof VendorError) return renderError(serving, cause);
		if (cause instanceof Rejection) return renderError(serving, new VendorError('too-large', 'Request exceeds the maximum size'));
		call.settle('broken');
		throw cause;
	}
}

async function respondToRequest(serving: Serving): Promise<HttpResponse> {
	const { request, wire, target, server, call, key } = serving;
	const settings = server.settings();
	const bytes = await readAll(request.body, settings.maxBodyBytes, request.announcedLength);
	call.row.bodyBytes = bytes.length;
	const read = await server.bodies.read(bytes, wire, target, settings.recordBodies);
	server.requestLog.keepReceived(call.row, request, read.sha256, settings.recordBodies ? bytes : undefined);
	if (request.method !== 'POST') throw new VendorError('method-wrong', `${request.method} ${request.path}`);
	wire.checkAccess(target, key, key.includes('bad-key') || settings.rejectedKeys.includes(key));

	serving.model = read.model;
	call.identify(key, serving.model);
	const matched = { wire: wire.name, key, model: serving.model, path: request.path };
	const faults = {
		...server.rules.take(matched),
		...readFaultNames(splitModelName(serving.model).faults ?? ''),
		...readFaultNames(headerText(request.headers, 'x-simulator-fault')),
	};
	serving.faults = faults;
	call.row.faults = Object.keys(faults);
	await waitForHead(serving, faults.firstByteMs ?? settings.firstByteMs);
	const queued = server.replays.take(matched);
	if (queued !== undefined && 'recording' in queued) return renderRecording(queued.recording, call, server.clock, request);
	if (faults.status !== undefined) throw errorOfStatus(faults.status, faults.isQuota === true, serving.model, faults.retryAfterSeconds);
	serving.account = server.rateLimits.take(matched);
	if (serving.account?.isExceeded === true) {
		const seconds = Math.ceil(serving.account.limits().resetMs / 1000);
		throw errorOfStatus(429, false, serving.model, seconds);
	}
	const { outline } = read;
	const reading = readingOf(serving, read);
	if (outline === undefined || reading === undefined) throw new VendorError('invalid', wire.notJsonMessage);
	if ('rejection' in reading) throw VendorError.from(reading.rejection);
	if ('embedded' in reading) return respondWithEmbeddings(serving, reading.embedded, outline);
	call.row.returnedReasoning = reading.plan.returnedReasoning ?? 0;
	return respondToModelRequest(serving, wire.openRequest(outline, serving.model, target), reading, queued?.script);
}

/** Returns what was read, or reads the whole conversation if the request refers to a stored one. */
function readingOf(serving: Serving, { reading, threaded, stored }: ReadRequest): PromptReading | undefined {
	const { server, wire, target, key, model } = serving;
	if (threaded !== undefined) {
		serving.turn = server.threads.open(key, threaded, target);
		return readPrompt(serving.turn.body, model, wire, target);
	}
	if (stored === undefined) return reading;
	serving.stored = server.responses.open(`${wire.name} ${key}`, stored);
	return serving.stored.refersToStored ? readPrompt(serving.stored.body, model, wire, target) : reading;
}

/** Responds with vectors, which have no plan, no cache and no stream. */
function respondWithEmbeddings(serving: Serving, embedded: EmbeddingInput, outline: JsonObject): HttpResponse {
	const { wire, call, faults, model, target } = serving;
	if (faults.replacement !== undefined) return responseReplacement(serving, faults.replacement);
	if (faults.breakOff?.manner === 'error-event' || faults.declines === 'failure') throw errorOfStatus(500, false, model, undefined);
	serving.inputTokens = embedded.tokens;
	const usage = { input: embedded.tokens, cacheWrite: 0, cacheWriteLong: 0, cacheRead: 0, output: 0, reasoning: 0, webSearches: 0 };
	call.accept(usage);
	const options = { outline, model, target, omitsUsage: faults.omitsUsage === true };
	const pieces = wire.embeddings?.renderEmbeddings(embedded, options) ?? [];
	const isWhole = embedded.features.length <= maxVectorsAtOnce || faults.breakOff !== undefined || faults.isMalformed === true;
	return isWhole ? sendAtOnce(serving, [...pieces].join('')) : sendInPieces(serving, pieces);
}

/** Number of vectors up to which a response is rendered without a pause for other requests. */
const maxVectorsAtOnce = 32;

function sendInPieces(serving: Serving, pieces: Iterable<string>): HttpResponse {
	const { server, call, faults, request } = serving;
	const pace = { firstEventMs: 0, intervalMs: 0, breakOff: undefined };
	const stream = pacedStream(asEvents(pieces), pace, server.clock, () => '', {
		onSent: () => {},
		onOver: (outcome) => call.settle(outcome),
	});
	request.onClientDisconnect(stream.abort);
	return respond(serving, 200, faults.hasWrongContentType === true ? 'text/plain' : 'application/json', stream);
}

function* asEvents(pieces: Iterable<string>): Generator<WireEvent> {
	for (const bytes of pieces) yield { bytes, outputTokens: 0 };
}

/** Returns a seed that differs for each response and is the same in each run. */
function seedOf(purpose: string, number: number): number {
	return hashText(`${purpose} ${number}`);
}

/** @throws ConnectionReset when the fault is silence, or when the client disconnects meanwhile. */
async function waitForHead({ request, server, faults }: Serving, delayMs: number): Promise<void> {
	if (faults.silence === 'reset') throw new ConnectionReset();
	const waitMs = faults.silence === 'hang' ? maxStallMs : delayMs;
	if (waitMs <= 0) return;
	await new Promise<void>((resolve, reject) => {
		const timer = server.clock.after(waitMs, resolve);
		request.onClientDisconnect(() => {
			timer.cancel();
			reject(new ConnectionReset('The client disconnected while waiting'));
		});
	});
	if (faults.silence === 'hang') throw new ConnectionReset();
}

function respondToModelRequest(
	serving: Serving,
	model: ModelRequest,
	{ plan: prompt, digest }: ReadPrompt,
	script: ResponseScript | undefined,
): HttpResponse {
	const { server, call, faults, key } = serving;
	if (model.countResponse !== undefined) {
		call.settle('complete');
		return respond(serving, 200, 'application/json', JSON.stringify(model.countResponse(digest.tokens)));
	}
	call.row.isStream = model.isStream;
	if (faults.replacement !== undefined) return responseReplacement(serving, faults.replacement);
	const canFail = serving.target.action === 'responses';
	if ((!model.isStream && faults.breakOff?.manner === 'error-event') || (faults.declines === 'failure' && !canFail)) {
		throw errorOfStatus(500, false, serving.model, undefined);
	}
	const input = server.cache.use(model.caching, `${key} ${serving.model}`, digest, server.clock.nowMs());
	serving.inputTokens = input.input + input.cacheWrite + input.cacheRead;
	const random = createSeededRandom(seedOf(`${serving.wire.name} answer`, serving.number));
	const plan = planResponse(
		prompt,
		input,
		{
			...(faults.outputTokens === undefined ? {} : { outputTokens: faults.outputTokens }),
			...(faults.thinkingTokens === undefined ? {} : { thinkingTokens: faults.thinkingTokens }),
			...(faults.declines === undefined ? {} : { declines: faults.declines }),
			...(script === undefined ? {} : { script }),
		},
		random,
	);
	call.accept(plan.usage);
	const response: WireResponse = {
		plan,
		random,
		createdSeconds: Math.floor(server.clock.nowMs() / 1000),
		quirks: {
			omitsUsage: faults.omitsUsage === true,
			repeatsStart: faults.repeatsStart === true,
			omitsIndex: faults.omitsIndex === true,
			emptiesIds: faults.emptiesIds === true,
			tokensPerEvent: faults.tokensPerEvent,
		},
		...(serving.stored !== undefined && { storage: serving.stored }),
	};
	if (model.isStream) return respondWithStream(serving, model, response);
	return model.renderQueued === undefined
		? respondAtOnce(serving, model, response)
		: respondInBackground(serving, model.renderQueued, model.renderNonStreaming(response), response);
}

function respondWithStream(serving: Serving, model: ModelRequest, response: WireResponse): HttpResponse {
	const { server, call, faults, request } = serving;
	const rendered = noteResponse(serving, model, response, model.renderEvents(response));
	const events = faults.isMalformed === true ? withMalformedEvent(rendered) : rendered;
	const outlivesClient = model.renderQueued !== undefined;
	serving.outlivesClient = outlivesClient;
	const pace = {
		firstEventMs: faults.firstEventMs ?? 0,
		intervalMs: faults.intervalMs ?? server.settings().intervalMs,
		breakOff: faults.breakOff,
		outlivesClient,
	};
	const stream = pacedStream(events, pace, server.clock, model.renderErrorEvent, {
		onSent: (event) => call.generated(event.outputTokens, event.webSearches),
		onOver: (outcome) => call.settle(outcome),
	});
	request.onClientDisconnect(stream.abort);
	serving.stored?.setCancel(stream.stop);
	return respond(serving, 200, faults.hasWrongContentType === true ? 'text/plain' : model.streamContentType, stream);
}

/** Passes events through. With the last one it stores the conversation under the id of the first. */
function* noteResponse(serving: Serving, model: ModelRequest, response: WireResponse, events: Iterable<WireEvent>): Generator<WireEvent> {
	let id = '';
	for (const event of events) {
		if (id === '') id = /"id":"(msg_\w+)"/.exec(event.bytes.toString())?.[1] ?? '';
		if (event.bytes.toString().startsWith('event: message_stop')) keepResponse(serving, model, response, id);
		yield event;
	}
}

/** Skips a `refusal` of the model, which is no turn of the conversation. */
function keepResponse({ turn }: Serving, model: ModelRequest, response: WireResponse, id: string): void {
	const stop = response.plan.choices[0]?.stop;
	if (turn === undefined || id === '' || stop === 'refusal' || stop === 'filter') return;
	turn.keep(id, model.responseContent?.(response) ?? []);
}

function respondAtOnce(serving: Serving, model: ModelRequest, response: WireResponse): HttpResponse {
	const whole = model.renderNonStreaming(response);
	keepResponse(serving, model, response, textOf(whole['id']));
	if (serving.target.action === 'responses') response.storage?.store(whole);
	serving.call.generated(response.plan.usage.output, response.plan.usage.webSearches);
	return sendAtOnce(serving, JSON.stringify(whole));
}

/** Generates a response after the request has ended. Its output is billed when it is complete, unless it was cancelled. */
function respondInBackground(
	serving: Serving,
	renderQueued: (final: JsonObject) => JsonObject,
	final: JsonObject,
	{ plan }: WireResponse,
): HttpResponse {
	const { server, call, faults, stored } = serving;
	const queued = renderQueued(final);
	const durationMs = (faults.intervalMs ?? server.settings().intervalMs) * plan.usage.output;
	let timer = server.clock.after(faults.firstEventMs ?? 0, () => {
		stored?.store({ ...queued, status: 'in_progress' });
		timer = server.clock.after(durationMs, () => {
			stored?.store(final);
			call.generated(plan.usage.output, plan.usage.webSearches);
			call.settle('complete');
		});
	});
	stored?.setCancel(() => {
		timer.cancel();
		stored.store({ ...queued, status: 'cancelled' });
		call.settle('aborted');
	});
	stored?.store(queued);
	return respond(serving, 200, 'application/json', JSON.stringify(queued));
}

/** Sends a body in one piece, or as much of it as the faults let through. */
function sendAtOnce(serving: Serving, text: string): HttpResponse {
	const { server, call, faults, request } = serving;
	const type = faults.hasWrongContentType === true ? 'text/plain' : 'application/json';
	if (faults.breakOff !== undefined) {
		const half = { bytes: text.slice(0, text.length / 2), outputTokens: 0 };
		const pace = { firstEventMs: 0, intervalMs: server.settings().intervalMs, breakOff: { ...faults.breakOff, afterEvents: 1 } };
		const stream = pacedStream([half].values(), pace, server.clock, () => '', {
			onSent: () => {},
			onOver: (outcome) => call.settle(outcome),
		});
		request.onClientDisconnect(stream.abort);
		return respond(serving, 200, type, stream);
	}
	call.settle('complete');
	return respond(serving, 200, type, faults.isMalformed === true ? text.slice(0, text.length * 0.6) : text);
}

function responseReplacement(serving: Serving, replacement: 'html' | 'empty' | 'redirect'): HttpResponse {
	serving.call.settle('broken');
	if (replacement === 'redirect') {
		const response = respond(serving, 307, 'text/plain', '');
		return { ...response, headers: { ...response.headers, location: 'https://example.com/elsewhere' } };
	}
	if (replacement === 'empty') return respond(serving, 200, serving.call.row.isStream ? 'text/event-stream' : 'application/json', '');
	return respond(
		serving,
		200,
		'text/html',
		'<!doctype html><html><head><title>Welcome</title></head><body><h1>Maintenance</h1></body></html>\n',
	);
}

function renderError(serving: Serving, error: VendorError): HttpResponse {
	const { wire, requestId, key, model, call } = serving;
	call.settle('rejected');
	return respond(serving, error.status, 'application/json', JSON.stringify(wire.renderError(error, { requestId, key, model })), error);
}

function respond(serving: Serving, status: number, contentType: string, body: HttpResponse['body'], error?: VendorError): HttpResponse {
	const { wire, requestId, server, number, inputTokens, model, call, account } = serving;
	call.row.status = status;
	account?.countTokens(inputTokens);
	const headers = wire.headers({
		requestId,
		status,
		random: createSeededRandom(number),
		nowMs: server.clock.nowMs(),
		responseNumber: number,
		retryAfterEvery: server.settings().retryAfterEvery,
		inputTokens,
		model,
		isStream: call.row.isStream,
		error,
		accountLimits: account?.limits(),
	});
	return { status, headers: { 'content-type': contentType, ...headers }, body };
}
