/** Serves the paths under `/_simulator`: faults, outage, recordings, scripts, settings, the bill and the received requests. */

import { z } from 'zod';
import { readAll } from '../../src/core/byte-stream.ts';
import type { Handler, HttpRequest, HttpResponse } from '../../src/core/handler.ts';
import { Rejection } from '../../src/core/rejection.ts';
import { faultNames, readFaultNames } from '../faults/fault-names.ts';
import { maxFaultRules } from '../faults/fault-rules.ts';
import type { RequestServer } from '../serve-request.ts';
import type { SimulatorSettings } from '../simulator-settings.ts';
import { faultBody, outageBody, rateLimitBody, replayBody, scriptBody, settingsBody } from './control-schema.ts';

export interface ControlPorts {
	change(changes: Partial<SimulatorSettings>): void;
	/** Restores the initial settings and counters. */
	reset(): void;
	setOutage(seconds: number): void;
}

type ControlResponse = { readonly status: number; readonly body: object | null };
type Action = (request: HttpRequest) => ControlResponse | Promise<ControlResponse>;

const maxControlBytes = 33_554_432;

export function createControl(server: RequestServer, ports: ControlPorts): Handler {
	const actions = { ...readingActions(server), ...changingActions(server, ports) };
	return async (request) => {
		const path = request.path.replace(/\/$/, '');
		const action = actions[`${request.method} ${path}`];
		if (action !== undefined) return respond(await runAction(action, request));
		const known = Object.keys(actions);
		const isKnownPath = known.some((name) => name.endsWith(` ${path}`));
		return respond({ status: isKnownPath ? 405 : 404, body: { error: `${request.method} ${path} is not a control endpoint`, known } });
	};
}

async function runAction(action: Action, request: HttpRequest): Promise<ControlResponse> {
	try {
		return await action(request);
	} catch (cause) {
		if (cause instanceof z.ZodError) return { status: 400, body: { error: z.prettifyError(cause) } };
		if (cause instanceof SyntaxError) return { status: 400, body: { error: 'The body is not JSON' } };
		if (cause instanceof Rejection) return { status: cause.status, body: { error: cause.message } };
		throw cause;
	}
}

function respond({ status, body }: ControlResponse): HttpResponse {
	return {
		status,
		headers: body === null ? {} : { 'content-type': 'application/json' },
		body: body === null ? null : JSON.stringify(body),
	};
}

const done: ControlResponse = { status: 204, body: null };

async function readBody<T>(request: HttpRequest, schema: z.ZodType<T>): Promise<T> {
	const parsed: unknown = JSON.parse((await readAll(request.body, maxControlBytes)).toString('utf8'));
	return schema.parse(parsed);
}

function readingActions(server: RequestServer): Record<string, Action> {
	return {
		'GET /_simulator/bill': () => ({ status: 200, body: server.bill.render() }),
		'GET /_simulator/requests': ({ query }) => {
			const filter = new URLSearchParams(query);
			const limit = Math.min(Math.max(1, Number(filter.get('limit') ?? '100') || 100), 100_000);
			const requested = {
				key: filter.get('key') ?? undefined,
				model: filter.get('model') ?? undefined,
				dialect: filter.get('dialect') ?? undefined,
				id: filter.get('id') ?? undefined,
			};
			return { status: 200, body: { data: server.requestLog.list({ limit, ...requested }) } };
		},
		'GET /_simulator/faults': () => ({
			status: 200,
			body: {
				rules: server.rules.list(),
				names: faultNames.map(({ words, number, effect }) => ({
					name: words,
					...(number === undefined ? {} : { number: number.meaning, default: number.otherwise }),
					effect,
				})),
			},
		}),
		'GET /_simulator/settings': () => ({ status: 200, body: renderSettings(server.settings()) }),
	};
}

