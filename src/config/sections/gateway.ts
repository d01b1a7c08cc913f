import { z } from 'zod';
import { integer, listen, milliseconds, restart } from '../values.ts';

const timeouts = z.strictObject({
	connect_ms: milliseconds.default(5000).describe('Time to connect to a provider.'),
	first_byte_ms: milliseconds
		.default(120_000)
		.describe('Time from the request being sent to the first byte of a stream. Not for non-streaming responses.'),
	idle_ms: milliseconds.default(60_000).describe('Longest silence between two pieces of a provider’s response.'),
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
	max_body_bytes: integer(1024, 1_073_741_824)
		.default(33_554_432)
		.describe('Largest request body, in bytes; a larger one is answered 413.'),
	max_buffered_request_bytes: integer(65_536, 1_099_511_627_776)
		.default(268_435_456)
		.describe(
			'Bodies of all requests in flight together, in bytes; a request with no room is answered 503 before it is read. A quarter is kept for bodies up to 64 KiB, and no team holds more than it leaves free.',
		),
	timeouts: timeouts.prefault({}).describe('How long a provider may take.'),
	heartbeat_ms: milliseconds.default(10_000).describe('Silence after which an idle stream is sent a comment that keeps it alive.'),
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
		.meta(restart('Bytes held for a client that reads slowly before the provider is made to wait.')),
	shutdown_delay_ms: integer(0, 600_000)
		.nullable()
		.default(null)
		.describe(
			'Time after SIGTERM in which requests are still taken while `/readyz` answers 503, so that balancers notice first; null means 3 s for a gateway that runs apart from its edge, and none otherwise.',
		),
	shutdown_grace_ms: milliseconds.default(25_000).describe('Time that calls in flight have to finish once no new ones are taken.'),
	workers: integer(1, 256).default(1).meta(restart('Processes that share the gateway’s address.')),
});
