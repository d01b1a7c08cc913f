/** The part for clients of the data plane: edge and gateway in one process, or one of them alone. */
import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../config/schema.ts';
import type { Handler } from '../core/handler.ts';
import type { Metrics } from '../core/metrics.ts';
import type { Notify } from '../core/notice.ts';
import type { Readiness } from '../core/readiness.ts';
import type { Upstream } from '../core/upstream.ts';
import { createHttpClient } from '../io/http1/http-client.ts';
import type { TlsMaterial } from '../io/http1/server/http-server.ts';
import { inflateGzip } from '../io/inflated-body.ts';
import type { KeySets } from '../io/key-sets.ts';
import { createReasoningEncryption } from '../io/reasoning-encryption.ts';
import type { RequestObserver } from '../io/request-log.ts';
import { createRequestObserver } from '../io/request-metrics.ts';
import { ServingRole } from '../io/serving-role.ts';
import { isPublicAddress } from '../policy/firewall/address-class.ts';
import { edgeLayer } from '../roles/edge/edge.ts';
import type { EdgePorts } from '../roles/edge/edge-settings.ts';
import { forwardToGateways } from '../roles/edge/forward-to-gateways.ts';
import { InFlightResponses } from '../roles/edge/relayed-response.ts';
import type { GatewayPorts } from '../roles/gateway/gateway-settings.ts';
import type { GatewayWork } from '../roles/gateway/gateway-work.ts';
import { inferenceEndpoints } from '../wire/endpoints/endpoints.ts';
import { reconfigurableVerifier } from './access-token-component.ts';
import { type Accounting, isRecording } from './accounting.ts';
import { type AppContext, type Component, serve } from './app-context.ts';
import { composeFirewall } from './firewall-component.ts';
import { contentScorerFor, moderationProviderSettings } from './guardrail-component.ts';
import { watchOverload } from './overload.ts';
import { rebuildOnChange } from './rebuild-on-change.ts';
import { recordRequests } from './record-requests.ts';
import { restoreReportedModels } from './restore-reported-models.ts';
import { edgeSettings, forwardSettings, gatewaySettings, tlsMaterial } from './settings.ts';

/** Handler that follows the configuration. */
interface Reconfigurable {
	readonly handle: Handler;
	/** As in `Component`. */
	prepare(config: Config): () => void;
	/** Runs to completion before the first request is accepted. */
	start?(): Promise<void>;
	/** Returns whether any gateway is reachable, for a separate edge. */
	readonly hasGateway?: () => boolean;
	endInFlightRequests?(): void;
	/** Resolves when no work continues without a request. */
	idle?(): Promise<void>;
}

type CommonPorts = Omit<EdgePorts, 'firewall'>;

/** @param accounting of the gateway; undefined for a separate edge. */
export async function composeDataPlane(
	context: AppContext,
	keySets: KeySets,
	accounting: Accounting | undefined,
	notify: Notify | undefined,
): Promise<Component> {
	const { config, clock, log, metrics, cleanup, connections } = context;
	const verifier = reconfigurableVerifier(context, keySets);
	const upstream = createHttpClient(config.gateway.http_client, {
		clock,
		log,
		maxConnectionsPerOrigin: connections.perOrigin,
		isAllowedAddress: isPublicAddress,
	});
	cleanup.defer(() => upstream.close());
	const hasEdge = config.roles.includes('edge');
	const overload = watchOverload(context, () => server.inFlight);
	cleanup.defer(() => overload.stop());
	const ports: CommonPorts = {
		verifier,
		overload: () => overload.judge(),
		clock,
		log,
		isDraining: () => context.phase() === 'draining',
		isShuttingDown: () => context.phase() !== 'serving',
		readiness: () => {
			const { isReady, isComplete } = keySets.state();
			const own = { isReady: isReady && context.phase() === 'serving', dependencies: { key_set: isComplete ? 'ok' : 'unavailable' } };
			return accounting === undefined ? own : bothOf(own, accounting.readiness());
		},
	};
	const inner =
		accounting === undefined
			? composeForwarding(context, upstream.send)
			: await composeGateway(context, hasEdge ? { ...ports, overload: undefined } : ports, upstream.send, accounting, notify);
	const outer = hasEdge ? await composeEdge(context, ports, inner) : inner;
	let { shutdown_grace_ms: graceMs, max_body_bytes: maxBodyBytes } = config.gateway;
	const name = accounting === undefined ? 'edge' : 'gateway';
	const count = createRequestObserver(metrics, {
		role: name,
		formats: new Map(inferenceEndpoints.map(({ path, dialect }) => [path, dialect.name])),
	});
	const record = accounting === undefined || !isRecording(config) ? undefined : recordRequests(accounting.requestRecords);
	cleanup.defer(() => record?.settled());
	const observe: RequestObserver =
		record === undefined
			? count
			: (entry) => {
					count(entry);
					record.observe(entry);
				};
	let tls = hasEdge ? tlsMaterial(config) : undefined;
	const server = serve(context, (request) => outer.handle(inflateGzip(request, maxBodyBytes)), config[name].listen, { observe, tls });
	const renewTls = (next: TlsMaterial | undefined): void => {
		if ((next === undefined) !== (tls === undefined)) log.warn('switching TLS on or off requires a restart');
		if (next === undefined || tls === undefined || isDeepStrictEqual(next, tls)) return;
		server.renewTls(next);
		tls = next;
		log.info('certificate reloaded');
	};
	metrics.gauge('tollgate_connections_open', 'Open client connections.', () => server.openConnections);
	metrics.gauge('tollgate_requests_in_flight', 'In-flight requests.', () => server.inFlight);
	const role = new ServingRole(name, server, {
		clock,
		graceMs: () => graceMs,
		beforeStart: async () => void (await Promise.all([keySets.start(), inner.start?.()])),
		...(inner.endInFlightRequests !== undefined && { endInFlightRequests: inner.endInFlightRequests }),
		...(inner.idle !== undefined && { idle: inner.idle }),
	});
	return {
		role,
		noteListening: () => overload.noteListening(),
		prepare(next) {
			const commits = [inner, ...(outer === inner ? [] : [outer]), verifier, overload].map((part) => part.prepare(next));
			return () => {
				for (const commit of commits) commit();
				({ shutdown_grace_ms: graceMs, max_body_bytes: maxBodyBytes } = next.gateway);
				if (hasEdge) renewTls(tlsMaterial(next));
			};
		},
	};
}