function changingActions(server: RequestServer, ports: ControlPorts): Record<string, Action> {
	return {
		'DELETE /_simulator/bill': () => {
			server.bill.clear();
			server.requestLog.clear();
			return done;
		},
		'POST /_simulator/faults': async (request) => {
			const rule = await readBody(request, faultBody);
			if (Object.keys(readFaultNames(rule.fault)).length === 0) {
				return { status: 400, body: { error: `"${rule.fault}" is an unknown fault`, known: faultNames.map((name) => name.words) } };
			}
			if (server.rules.list().length >= maxFaultRules) {
				return { status: 409, body: { error: `The limit of ${maxFaultRules} fault rules is reached: delete one first` } };
			}
			server.rules.add(rule);
			return { status: 201, body: { rules: server.rules.list() } };
		},
		'DELETE /_simulator/faults': () => {
			server.rules.clear();
			return done;
		},
		'POST /_simulator/rate_limits': async (request) => {
			const { window_seconds: seconds, ...rule } = await readBody(request, rateLimitBody);
			if (server.rateLimits.add({ ...rule, windowMs: seconds * 1000 })) return done;
			return { status: 409, body: { error: 'There are too many rate limits: delete them first' } };
		},
		'DELETE /_simulator/rate_limits': () => {
			server.rateLimits.clear();
			return done;
		},
		'POST /_simulator/outage': async (request) => {
			const { seconds } = await readBody(request, outageBody);
			ports.setOutage(seconds);
			return { status: 202, body: { seconds } };
		},
		'POST /_simulator/replay': (request) => queueRecording(request, server),
		'POST /_simulator/script': async (request) => {
			const { count, text, pieces, thinking, calls, ...match } = await readBody(request, scriptBody);
			const script = { pieces: pieces ?? (text === undefined ? [] : [text]), cutsFreely: pieces === undefined, thinking, calls };
			return queued(server, server.replays.add(match, { script }, count));
		},
		'DELETE /_simulator/replay': () => {
			server.replays.clear();
			return done;
		},
		'POST /_simulator/settings': async (request) => {
			const requested = await readBody(request, settingsBody);
			ports.change({
				...(requested.interval_ms === undefined ? {} : { intervalMs: requested.interval_ms }),
				...(requested.first_byte_ms === undefined ? {} : { firstByteMs: requested.first_byte_ms }),
				...(requested.record_bodies === undefined ? {} : { recordBodies: requested.record_bodies }),
				...(requested.retry_after_every === undefined ? {} : { retryAfterEvery: requested.retry_after_every }),
			});
			return { status: 200, body: renderSettings(server.settings()) };
		},
		'POST /_simulator/reset': () => {
			server.bill.clear();
			server.requestLog.clear();
			server.rules.clear();
			server.rateLimits.clear();
			server.replays.clear();
			server.cache.clear();
			server.threads.clear();
			server.responses.clear();
			ports.reset();
			return done;
		},
	};
}

async function queueRecording(request: HttpRequest, server: RequestServer): Promise<ControlResponse> {
	const {
		count,
		status,
		headers,
		body,
		body_base64: base64,
		sse,
		json,
		split: cut,
		interval_ms: intervalMs,
		...match
	} = await readBody(request, replayBody);
	const contentType = sse === undefined ? 'application/json' : 'text/event-stream; charset=utf-8';
	const bytes = base64 === undefined ? Buffer.from(body ?? sse ?? JSON.stringify(json), 'utf8') : Buffer.from(base64, 'base64');
	const recording = {
		status,
		headers: { 'content-type': contentType, ...headers },
		body: bytes,
		cut: typeof cut === 'string' ? cut : { bytes: cut.bytes, seed: cut.seed },
		intervalMs,
	};
	return queued(server, server.replays.add(match, { recording }, count));
}

function queued(server: RequestServer, isQueued: boolean): ControlResponse {
	return isQueued ? { status: 201, body: { queued: server.replays.size() } } : { status: 409, body: { error: 'The queue is full' } };
}

function renderSettings(settings: SimulatorSettings): object {
	return {
		interval_ms: settings.intervalMs,
		first_byte_ms: settings.firstByteMs,
		record_bodies: settings.recordBodies,
		retry_after_every: settings.retryAfterEvery,
	};
}
