/** Gateway with scripted dependencies. Time stands still until the test advances it. */

import { isByteStream, streamOf } from '../../src/core/byte-stream.ts';
import type { Caller } from '../../src/core/caller.ts';
import type { ByteFlow, ByteSink, ByteStream, HeaderFields, HttpRequest, HttpResponse } from '../../src/core/handler.ts';
import { noMetrics } from '../../src/core/metrics.ts';
import { Rejection } from '../../src/core/rejection.ts';
import type { Team } from '../../src/core/team.ts';
import type { UpstreamRequest, UpstreamResponse } from '../../src/core/upstream.ts';
import { createReasoningEncryption } from '../../src/io/reasoning-encryption.ts';
import type { TrafficSettings } from '../../src/policy/resilience/traffic-settings.ts';
import { createGateway, type Gateway } from '../../src/roles/gateway/gateway.ts';
import type { GatewayPorts, GatewayProvider, GatewaySettings, TeamDirectory } from '../../src/roles/gateway/gateway-settings.ts';
import { TrafficResolver } from '../../src/roles/gateway/traffic-resolver.ts';
import { UnpricedModels } from '../../src/roles/gateway/unpriced-models.ts';
import type { AdmissionStore } from '../../src/stores/contracts/admission.ts';
import { createMemoryAdmission } from '../../src/stores/memory/memory-admission.ts';
import { createMemoryResponseOwners } from '../../src/stores/memory/memory-response-owners.ts';
import { restoreMissing, type SumUpTeam } from '../../src/stores/restoring-admission.ts';
import { ManualClock } from './manual-clock.ts';
import { createMemoryLedger } from './memory-ledger.ts';
import { createRecordingLog } from './recording-log.ts';

/** Body that a test controls chunk by chunk. */
export class HandStream implements ByteStream, ByteFlow {
	isCancelled = false;
	resumeCount = 0;
	sink: ByteSink | undefined;

	start(sink: ByteSink): ByteFlow {
		if (this.sink !== undefined) throw new Error('a body is started at most once');
		this.sink = sink;
		return this;
	}

	resume(): void {
		this.resumeCount++;
	}

	cancel(): void {
		this.isCancelled = true;
	}

	write(text: string | Buffer): boolean {
		return this.sink?.write(Buffer.from(text)) ?? false;
	}
}

/** Collects a streaming response like a client. */
export class Reader implements ByteSink {
	text = '';
	ending: 'open' | 'ended' | 'failed' = 'open';
	canWrite = true;

	write(chunk: Buffer): boolean {
		if (this.ending !== 'open') throw new Error('bytes after the end');
		this.text += chunk.toString('latin1');
		return this.canWrite;
	}

	end(): void {
		if (this.ending !== 'open') throw new Error('ended twice');
		this.ending = 'ended';
	}

	fail(): void {
		if (this.ending !== 'open') throw new Error('failed after the end');
		this.ending = 'failed';
	}
}

export type ScriptedResponse = (request: UpstreamRequest) => Promise<UpstreamResponse> | UpstreamResponse;

export function callerOf(clientId: string, scopes: readonly string[] = ['tollgate/invoke']): Caller {
	return { clientId, issuer: 'https://issuer.test', scopes: new Set(scopes), expiresAtSeconds: 4_000_000_000 } as unknown as Caller;
}

/** Terms without retries, unless a test enables them. */
export const testTraffic: TrafficSettings = { retries: 0, retryStatuses: [], maxConcurrent: 1024, maxQueued: 256, ejectAfterFailures: 5 };

