/**
 * `node bench/firewall.ts`: processor time of the edge within the gateway process, with all rules, a reputation list of 50,000 ranges,
 * 1,000 sources and a token check. Measured separately: the firewall alone, with nothing of the request in its caches.
 */
import { streamOf } from '../src/core/byte-stream.ts';
import type { HttpRequest } from '../src/core/handler.ts';
import { noMetrics } from '../src/core/metrics.ts';
import { systemClock } from '../src/io/system-clock.ts';
import type { AccessTokenVerifier } from '../src/policy/access/access-token-verifier.ts';
import { createFirewall, type Firewall } from '../src/policy/firewall/firewall.ts';
import { IpRateWindow } from '../src/policy/firewall/ip-rate-window.ts';
import { ReputationListReader } from '../src/policy/firewall/reputation-list.ts';
import { maxScannedLength } from '../src/policy/firewall/rules/canonical-text.ts';
import { ruleNames } from '../src/policy/firewall/rules/rule-catalogue.ts';
import { edgeLayer } from '../src/roles/edge/edge.ts';
import { startEdgeBench } from '../test/support/edge-bench.ts';
import { sdkRequests } from '../test/support/sdk-requests.ts';

const seconds = 1.5;
const log = { debug() {}, info() {}, warn() {}, error() {} };
const addresses = Array.from({ length: 1000 }, (_, index) => `198.51.${100 + (index >> 8)}.${index & 255}`);
const lists = [{ name: 'bench', action: 'block', ranges: makeRanges(50_000) }] as const;
/** Prompt of code and markup, as agents send them. */
const prompt = [
	Buffer.from('Explain why `SELECT * FROM users WHERE id = ${id}` is unsafe, and what <script> has to do with it. '.repeat(90)),
];
let turn = 0;

/** Values that tracing and retrying clients generate for each request. */
const fresh = (headers: HttpRequest['headers']): HttpRequest['headers'] => ({
	...headers,
	traceparent: `00-${String(turn).padStart(32, '0')}-00f067aa0ba902b7-01`,
	tracestate: `vendor=t61rc${turn}`,
	baggage: `session.id=${turn},user.tier=gold`,
});

const rulesOn = makeFirewall({});
const withBodies = makeFirewall(Object.fromEntries(ruleNames.filter((name) => name.endsWith('_BODY')).map((name) => [name, 'monitor'])));
const rows: [string, number][] = [
	['firewall, requests like earlier ones', await measure(rulesOn)],
	[
		'firewall, with three fields that differ in each request',
		await measure((request) => rulesOn({ ...request, headers: fresh(request.headers) })),
	],
];
const edgeBench = await startEdgeBench();
await edgeBench.keySet.start();
const accessToken = edgeBench.issuer.accessToken();
const verifier: AccessTokenVerifier = { verify: await warmVerifier(accessToken) };
const response = { status: 200, headers: {}, body: null };
const handle = edgeLayer(
	{ scopeBase: edgeBench.issuer.scopeBase, tokenHeaders: ['authorization'] },
	{
		verifier,
		firewall: rulesOn,
		clock: systemClock,
		log,
		readiness: () => ({ isReady: true, dependencies: {} }),
		isDraining: () => false,
		isShuttingDown: () => false,
		overload: () => undefined,
	},
)(() => Promise.resolve(response));
rows.push([
	'whole edge, token check included',
	await measure(async (request) => {
		const { status } = await handle({ ...request, headers: { ...fresh(request.headers), authorization: `Bearer ${accessToken}` } });
		if (status !== 200) throw new Error(`status ${status}`);
	}),
]);
await edgeBench.stop();

rows.push(['watching 8 KB of a body (off by default)', await measure((request) => watchBody(withBodies(request)))]);

for (const [name, cpuUs] of rows) console.log(`${name.padEnd(60)} ${cpuUs.toFixed(2).padStart(8)} us of CPU a request`);
console.log(`(a text is looked at up to ${maxScannedLength} characters; ${ruleNames.length} rules)`);

function makeFirewall(rules: Record<string, 'monitor'>): Firewall {
	const rate = new IpRateWindow({ requests: 1_000_000_000, windowSeconds: 300, maxSources: 200_000 }, 1);
	return createFirewall(
		{ trustedProxies: ['10.0.0.0/8'], rules, rateMode: 'enforce' },
		{
			admitSource: (source, nowMs) => rate.admit(source, nowMs),
			reputationLists: () => lists,
			clock: systemClock,
			log,
			metrics: noMetrics,
		},
	);
}

async function warmVerifier(token: string): Promise<AccessTokenVerifier['verify']> {
	const { createAccessTokenVerifier } = await import('../src/io/access-tokens.ts');
	const rules = { issuer: edgeBench.issuer.issuer, audience: null, clockSkewSeconds: 5, maxLifetimeSeconds: null, cacheSize: 1000 };
	const verified = createAccessTokenVerifier(rules, { keySet: edgeBench.keySet, clock: edgeBench.clock });
	await verified.verify(token);
	return (given) => verified.verify(given);
}

function watchBody({ body }: HttpRequest): Promise<void> {
	return new Promise((resolve) => {
		body.start({ write: () => true, end: resolve, fail: () => resolve() });
	});
}

/** Processor time of this thread per request, in the best of three rounds. */
async function measure(call: (request: HttpRequest) => unknown): Promise<number> {
	let best = Number.POSITIVE_INFINITY;
	for (let round = 0; round < 3; round++) {
		const endMs = performance.now() + (seconds * 1000) / 3;
		const cpu = process.threadCpuUsage();
		let calls = 0;
		while (performance.now() < endMs) {
			for (let index = 0; index < 200; index++) {
				turn++;
				const request = sdkRequests[turn % sdkRequests.length];
				if (request === undefined) throw new Error('no requests');
				const result = call({ ...request, body: streamOf(prompt), peerAddress: addresses[turn % addresses.length] ?? '' });
				if (result instanceof Promise) await result;
			}
			calls += 200;
		}
		const { user, system } = process.threadCpuUsage(cpu);
		best = Math.min(best, (user + system) / calls);
	}
	return best;
}

function makeRanges(count: number) {
	const reader = new ReputationListReader();
	for (let index = 0; index < count; index++) reader.add(`${20 + (index >> 12)}.${(index >> 4) & 255}.${(index & 15) * 16}.0/22`);
	return reader.end().ranges;
}
