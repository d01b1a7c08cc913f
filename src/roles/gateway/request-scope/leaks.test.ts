/** Every resource of a request is released, whatever fails, and whenever the client disconnects or the process shuts down. */
import { describe, expect, it } from 'vitest';
import { benchWith, chatResponse, claude, gpt } from '../../../../test/support/failover-rig.ts';
import {
	chatBody,
	chatPath,
	type GatewayBench,
	HandStream,
	jsonResponse,
	messagesBody,
	messagesPath,
	Reader,
	sentText,
	settle,
	sseResponse,
} from '../../../../test/support/gateway-bench.ts';
import { guardrailsWith } from '../../../../test/support/guarded-gateway.ts';
import { isByteStream } from '../../../core/byte-stream.ts';
import type { ByteFlow } from '../../../core/handler.ts';
import type { UpstreamRequest, UpstreamResponse } from '../../../core/upstream.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';
import type { GatewaySettings } from '../gateway-settings.ts';
import { GatewayWork } from '../gateway-work.ts';

const chunk = 'data: {"choices":[{"index":0,"delta":{"content":"darkfish"}}]}\n\n';

interface AppContext {
	readonly bench: GatewayBench;
	/** Bodies of provider responses that the test still has to end. */
	readonly bodies: HandStream[];
}

interface Outage {
	readonly settings?: Partial<GatewaySettings>;
	readonly traffic?: { readonly maxConcurrent?: number; readonly maxQueued?: number; readonly retries?: number };
	/** Behaviour of the provider; a complete response by default. */
	readonly respond?: (request: UpstreamRequest, context: AppContext) => UpstreamResponse | Promise<UpstreamResponse>;
	/** Breaks a dependency. */
	readonly breaks?: (context: AppContext) => void;
	/** Behaviour of a stream's provider after the first event, while the client reads. */
	readonly goOn?: (body: HandStream) => void;
	/** True if the stream then ends by itself. */
	readonly endsStream?: boolean;
	/** True if the store is broken, and therefore not checked for reservations. */
	readonly isStoreBroken?: boolean;
}

const guarded = { guardrails: guardrailsWith() };
const no = (): never => {
	throw new Error('no');
};
const unrecorded = (): Promise<never> => Promise.reject(new UpstreamError('records_unavailable'));
const responses = (request: UpstreamRequest, { bodies }: AppContext): UpstreamResponse => {
	request.onSent?.();
	if (request.target.includes('count_tokens')) return jsonResponse(200, '{"input_tokens":7}');
	if (!sentText(request).includes('"stream":true')) return jsonResponse(200, chatResponse);
	const body = new HandStream();
	bodies.push(body);
	return sseResponse(body);
};
const statusOf =
	(status: number): NonNullable<Outage['respond']> =>
	(request) => {
		request.onSent?.();
		return jsonResponse(status, '{"error":{"message":"no"}}');
	};