export const testSettings: GatewaySettings = {
	scopeBase: 'tollgate',
	trustEdge: false,
	tokenHeaders: ['authorization', 'x-api-key', 'api-key'],
	maxBodyBytes: 1_000_000,
	maxBufferedRequestBytes: 10_000_000,
	timeouts: { connectMs: 1000, firstByteMs: 2000, idleMs: 3000, totalMs: 4000, streamTotalMs: 60_000 },
	heartbeatMs: 15_000,
	providers: [
		{
			name: 'provider_a',
			kind: 'anthropic',
			baseUrl: 'https://a.test',
			apiKey: 'sk-ant-secret-key-0001',
			canReachPrivateNetwork: false,
			traffic: testTraffic,
		},
		{
			name: 'provider_b',
			kind: 'openai',
			baseUrl: 'https://b.test/v1',
			apiKey: 'sk-proj-secret-key-abcd',
			canReachPrivateNetwork: false,
			traffic: testTraffic,
		},
		{
			name: 'provider_c',
			kind: 'gemini',
			baseUrl: 'https://c.test',
			apiKey: 'gemini-secret-key',
			canReachPrivateNetwork: false,
			traffic: testTraffic,
		},
		{
			name: 'provider_d',
			kind: 'azure-openai',
			baseUrl: 'https://d.test',
			apiVersion: '2024-10-21',
			apiKey: 'azure-secret-key',
			canReachPrivateNetwork: false,
			models: ['our-gpt'],
			traffic: testTraffic,
		},
	],
	routing: {
		providerHeader: 'ignore',
		aliases: { fast: 'provider_b/gpt-5-mini' },
		defaults: { chat: 'provider_b', messages: 'provider_a', responses: 'provider_b' },
	},
	isTranslationStrict: false,
	unregisteredClients: { tier: 'sandbox' },
	tiers: {
		sandbox: { requestsPerMinute: null, dailyTokens: null, monthlyBudgetUsd: null },
		standard: { requestsPerMinute: null, dailyTokens: null, monthlyBudgetUsd: null },
	},
	budgets: {
		isEnabled: true,
		warningThresholdPercent: 80,
		hardLimitPercent: 100,
		reservation: 'estimate',
		onStreamOver: 'extend',
		unknownPrice: 'allow',
		defaultRate: { inputUsd: '10.00', outputUsd: '50.00' },
	},
};

/** Gemini through its OpenAI-compatible API. */
export const compatProvider: GatewayProvider = {
	name: 'compat',
	kind: 'gemini',
	usesOpenaiDialect: true,
	baseUrl: 'https://compat.test',
	apiKey: 'compat-key',
	canReachPrivateNetwork: false,
	traffic: testTraffic,
};

const testTeam: Team = { id: 'team-1', name: 'One', tier: 'standard', clientIds: ['client-1'] };

/** Every client is in one team, without budgets, prices or routing rules. */
export function teamDirectory(changes: Partial<TeamDirectory> = {}): TeamDirectory {
	return {
		teamOf: () => testTeam,
		team: () => testTeam,
		budgetsFor: () => [],
		budgetsOf: () => [],
		priceOverride: () => undefined,
		canSetAttributes: () => false,
		overriddenModels: () => [],
		routingRules: () => [],
		routingRulesWithMonitored: () => [],
		...changes,
	};
}

/** Gateway, its upstream requests, and its log. */
export class GatewayBench {
	readonly clock = new ManualClock();
	readonly sent: UpstreamRequest[] = [];
	readonly log = createRecordingLog();
	readonly gateway: Gateway;
	/** Replaces random numbers by their middle value. */
	readonly traffic = new TrafficResolver({ clock: this.clock, log: this.log, metrics: noMetrics, chance: () => 0.5 });
	readonly ledger = createMemoryLedger();
	readonly owners = createMemoryResponseOwners({ clock: this.clock });
	readonly admission: AdmissionStore;
	respond: ScriptedResponse = () => jsonResponse(200, '{"id":"x"}');

	constructor(settings: Partial<GatewaySettings> = {}, ports: Partial<GatewayPorts> = {}) {
		const { clock } = this;
		const sumUp: SumUpTeam = async (team) => ({ team, tokensToday: 0, budgets: [], endedIds: [] });
		// Separate clock, so that the admission's timeouts do not count as timers of the test.
		this.admission = restoreMissing(createMemoryAdmission({ clock }), {
			clock: new ManualClock(),
			sumUp,
			endedSinceMs: () => clock.nowMs(),
		});
		this.gateway = createGateway(
			{ ...testSettings, ...settings },
			{
				upstream: (request) => {
					this.sent.push(request);
					return untilClientDisconnects(request, this.respond);
				},
				reasoningEncryption: createReasoningEncryption(),
				verifier: {
					verify(accessToken) {
						if (accessToken === 'good') return callerOf('client-1');
						if (accessToken === 'slow') return Promise.resolve(callerOf('client-2'));
						if (accessToken === 'unscoped') return callerOf('client-3', ['tollgate/admin']);
						throw new Rejection('token_invalid');
					},
				},
				teams: teamDirectory({
					teamOf: (clientId) => (clientId === 'client-1' ? testTeam : undefined),
					team: (id) => (id === 'team-1' || id === 'client-taken' ? { id, name: id, tier: 'standard', clientIds: [] } : undefined),
				}),
				ledger: this.ledger,
				responseOwners: this.owners,
				admission: this.admission,
				unpriced: new UnpricedModels(),
				traffic: this.traffic,
				clock: this.clock,
				log: this.log,
				readiness: () => ({ isReady: true, dependencies: { key_set: 'ok' } }),
				...ports,
			},
		);
	}

