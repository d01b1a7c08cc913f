import { z } from 'zod';
import { count, integer, ipRange, listen, milliseconds, restart, webOrigin } from '../values.ts';

const perIp = z.strictObject({
	requests: count.default(2000).describe('Requests that one source address may make in a window; the next one is answered 403.'),
	window_seconds: integer(1, 86_400).default(300).describe('Length of the window in seconds.'),
	max_sources: integer(1, 10_000_000)
		.default(200_000)
		.meta(restart('Source addresses remembered at once; the longest silent one is forgotten first.')),
});

const firewall = z.strictObject({
	per_ip: perIp.prefault({}).describe('Rate limit per source address.'),
	rules: z
		.record(
			z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,127}$/, 'must be a rule name such as CrossSiteScripting_QUERYARGUMENTS'),
			z.enum(['block', 'count', 'off']),
		)
		.default({})
		.describe('What a firewall rule does, by the rule’s name: block the request, only count it, or nothing.'),
});

const limits = z.strictObject({
	max_header_bytes: integer(1024, 1_048_576).default(16_384).meta(restart('Largest request line and header fields together, in bytes.')),
	headers_timeout_ms: milliseconds.default(10_000).meta(restart('Time for a request’s header fields to arrive complete.')),
	body_timeout_ms: milliseconds.default(60_000).meta(restart('Time for the whole request body to arrive.')),
	keep_alive_ms: milliseconds.default(75_000).meta(restart('Time that an idle connection is kept open.')),
	max_connections: integer(1, 1_000_000).default(10_000).meta(restart('Connections open at once; more are closed at once.')),
	max_requests_per_connection: integer(0, 1_000_000_000)
		.default(10_000)
		.meta(restart('Requests after which a connection is closed; 0 sets no limit.')),
});

export const edge = z.strictObject({
	listen: listen
		.default('127.0.0.1:8080')
		.meta(restart('Address of an edge that runs apart from a gateway; together they use `gateway.listen`.')),
	gateways: z
		.array(webOrigin)
		.min(1)
		.max(1000)
		.default(['http://127.0.0.1:8787'])
		.describe('Gateways that an edge of its own balances over.'),
	trusted_proxies: z
		.array(ipRange)
		.max(10_000)
		.default([])
		.meta(restart('Addresses and ranges of proxies whose `x-forwarded-for` is believed.')),
	firewall: firewall.prefault({}).describe('What is refused before the access token is looked at.'),
	limits: limits.prefault({}).describe('Bounds on connections and on how slowly a client may send.'),
});