const weathers: Readonly<Record<string, Outage>> = {
	'all is well': {},
	'the provider is away': { respond: () => Promise.reject(new UpstreamError('provider_unreachable')) },
	'the provider never responds': { respond: () => new Promise(() => undefined) },
	'the provider fails': { respond: statusOf(500) },
	'the provider fails, and attempts are repeated': { respond: statusOf(500), traffic: { retries: 2 } },
	'the provider rejects the request': { respond: statusOf(400) },
	'the provider sends a page': { respond: () => ({ ...jsonResponse(200, '<html>', { 'content-type': 'text/html' }) }) },
	'the body of the response never ends': {
		respond: (_request, { bodies }) => {
			const body = new HandStream();
			bodies.push(body);
			return { status: 200, headers: { 'content-type': 'application/json' }, body };
		},
	},
	'the stream breaks': { goOn: (body) => body.sink?.fail(new UpstreamError('provider_disconnected')), endsStream: true },
	'the stream ends early': { goOn: (body) => body.sink?.end(), endsStream: true },
	'the stream ends': {
		goOn: (body) => {
			body.write('data: [DONE]\n\n');
			body.sink?.end();
		},
		endsStream: true,
	},
	'the stream reports an error': { goOn: (body) => body.write('data: {"error":{"message":"no"}}\n\n') },
	'guardrails block': { settings: guarded },
	'guardrails block the request': { settings: { guardrails: guardrailsWith({ words: { entries: ['hi'], action: 'block' } }) } },
	'guardrails monitor': { settings: { guardrails: guardrailsWith({ isEnforced: false }) } },
	'the client has defects': { respond: no },
	'all slots are taken': { traffic: { maxConcurrent: 0, maxQueued: 9 } },
	'the queue is full': { traffic: { maxConcurrent: 0, maxQueued: 0 } },
	'counters reject': { breaks: ({ bench }) => void (bench.admission.admit = unrecorded) },
	'counters have a defect': { breaks: ({ bench }) => void (bench.admission.admit = no) },
	'the ledger rejects': { breaks: ({ bench }) => void (bench.ledger.open = unrecorded) },
	'the ledger has a defect': { breaks: ({ bench }) => void (bench.ledger.open = no) },
	'the ledger fails after all': {
		breaks: ({ bench }) => {
			const { open } = bench.ledger;
			bench.ledger.open = (entry) => {
				void open(entry);
				return { failure: new UpstreamError('records_unavailable') };
			};
		},
	},
	'the ledger cannot close': { breaks: ({ bench }) => void (bench.ledger.close = no), isStoreBroken: true },
	'counters cannot settle': { breaks: ({ bench }) => void (bench.admission.settle = no), isStoreBroken: true },
	'counters cannot release': { breaks: ({ bench }) => void (bench.admission.release = unrecorded), isStoreBroken: true },
	'the body is too large': { settings: { maxBodyBytes: 10 } },
	'there is no memory for the body': { settings: { maxBufferedRequestBytes: 10 } },
};

const requests: Readonly<Record<string, readonly [path: string, body: string]>> = {
	'a chat completion': [chatPath, chatBody],
	'a stream': [chatPath, chatBody.replace('{', '{"stream":true,')],
	'a translated stream': [messagesPath, messagesBody.replace('{', '{"stream":true,')],
	'a token count': ['/v1/messages/count_tokens', messagesBody],
	'an estimated token count': ['/v1/messages/count_tokens', messagesBody.replace('claude-x', 'gpt-5')],
	embeddings: ['/v1/embeddings', '{"model":"gpt-5","input":"hi"}'],
	'a legacy completion as a stream': ['/v1/completions', '{"stream":true,"model":"gpt-5","prompt":"hi"}'],
};

/**
 * Moment when the client disconnects, or the process shuts down: turns of the event loop, then of its microtasks. Bodies take two turns of
 * the loop. `undefined`: neither happens before the response.
 */
const moments = [undefined, [0, 0], [2, 0], [2, 2], [2, 4], [3, 0], [3, 3], [4, 0], [5, 0]] as const;

async function pass([turns, microtasks]: readonly [number, number]): Promise<void> {
	for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
	for (let turn = 0; turn < microtasks; turn++) await Promise.resolve();
}

type Way = 'disconnect' | 'drain' | 'disconnect unread' | 'drain unread';