async function composeEdge(context: AppContext, ports: CommonPorts, { handle, hasGateway }: Reconfigurable): Promise<Reconfigurable> {
	const readiness: EdgePorts['readiness'] =
		hasGateway === undefined ? ports.readiness : async () => withDependency(await ports.readiness(), 'gateways', hasGateway());
	const firewall = await composeFirewall(context);
	const edge = rebuildOnChange(context.config, edgeSettings, (settings) =>
		edgeLayer(settings, { ...ports, readiness, firewall: firewall.judge })(handle),
	);
	return {
		handle: (request) => edge.current(request),
		prepare(next) {
			const commits = [firewall, edge].map((part) => part.prepare(next));
			return () => {
				for (const commit of commits) commit();
			};
		},
	};
}

function composeForwarding({ config, clock, log, cleanup }: AppContext, upstream: Upstream): Reconfigurable {
	const inFlightResponses = new InFlightResponses();
	const ports = { upstream, clock, log, inFlightResponses, random: Math.random };
	const forwarding = rebuildOnChange(config, forwardSettings, (settings) => forwardToGateways(settings, ports));
	cleanup.defer(() => forwarding.current.stop());
	return {
		handle: (request) => forwarding.current.handle(request),
		start: () => forwarding.current.start(),
		hasGateway: () => forwarding.current.isAnyUsable(),
		endInFlightRequests: () => inFlightResponses.endAll(),
		prepare(next) {
			const before = forwarding.current;
			const commit = forwarding.prepare(next);
			return () => {
				commit();
				if (forwarding.current === before) return;
				before.stop();
				void forwarding.current.start();
			};
		},
	};
}

async function composeGateway(
	{ config, metrics, cleanup }: AppContext,
	ports: Omit<CommonPorts, 'overload'> & Pick<GatewayPorts, 'overload'>,
	upstream: Upstream,
	accounting: Accounting,
	notify: Notify | undefined,
): Promise<Reconfigurable> {
	const [{ createGateway }, { GatewayWork }] = await Promise.all([
		import('../roles/gateway/gateway.ts'),
		import('../roles/gateway/gateway-work.ts'),
	]);
	const { ledger, responseOwners, admission, records, unpriced, traffic } = accounting;
	const work = new GatewayWork();
	cleanup.defer(() => {
		work.background.endAll();
		return work.settlements.settled();
	});
	measureWork(metrics, work);
	restoreReportedModels(ledger, work.reportedModels, { config, clock: ports.clock }).catch((cause: unknown) =>
		ports.log.warn('models of this month could not be read: metrics can have more model labels than usual', { cause }),
	);
	const gatewayPorts: GatewayPorts = {
		...ports,
		work,
		upstream,
		teams: records,
		ledger,
		responseOwners,
		admission,
		unpriced,
		traffic,
		...(notify !== undefined && { notify }),
		metrics,
		reasoningEncryption: createReasoningEncryption(),
	};
	const gateway = rebuildOnChange(
		config,
		(next) => ({ settings: gatewaySettings(next), guardrails: next.guardrails }),
		({ settings, guardrails }) => {
			const moderationProviders = settings.guardrails === undefined ? [] : moderationProviderSettings({ guardrails });
			return createGateway(settings, { ...gatewayPorts, contentScorer: contentScorerFor(settings.guardrails), moderationProviders });
		},
	);
	return {
		handle: (request) => gateway.current.handle(request),
		prepare: gateway.prepare,
		endInFlightRequests: () => work.endAll(),
		idle: () => work.background.idle(),
	};
}

function measureWork(metrics: Metrics, work: GatewayWork): void {
	const kinds = (): { labels: { kind: string }; value: number }[] => {
		const { count, streamCount } = work.inFlightRequests;
		return [
			{ labels: { kind: 'non_streaming' }, value: count - streamCount },
			{ labels: { kind: 'streaming' }, value: streamCount },
		];
	};
	metrics.gauge(
		'tollgate_request_body_memory_bytes',
		'Memory used by bodies of in-flight requests, in bytes.',
		() => work.bodyMemory.reservedBytes,
	);
	metrics.gauge('tollgate_inference_requests_in_flight', 'In-flight inference requests.', kinds, ['kind']);
	metrics.gauge(
		'tollgate_background_responses',
		'Background responses that are followed until their cost is known.',
		() => work.background.count,
	);
	metrics.gauge('tollgate_budget_reservations_open', 'Open budget reservations.', () => work.openReservations);
	metrics.gauge('tollgate_settlements_pending', 'Completed requests whose cost is not settled yet.', () => work.settlements.count);
}

function bothOf(one: Readiness, other: Readiness): Readiness {
	return { isReady: one.isReady && other.isReady, dependencies: { ...one.dependencies, ...other.dependencies } };
}

/** Adds a dependency without which the process is not ready: an edge needs a gateway. */
function withDependency({ isReady, dependencies }: Readiness, name: string, isThere: boolean): Readiness {
	return { isReady: isReady && isThere, dependencies: { ...dependencies, [name]: isThere ? 'ok' : 'unavailable' } };
}