	async ask(
		path: string,
		body: string | Buffer | ByteStream,
		headers: HeaderFields = {},
		more: Partial<HttpRequest> = {},
	): Promise<HttpResponse> {
		return this.gateway.handle(this.request(path, body, headers, more));
	}

	request(path: string, body: string | Buffer | ByteStream, headers: HeaderFields = {}, more: Partial<HttpRequest> = {}): HttpRequest {
		const bytes = typeof body === 'string' || Buffer.isBuffer(body) ? Buffer.from(body) : undefined;
		const [bare = '', query = ''] = path.split('?');
		return {
			id: 'req-1',
			method: 'POST',
			path: bare,
			query,
			headers: { authorization: 'Bearer good', 'content-type': 'application/json', ...headers },
			body: bytes === undefined ? (body as ByteStream) : streamOf([bytes]),
			announcedLength: bytes?.length,
			peerAddress: '127.0.0.1',
			arrivedMs: this.clock.monotonicMs(),
			onClientDisconnect: () => undefined,
			...more,
		};
	}
}

/** Rejects like every upstream if the client disconnects before the response has begun. */
function untilClientDisconnects(request: UpstreamRequest, respond: ScriptedResponse): Promise<UpstreamResponse> {
	return new Promise((resolve, reject) => {
		let abort: (() => void) | undefined;
		request.onClientDisconnect((cause = new Rejection('client_closed')) => {
			abort?.();
			reject(cause);
		});
		const respondLater = async (): Promise<UpstreamResponse> =>
			respond({ ...request, onClientDisconnect: (listener) => (abort = listener) });
		respondLater().then(resolve, reject);
	});
}

export function jsonResponse(status: number, body: string | Buffer, headers: HeaderFields = {}): UpstreamResponse {
	return { status, headers: { 'content-type': 'application/json', ...headers }, body: streamOf([Buffer.from(body)]) };
}

export function sseResponse(body: ByteStream, headers: HeaderFields = {}): UpstreamResponse {
	return { status: 200, headers: { 'content-type': 'text/event-stream; charset=utf-8', ...headers }, body };
}

export function textOf(response: HttpResponse): string {
	if (response.body === null) return '';
	if (isByteStream(response.body)) throw new Error('the answer is a stream');
	return response.body.toString();
}

/** Body of a request to a provider. */
export function sentText({ body }: UpstreamRequest): string {
	if (!Buffer.isBuffer(body)) throw new Error('the body that was sent is not there as a whole');
	return body.toString();
}

/** Reads a streaming response; returns at once, and the reader fills while the stream runs. */
export function readStream(response: HttpResponse): { reader: Reader; flow: ByteFlow } {
	if (response.body === null || !isByteStream(response.body)) {
		throw new Error(`the answer is not a stream: ${response.status} ${textOf(response)}`);
	}
	const reader = new Reader();
	return { reader, flow: response.body.start(reader) };
}

/** Runs everything that is due in this iteration of the event loop and the next few. */
export async function settle(): Promise<void> {
	for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
}

export const chatBody = '{"model":"gpt-5","messages":[{"role":"user","content":"hi"}]}';
export const messagesBody = '{"model":"claude-x","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}';

interface ErrorBody {
	readonly type: string;
	readonly error: { readonly type: string; readonly message: string; readonly code: string; readonly param: string | null };
	readonly request_id: string;
}

export function errorOf(response: HttpResponse): ErrorBody {
	return JSON.parse(textOf(response)) as ErrorBody;
}

/** Status and code of an error that the gateway generated. */
export function summaryOf(response: HttpResponse): string {
	return `${response.status} ${errorOf(response).error.code}`;
}

/** Generic page with the request's id. */
export function isPage(response: HttpResponse): boolean {
	return response.headers['content-type'] === 'text/html; charset=utf-8' && /^<!doctype html>[^]*req-1/.test(textOf(response));
}

export const chatPath = '/v1/chat/completions';
export const messagesPath = '/v1/messages';
export const requestsJson = { accept: 'application/json' };
