import { z } from 'zod';
import { integer, listen, milliseconds, restart } from '../values.ts';

const timeouts = z.strictObject({
	connect_ms: milliseconds.default(5000).describe('Time to connect to a provider.'),
	first_byte_ms: milliseconds
		.default(120_000)
		.describe('Time from the request being sent to the first byte of a stream. Not for non-streaming responses.'),
	idle_ms: milliseconds.default(60_000).describe('Maximum time between two chunks of a provider’s response.'),
	total_ms: milliseconds
		.default(600_000)
		.describe('Time for a non-streaming response, or to the start of a stream, retries and failover included.'),
	stream_total_ms: milliseconds.default(21_600_000).describe('Longest duration of a stream.'),
});

export const gateway = z.strictObject({
	listen: listen.default('127.0.0.1:8787').meta(restart('Address of the inference endpoints.')),
	trust_edge: z
		.boolean()
		.default(false)
		.describe('True: claims are read without verification, because a balancer in front verified them and nothing else reaches the port.'),
	max_body_bytes: integer(1024, 1_073_741_824).default(33_554_432).describe('Largest request body, in bytes; larger bodies return 413.'),
	max_buffered_request_bytes: integer(65_536, 1_099_511_627_776)
		.default(268_435_456)
		.describe(
			'Memory budget for request bodies in bytes; requests beyond it return 503. A quarter is reserved for bodies up to 64 KiB, and a team can use at most half of the rest.',
		),
	timeouts: timeouts.prefault({}).describe('Timeouts of requests to providers.'),
	heartbeat_ms: milliseconds.default(10_000).describe('Idle time after which a keep-alive comment is sent on a stream.'),
	http_client: z
		.enum(['native', 'undici'])
		.default('native')
		.meta(
			restart(
				'Client that sends requests to providers: Tollgate’s own, which takes less CPU, or undici. Requests through a proxy use undici in both cases.',
			),
		),
	max_buffered_bytes_per_client: integer(1024, 1_073_741_824)
		.default(65_536)
		.meta(restart('Maximum bytes buffered for a slow client before Tollgate stops reading from the provider.')),
	shutdown_delay_ms: integer(0, 600_000)
		.nullable()
		.default(null)
		.describe(
			'Time after SIGTERM in which requests are still accepted while `/readyz` returns 503. Null: 3 s for a standalone gateway, otherwise none.',
		),
	shutdown_grace_ms: milliseconds
		.default(25_000)
		.describe('Time for in-flight requests to finish after Tollgate stops accepting new ones.'),
	workers: integer(1, 256).default(1).meta(restart('Processes that share the gateway’s address.')),
});
