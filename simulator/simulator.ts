/** Fake providers behind one handler, and the paths under `/_simulator` that control and inspect them. */
import type { Clock } from '../src/core/clock.ts';
import type { Handler, HttpRequest, HttpResponse } from '../src/core/handler.ts';
import type { Log } from '../src/core/log.ts';
import { createControl } from './control/control.ts';
import { createFaultRules } from './faults/fault-rules.ts';
import { createRateLimits } from './faults/rate-limits.ts';
import { createBodyReader } from './large-bodies.ts';
import { describeModel, listModels } from './list-models.ts';
import { createPromptCache } from './plan/prompt-cache.ts';
import { createReplayQueue } from './replay/scripted-responses.ts';
import { findRoute, type Route } from './routes.ts';
import { createSeededRandom } from './seeded-random.ts';
import { findModerationWire, serveModeration } from './serve-moderation.ts';
import { type RequestServer, serveRequest } from './serve-request.ts';
import { serveStoredResponse } from './serve-stored-response.ts';
import { defaultSimulatorSettings, type SimulatorSettings } from './simulator-settings.ts';
import { createStoredResponses } from './stored-responses.ts';
import { createThreads } from './threads.ts';
import { VendorError } from './vendor-error.ts';
import type { WireTarget } from './wires/wire.ts';
import { createBill } from './witness/bill.ts';
import { createRequestLog, lastFour } from './witness/received-requests.ts';

export interface SimulatorPorts {
	readonly clock: Clock;
	readonly log?: Log;
	/** Rejects connections for this many seconds, at most 600; 0 ends the outage. `POST /_simulator/outage` calls it. */
	setOutage(seconds: number): void;
}

export interface Simulator {
	readonly handle: Handler;
}

export function createSimulator(settings: Partial<SimulatorSettings>, ports: SimulatorPorts): Simulator {
	const initial = { ...defaultSimulatorSettings, ...settings };
	let current: SimulatorSettings = initial;
	const numbers = new Map<string, number>();
	const server: RequestServer = {
		settings: () => current,
		clock: ports.clock,
		bill: createBill(),
		requestLog: createRequestLog(),
		rules: createFaultRules(),
		rateLimits: createRateLimits(ports.clock),
		replays: createReplayQueue(),
		cache: createPromptCache(initial.minimumCachedTokens),
		bodies: createBodyReader(),
		threads: createThreads(),
		responses: createStoredResponses(),
		nextNumber(wire) {
			const number = (numbers.get(wire) ?? 0) + 1;
			numbers.set(wire, number);
			return number;
		},
	};
	const control = createControl(server, {
		change(changes) {
			current = { ...current, ...changes };
		},
		reset() {
			current = initial;
			numbers.clear();
		},
		setOutage(seconds) {
			ports.log?.info('simulator outage', { seconds });
			ports.setOutage(seconds);
		},
	});

	return {
		async handle(request) {
			if (request.path === '/' || request.path === '/healthz') {
				return { status: 200, headers: jsonHeaders, body: '{"role":"simulator","ok":true}' };
			}
			if (request.path.startsWith('/_simulator')) return control(request);
			const engine = findModerationWire(request.path);
			if (engine !== undefined) return serveModeration(request, engine, server);
			const route = findRoute(request.path);
			if (route === undefined) {
				const body = JSON.stringify({
					error: `No provider is simulated at ${request.path}; see /openai, /anthropic, /gemini, /azure, /bedrock, /judge and /_simulator`,
				});
				return { status: 404, headers: jsonHeaders, body };
			}
			return serveRoute(request, route, server);
		},
	};
}

const jsonHeaders = { 'content-type': 'application/json' };

async function serveRoute(request: HttpRequest, route: Route, server: RequestServer): Promise<HttpResponse> {
	const target: WireTarget = {
		headers: request.headers,
		query: new URLSearchParams(request.query),
		model: route.model,
		action: 'generate',
		isStream: route.isStream === true,
		isVersioned: route.isVersioned === true,
	};
	switch (route.action) {
		case 'models':
		case 'unknown':
		case 'stored':
			return serveRest(request, route, target, server);
		default:
			return serveRequest(request, route.wire, { ...target, action: route.action }, server);
	}
}

/** Serves model lists and stored responses, and the vendor's own error for unknown paths. */
function serveRest(request: HttpRequest, { wire, action, stored }: Route, target: WireTarget, server: RequestServer): HttpResponse {
	const key = wire.readKey(target);
	const random = createSeededRandom(server.nextNumber(wire.name));
	const requestId = wire.newRequestId(random);
	const log = (status: number): void => {
		if (stored === undefined) return;
		const { method, path, query } = request;
		const time = new Date(server.clock.nowMs()).toISOString();
		const row = server.requestLog.open({ id: requestId, time, method, path, query, wire: wire.name });
		Object.assign(row, { key: lastFour(key), status, outcome: status === 200 ? 'complete' : 'rejected' });
	};
	const common = {
		requestId,
		random,
		nowMs: server.clock.nowMs(),
		responseNumber: 1,
		retryAfterEvery: 0,
		inputTokens: 0,
		model: target.model ?? '',
		isStream: false,
	};
	try {
		wire.checkAccess(target, key, key.includes('bad-key') || server.settings().rejectedKeys.includes(key));
		if (action === 'unknown') throw new VendorError('path-unknown', `${request.method} ${request.path}`);
		if (stored !== undefined) {
			const body = serveStoredResponse(request.method, stored, `${wire.name} ${key}`, target.query, server.responses);
			log(200);
			return {
				status: 200,
				headers: { ...jsonHeaders, ...wire.headers({ ...common, status: 200, error: undefined }) },
				body: JSON.stringify(body),
			};
		}
		if (request.method !== 'GET') throw new VendorError('method-wrong', `${request.method} ${request.path}`);
		const headers = { ...jsonHeaders, ...wire.headers({ ...common, status: 200, error: undefined }) };
		const response = target.model === undefined ? listModels(wire.name) : describeModel(wire.name, target.model);
		return { status: 200, headers, body: JSON.stringify(response) };
	} catch (cause) {
		if (!(cause instanceof VendorError)) throw cause;
		log(cause.status);
		const headers = { ...jsonHeaders, ...wire.headers({ ...common, status: cause.status, error: cause }) };
		return { status: cause.status, headers, body: JSON.stringify(wire.renderError(cause, { requestId, key, model: common.model })) };
	}
}
