import { z } from 'zod';
import { policyModes } from '../../core/policy-mode.ts';
import { tokenHeaders } from '../../policy/access/token-headers.ts';
import { ruleActions } from '../../policy/firewall/rules/rule-catalogue.ts';
import { count, entryName, integer, ipRange, listen, milliseconds, nonEmpty, restart, webOrigin } from '../values.ts';
import { tls } from './tls.ts';

export const perIpDefaults = { requests: 2000, window_seconds: 300 } as const;

/** The older name of `monitor`, still accepted. */
const olderMonitor = 'count';

const perIp = z.strictObject({
	mode: z.enum(policyModes).default('enforce').describe('`monitor`: sources over the limit are counted and recorded, and not rejected.'),
	requests: count.default(perIpDefaults.requests).describe('Maximum requests per source address and window; further requests return 403.'),
	window_seconds: integer(1, 86_400).default(perIpDefaults.window_seconds).describe('Length of the window in seconds.'),
	max_sources: integer(1, 10_000_000)
		.default(200_000)
		.meta(restart('Maximum source addresses tracked; the least recently used is evicted.')),
});

const reputationList = z.strictObject({
	file: nonEmpty.describe(
		'File of addresses and ranges, one per line, or Spamhaus JSON lines. Relative to the working directory; reloaded on change.',
	),
	name: entryName.nullable().default(null).describe('Name of the list in log and metrics; default: the file name.'),
	action: z
		.enum(['block', 'monitor', olderMonitor])
		.default('block')
		.describe('Action for requests from these addresses: `block` or `monitor`.'),
});

const firewall = z.strictObject({
	per_ip: perIp.prefault({}).describe('Rate limit per source address.'),
	reputation: z.array(reputationList).max(20).default([]).describe('IP reputation blocklists, such as FireHOL and Spamhaus.'),
	rules: z
		.record(z.string(), z.enum([...ruleActions, olderMonitor]))
		.default({})
		.describe('Action per firewall rule: `block`, `monitor` or `off`. Body rules only monitor.'),
});

const limits = z.strictObject({
	max_header_bytes: integer(1024, 1_048_576).default(16_384).meta(restart('Maximum size of request line and header fields in bytes.')),
	headers_timeout_ms: milliseconds.default(10_000).meta(restart('Time for a request’s header fields to arrive complete.')),
	body_timeout_ms: milliseconds.default(60_000).meta(restart('Time for the whole request body to arrive.')),
	stalled_write_ms: milliseconds
		.default(60_000)
		.meta(restart('Time after which a client that does not read its response is disconnected.')),
	keep_alive_ms: milliseconds.default(75_000).meta(restart('Time that an idle connection is kept open.')),
	max_connections: integer(1, 1_000_000)
		.default(10_000)
		.meta(restart('Maximum open connections; further connections are closed. Lowered to the descriptor limit of the process.')),
	max_connections_per_address: integer(0, 1_000_000)
		.default(2000)
		.meta(restart('Maximum open connections per peer address, except trusted proxies; 0: no limit.')),
	max_requests_per_connection: integer(0, 1_000_000_000).default(10_000).meta(restart('Maximum requests per connection; 0: no limit.')),
});

const overload = z.strictObject({
	max_in_flight: count.default(10_000).describe('Maximum in-flight requests, streams included; further requests return 503.'),
	loop_delay_ms: milliseconds
		.default(200)
		.describe(
			'Mean event loop delay over a busy second at which load shedding starts to return 503 to new requests. Load shedding aims at an eighth of this value.',
		),
	memory_percent: integer(1, 100)
		.default(90)
		.describe('Memory use, in percent of the process’s limit, above which new requests return 503.'),
});

const healthCheck = z.strictObject({
	interval_ms: milliseconds.default(1000).describe('Interval of gateway health checks (`GET /`).'),
	timeout_ms: milliseconds.default(1000).describe('Timeout of a health check; two timeouts in a row take the gateway out of rotation.'),
});

export const edge = z.strictObject({
	listen: listen
		.default('127.0.0.1:8080')
		.meta(restart('Address of a standalone edge; in one process with a gateway, `gateway.listen` is used.')),
	gateways: z
		.array(webOrigin)
		.min(1)
		.max(1000)
		.default(['http://127.0.0.1:8787'])
		.describe('Gateways that a standalone edge balances over.'),
	tls: tls.prefault({}).describe('TLS certificate of the public address. Switching TLS on or off requires a restart.'),
	overload: overload.prefault({}).describe('Load shedding; also applies to a standalone gateway.'),
	health_check: healthCheck.prefault({}).describe('Health checks of a standalone edge.'),
	trusted_proxies: z
		.array(ipRange)
		.max(10_000)
		.default([])
		.meta(restart('Addresses and ranges of proxies whose `x-forwarded-for` is trusted.')),
	token_headers: z
		.array(z.enum(tokenHeaders))
		.refine((names) => names.includes('authorization'), 'must include `authorization`, which a standalone edge uses to forward the token')
		.default(['authorization', 'x-api-key', 'api-key'])
		.meta(
			restart(
				'Header fields in which a client may send its access token: `Authorization: Bearer TOKEN`, or the bare token in the others. `authorization` takes precedence.',
			),
		),
	firewall: firewall.prefault({}).describe('Firewall, applied before the access token is verified.'),
	limits: limits.prefault({}).describe('Limits on connections and slow clients.'),
});
