import { z } from 'zod';
import { tokenHeaders } from '../../policy/access/token-headers.ts';
import { count, entryName, integer, ipRange, listen, milliseconds, nonEmpty, restart, webOrigin } from '../values.ts';
import { tls } from './tls.ts';

const perIp = z.strictObject({
	requests: count.default(2000).describe('Requests that one source address may make in a window; the next one is answered 403.'),
	window_seconds: integer(1, 86_400).default(300).describe('Length of the window in seconds.'),
	max_sources: integer(1, 10_000_000)
		.default(200_000)
		.meta(restart('Source addresses remembered at once; the longest silent one is forgotten first.')),
});

const reputationList = z.strictObject({
	file: nonEmpty.describe(
		'File of addresses and ranges, one a line, or Spamhaus’s JSON lines; relative to the working directory. It is read again when it changes.',
	),
	name: entryName.nullable().default(null).describe('Name of the list in the log and the metrics; the file’s own unless given.'),
	action: z.enum(['block', 'count']).default('block').describe('What happens to requests from these addresses.'),
});

const firewall = z.strictObject({
	per_ip: perIp.prefault({}).describe('Rate limit per source address.'),
	reputation: z.array(reputationList).max(20).default([]).describe('Lists of addresses with a bad name, such as FireHOL’s and Spamhaus’s.'),
	rules: z
		.record(z.string(), z.enum(['block', 'count', 'off']))
		.default({})
		.describe('What a firewall rule does, by the rule’s name: block the request, only count it, or nothing. Rules for bodies only count.'),
});

const limits = z.strictObject({
	max_header_bytes: integer(1024, 1_048_576).default(16_384).meta(restart('Largest request line and header fields together, in bytes.')),
	headers_timeout_ms: milliseconds.default(10_000).meta(restart('Time for a request’s header fields to arrive complete.')),
	body_timeout_ms: milliseconds.default(60_000).meta(restart('Time for the whole request body to arrive.')),
	stalled_write_ms: milliseconds
		.default(60_000)
		.meta(restart('Time after which a client is disconnected that has not taken all that waits for it.')),
	keep_alive_ms: milliseconds.default(75_000).meta(restart('Time that an idle connection is kept open.')),
	max_connections: integer(1, 1_000_000)
		.default(10_000)
		.meta(restart('Connections open at once; more are closed at once. Lowered where the descriptor limit of the process allows fewer.')),
	max_connections_per_address: integer(0, 1_000_000)
		.default(2000)
		.meta(restart('Connections that one peer address may hold open, but for trusted proxies; 0 sets no limit.')),
	max_requests_per_connection: integer(0, 1_000_000_000)
		.default(10_000)
		.meta(restart('Requests after which a connection is closed; 0 sets no limit.')),
});

const overload = z.strictObject({
	max_in_flight: count.default(10_000).describe('Requests in flight at once, open streams included; further ones are answered 503.'),
	loop_delay_ms: milliseconds
		.default(200)
		.describe(
			'How late the process may be with its work, on average over a second in which it is busy throughout, before it answers a growing share of new requests 503; while it does, it is held to an eighth of that.',
		),
	memory_percent: integer(1, 100)
		.default(90)
		.describe('Share of the memory the process may use beyond which new requests are answered 503.'),
});

const healthCheck = z.strictObject({
	interval_ms: milliseconds.default(1000).describe('Time between two questions to a gateway whether it is there (`GET /`).'),
	timeout_ms: milliseconds.default(1000).describe('Time that its answer may take; a gateway that is late twice in a row is passed over.'),
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
	tls: tls.prefault({}).describe('Certificate of the address that callers reach. Switching TLS on or off takes a restart.'),
	overload: overload
		.prefault({})
		.describe('When new requests are turned away so that those taken are still served; for a gateway that runs apart too.'),
	health_check: healthCheck.prefault({}).describe('How an edge of its own watches its gateways.'),
	trusted_proxies: z
		.array(ipRange)
		.max(10_000)
		.default([])
		.meta(restart('Addresses and ranges of proxies whose `x-forwarded-for` is believed.')),
	token_headers: z
		.array(z.enum(tokenHeaders))
		.refine((names) => names.includes('authorization'), 'must list `authorization`, in which an edge of its own passes the token on')
		.default(['authorization', 'x-api-key', 'api-key'])
		.meta(
			restart(
				'Header fields in which a client may send its access token: `Authorization: Bearer TOKEN`, or the bare token in the others. `authorization` decides where a request has it.',
			),
		),
	firewall: firewall.prefault({}).describe('What is refused before the access token is looked at.'),
	limits: limits.prefault({}).describe('Bounds on connections and on how slowly a client may send.'),
});