async function run(outage: Outage, [path, body]: readonly [string, string], moment: readonly [number, number] | undefined, way: Way) {
	const work = new GatewayWork();
	const bench = benchWith({
		targets: path === chatPath ? [gpt, claude] : body.includes('gpt') ? [gpt] : [claude, gpt],
		monthlyBudgetUsd: '100.00',
		traffic: outage.traffic ?? {},
		settings: outage.settings ?? {},
		ports: { work },
	});
	const context: AppContext = { bench, bodies: [] };
	bench.respond = (request) => (outage.respond ?? responses)(request, context);
	outage.breaks?.(context);
	let clientDisconnected = false;
	let notifyDisconnect = (): void => undefined;
	const onClientDisconnect = (listener: () => void): void => {
		if (clientDisconnected) listener();
		else notifyDisconnect = listener;
	};
	const pending = bench.ask(path, body, {}, { onClientDisconnect });
	const act = (): void => {
		if (way.startsWith('drain')) bench.gateway.endInFlightRequests();
		else if (!clientDisconnected) {
			clientDisconnected = true;
			notifyDisconnect();
		}
	};
	if (moment !== undefined) {
		await pass(moment);
		act();
	}
	let reading: ByteFlow | undefined;
	const read = pending.then((response) => {
		if (!isByteStream(response.body) || way.endsWith('unread')) return;
		reading = response.body.start(new Reader());
		for (const upstream of context.bodies) upstream.write(chunk);
		for (const upstream of context.bodies) if (!upstream.isCancelled) outage.goOn?.(upstream);
	});
	await settle();
	const { concurrency } = bench.traffic.of(path === chatPath ? 'provider_b' : 'provider_a');
	const queuedThen = clientDisconnected ? concurrency.queued : 0;
	// Covers queues, pauses before retries and the final wait for usage.
	bench.clock.advance(3000);
	await settle();
	act();
	await read;
	reading?.cancel();
	await settle();
	bench.clock.advance(3000);
	await bench.gateway.settled();
	return { bench, work, bodies: context.bodies, queuedThen };
}

/** Returns the names of resources that the request did not release. */
async function disconnectedBy(
	outage: Outage,
	request: readonly [string, string],
	moment: (typeof moments)[number],
	way: Way,
): Promise<object> {
	const { bench, work, bodies, queuedThen } = await run(outage, request, moment, way);
	const concurrencies = ['provider_a', 'provider_b'].map((name) => bench.traffic.of(name).concurrency);
	const { rows } = await bench.ledger.list({ limit: 9 });
	const { budgets } = await bench.admission.read('team-1', [{ budget: 'all', period: '2026-01' }]);
	const remaining: Record<string, number> = {
		inFlightRequests: work.inFlightRequests.count,
		bodyBytes: work.bodyMemory.reservedBytes,
		openReservations: work.openReservations,
		settlements: work.settlements.count,
		slots: concurrencies.reduce((sum, { inFlight }) => sum + inFlight, 0),
		queued: concurrencies.reduce((sum, { queued }) => sum + queued, queuedThen),
		timers: bench.clock.pending,
		bodies: bodies.filter(({ sink, isCancelled }) => !isCancelled && (sink === undefined || outage.endsStream !== true)).length,
		openEntries: outage.isStoreBroken === true ? 0 : rows.filter(({ closed }) => closed === undefined).length,
		reservedNanoUsd: outage.isStoreBroken === true ? 0 : Number(budgets[0]?.reservedNanoUsd),
	};
	return Object.fromEntries(Object.entries(remaining).filter(([, count]) => count !== 0));
}

describe.each(Object.entries(weathers))('when %s', (_weather, outage) => {
	it.each(Object.entries(requests))('%s leaves nothing behind, whenever it is aborted', async (_request, request) => {
		const plans = (['disconnect', 'drain', 'disconnect unread', 'drain unread'] as const).flatMap((way) =>
			(way.endsWith('unread') ? moments.slice(0, 1) : moments).map((moment) => [way, moment] as const),
		);
		const remaining = await Promise.all(plans.map(([way, moment]) => disconnectedBy(outage, request, moment, way)));
		const leaks = plans.flatMap(([way, moment], index) => {
			const leak = remaining[index] ?? {};
			return Object.keys(leak).length === 0 ? [] : [[`${way} after ${moment?.join('.')}`, leak]];
		});
		expect(leaks).toEqual([]);
	});
});
