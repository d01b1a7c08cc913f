/** Edge layer with real components, in front of a handler that returns 200 and keeps the requests. */
import { streamOf } from '../../src/core/byte-stream.ts';
import type { Handler, HttpRequest, HttpResponse } from '../../src/core/handler.ts';
import { noMetrics } from '../../src/core/metrics.ts';
import { createAccessTokenVerifier } from '../../src/io/access-tokens.ts';
import { KeySet } from '../../src/io/key-set.ts';
import { remoteKeySet } from '../../src/io/key-set-source.ts';
import type { AccessTokenVerifier } from '../../src/policy/access/access-token-verifier.ts';
import type { ClaimRules } from '../../src/policy/access/claims.ts';
import { createFirewall, type FirewallPorts, type FirewallSettings } from '../../src/policy/firewall/firewall.ts';
import { type IpRateSettings, IpRateWindow } from '../../src/policy/firewall/ip-rate-window.ts';
import { edgeLayer } from '../../src/roles/edge/edge.ts';
import type { EdgePorts, EdgeSettings } from '../../src/roles/edge/edge-settings.ts';
import { ManualClock } from './manual-clock.ts';
import { createRecordingLog, type RecordingLog } from './recording-log.ts';
import { TestIssuer } from './test-issuer.ts';

export const testKeySetSettings = { maxAgeMs: 600_000, coolDownMs: 30_000, graceMs: 3_600_000 };

export interface EdgeBenchOptions {
	readonly rules?: Partial<ClaimRules>;
	readonly perIp?: Partial<IpRateSettings>;
	readonly trustedProxies?: FirewallSettings['trustedProxies'];
	readonly firewallRules?: FirewallSettings['rules'];
	readonly rateMode?: FirewallSettings['rateMode'];
	readonly reputationLists?: FirewallPorts['reputationLists'];
	readonly tokenHeaders?: EdgeSettings['tokenHeaders'];
	readonly ports?: Partial<EdgePorts>;
}

export interface EdgeBench {
	readonly issuer: TestIssuer;
	readonly verifier: Required<AccessTokenVerifier>;
	readonly clock: ManualClock;
	readonly log: RecordingLog;
	readonly keySet: KeySet;
	/** Requests that the edge forwarded. */
	readonly admitted: HttpRequest[];
	send(request?: Partial<HttpRequest>): Promise<HttpResponse>;
	stop(): Promise<void>;
}

export async function startEdgeBench(options: EdgeBenchOptions = {}): Promise<EdgeBench> {
	const clock = new ManualClock();
	const log = createRecordingLog();
	const issuer = await TestIssuer.start({ nowSeconds: () => Math.floor(clock.nowMs() / 1000) });
	const keySet = new KeySet(remoteKeySet({ issuer: issuer.issuer, jwksUri: null, timeoutMs: 5000 }), testKeySetSettings, { clock, log });
	const rules = { issuer: issuer.issuer, audience: null, clockSkewSeconds: 5, maxLifetimeSeconds: null, ...options.rules };
	const verifier = createAccessTokenVerifier({ ...rules, cacheSize: 10_000 }, { keySet, clock });
	const { tokenHeaders = ['authorization', 'x-api-key', 'api-key'] } = options;
	const settings: EdgeSettings = { scopeBase: issuer.scopeBase, tokenHeaders };
	const rate = new IpRateWindow({ requests: 1_000_000, windowSeconds: 300, maxSources: 1000, ...options.perIp }, 1);
	const firewall = createFirewall(
		{ trustedProxies: options.trustedProxies ?? [], rules: options.firewallRules ?? {}, rateMode: options.rateMode ?? 'enforce' },
		{
			admitSource: (source, nowMs) => rate.admit(source, nowMs),
			reputationLists: options.reputationLists ?? (() => []),
			clock,
			log,
			metrics: noMetrics,
		},
	);
	const ports: EdgePorts = {
		verifier,
		clock,
		log,
		readiness: () => ({ isReady: keySet.state().isReady, dependencies: { key_set: keySet.state().isReady ? 'ok' : 'unavailable' } }),
		isDraining: () => false,
		isShuttingDown: () => false,
		overload: () => undefined,
		firewall,
		...options.ports,
	};
	const admitted: HttpRequest[] = [];
	const inner: Handler = async (request) => {
		admitted.push(request);
		return { status: 200, headers: {}, body: 'through' };
	};
	const handle = edgeLayer(settings, ports)(inner);
	return {
		issuer,
		verifier,
		clock,
		log,
		keySet,
		admitted,
		send: (request) => handle({ ...exampleRequest, ...request }),
		async stop() {
			keySet.stop();
			await issuer.stop();
		},
	};
}

const exampleRequest: HttpRequest = {
	id: 'req_test',
	method: 'POST',
	path: '/v1/chat/completions',
	query: '',
	headers: {},
	body: streamOf([]),
	announcedLength: 0,
	peerAddress: '127.0.0.1',
	arrivedMs: 0,
	onClientDisconnect: () => undefined,
};
