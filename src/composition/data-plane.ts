/** The part that callers reach: edge and gateway in one process, or either of them alone. */
import { randomInt } from 'node:crypto';
import type { Config } from '../config/schema.ts';
import type { Handler } from '../core/handler.ts';
import type { Readiness } from '../core/readiness.ts';
import type { Upstream } from '../core/upstream.ts';
import { ServingRole } from '../io/serving-role.ts';
import { createUpstreamClient } from '../io/upstream-client.ts';
import { isPublicAddress } from '../policy/firewall/address-class.ts';
import { edgeLayer } from '../roles/edge/edge.ts';
import type { EdgePorts } from '../roles/edge/edge-settings.ts';
import { forwardToGateways } from '../roles/edge/forward-to-gateways.ts';
import { createGateway, type Gateway } from '../roles/gateway/gateway.ts';
import type { GatewayPorts } from '../roles/gateway/gateway-settings.ts';
import type { Identity } from '../roles/identity/identity.ts';
import { openKeySet, reconfigurableVerifier } from './access-tokens.ts';
import type { Accounting } from './accounting.ts';
import { following } from './following.ts';
import { type Part, serve, type World } from './part.ts';
import { edgeSettings, forwardSettings, gatewaySettings } from './settings.ts';

/** Connections to one provider; each carries one call at a time. */
const maxConnectionsPerOrigin = 4096;

/** A handler that follows the configuration. */
interface Reconfigurable {
	readonly handle: Handler;
	/** As in `Part`. */
	prepare(config: Config): () => void;
	endOpenCalls?(): void;
	close?(): Promise<void>;
}

type CommonPorts = Omit<EdgePorts, 'hashSeed'>;

/** @param accounting of the gateway; undefined for an edge that runs apart. */
export function composeDataPlane(world: World, identity: Identity | undefined, accounting: Accounting | undefined): Part {
	const { config, clock, log } = world;
	const keySet = openKeySet(world, identity);
	const verifier = reconfigurableVerifier(world, keySet);
	const upstream = createUpstreamClient({ clock, log, maxConnectionsPerOrigin, isAllowedAddress: isPublicAddress });
	const ports: CommonPorts = {
		verifier,
		clock,
		log,
		isDraining: () => world.phase() === 'draining',
		readiness: () => {
			const { isReady } = keySet.state();
			return { isReady: isReady && world.phase() === 'serving', dependencies: { key_set: isReady ? 'ok' : 'unavailable' } };
		},
	};
	const inner =
		accounting === undefined ? composeForwarding(world, upstream.send) : composeGateway(world, ports, upstream.send, accounting);
	const outer = config.roles.includes('edge') ? composeEdge(world, ports, inner.handle) : inner;
	let graceMs = config.gateway.shutdown_grace_ms;
	const name = accounting === undefined ? 'edge' : 'gateway';
	const server = serve(world, (request) => outer.handle(request), config[name].listen);
	const role = new ServingRole(name, server, {
		clock,
		graceMs: () => graceMs,
		beforeStart: () => keySet.start(),
		...(inner.endOpenCalls !== undefined && { endOpenCalls: inner.endOpenCalls }),
	});
	return {
		role,
		prepare(next) {
			const commits = [inner, ...(outer === inner ? [] : [outer]), verifier].map((part) => part.prepare(next));
			return () => {
				for (const commit of commits) commit();
				graceMs = next.gateway.shutdown_grace_ms;
			};
		},
		async close() {
			await inner.close?.();
			keySet.stop();
			await upstream.close();
		},
	};
}

function composeEdge({ config }: World, ports: CommonPorts, inner: Handler): Reconfigurable {
	const withSeed = { ...ports, hashSeed: randomInt(2 ** 32) };
	const edge = following(config, edgeSettings, (settings) => edgeLayer(settings, withSeed)(inner));
	return { handle: (request) => edge.current(request), prepare: edge.prepare };
}

function composeForwarding({ config, clock }: World, upstream: Upstream): Reconfigurable {
	const forward = following(config, forwardSettings, (settings) => forwardToGateways(settings, { upstream, clock }));
	return { handle: (request) => forward.current(request), prepare: forward.prepare };
}

function composeGateway(
	{ config }: World,
	ports: CommonPorts,
	upstream: Upstream,
	{ ledger, admission, records, unpriced }: Accounting,
): Reconfigurable {
	const gatewayPorts: GatewayPorts = {
		...ports,
		upstream,
		teams: records,
		ledger,
		admission,
		unpriced,
		readiness: async () => withLedger(await ports.readiness(), ledger.health().isWritable),
	};
	const gateway = following(config, gatewaySettings, (settings) => createGateway(settings, gatewayPorts));
	// Calls that began under an earlier configuration end under it.
	let earlier: Gateway[] = [];
	return {
		handle: (request) => gateway.current.handle(request),
		prepare(next) {
			const before = gateway.current;
			const commit = gateway.prepare(next);
			return () => {
				commit();
				if (gateway.current !== before) earlier = [...earlier, before].filter((one) => one.openCalls() > 0);
			};
		},
		endOpenCalls() {
			for (const one of [...earlier, gateway.current]) one.endOpenCalls();
		},
		async close() {
			await Promise.all([...earlier, gateway.current].map((one) => one.settled()));
		},
	};
}

/** A gateway that cannot write down what calls cost serves none. */
function withLedger({ isReady, dependencies }: Readiness, isWritable: boolean): Readiness {
	return { isReady: isReady && isWritable, dependencies: { ...dependencies, ledger: isWritable ? 'ok' : 'unavailable' } };
}
