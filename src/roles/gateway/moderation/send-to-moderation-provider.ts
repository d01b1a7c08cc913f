/** Sends one request to a moderation provider and parses the response, or returns the reason of a failure. */
import { discardStream, readAll } from '../../../core/byte-stream.ts';
import type { Clock } from '../../../core/clock.ts';
import type { ByteStream } from '../../../core/handler.ts';
import { Rejection } from '../../../core/rejection.ts';
import type { Upstream, UpstreamResponse } from '../../../core/upstream.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';
import type { ModerationProtocol, ModerationRequest, ModerationResponse } from '../../../wire/moderation/moderation.ts';
import { type ModerationProviderSettings, timeoutsWithin } from './moderation-settings.ts';
import { signAwsRequest } from './sign-aws-request.ts';

/** `abandoned`: the client disconnected. `busy`: no slot was free in time. `too_large`: the texts need too many requests. */
export type ModerationFailure = 'timeout' | 'unreachable' | 'status' | 'malformed' | 'busy' | 'too_large' | 'abandoned';

export interface ModerationProblem {
	readonly failure: ModerationFailure;
	/** HTTP status of the response, if it is the cause. */
	readonly status?: number;
}

export interface ModerationEndpoint {
	readonly settings: ModerationProviderSettings;
	readonly protocol: ModerationProtocol;
	readonly upstream: Upstream;
	readonly clock: Clock;
}

/** Far larger than any real response. */
const maxResponseBytes = 1024 * 1024;

/** @param remainingMs of the evaluation's time. Never rejects. */
export async function sendToModerationProvider(
	slot: ModerationEndpoint,
	request: ModerationRequest,
	remainingMs: number,
	onClientDisconnect: (listener: () => void) => void,
): Promise<ModerationResponse | ModerationProblem> {
	const { settings, protocol, upstream } = slot;
	const { origin, host, pathname } = new URL(settings.baseUrl);
	const target = pathname.replace(/\/+$/, '') + request.target;
	try {
		const response = await upstream({
			origin,
			method: 'POST',
			target,
			headers: headersFor(slot, host, target, request.body),
			body: Buffer.from(request.body),
			timeouts: timeoutsWithin(remainingMs),
			canReachPrivateNetwork: settings.canReachPrivateNetwork,
			proxy: settings.proxy,
			onClientDisconnect,
		});
		if (response.status !== 200) {
			discardStream(response.body);
			return { failure: 'status', status: response.status };
		}
		return protocol.read(await readJson(response, onClientDisconnect)) ?? { failure: 'malformed', status: 200 };
	} catch (cause) {
		return { failure: failureOf(cause) };
	}
}

function headersFor({ settings, protocol, clock }: ModerationEndpoint, host: string, target: string, body: string): Record<string, string> {
	const headers = { 'content-type': 'application/json', 'accept-encoding': 'identity', 'user-agent': 'tollgate', ...protocol.headers };
	const { awsCredentials } = settings;
	if (awsCredentials === null) return headers;
	const signed = { 'content-type': headers['content-type'] };
	return {
		...headers,
		...signAwsRequest({ method: 'POST', host, target, headers: signed, body }, 'bedrock', awsCredentials, clock.nowMs()),
	};
}

async function readJson({ body }: UpstreamResponse, onClientDisconnect: (listener: () => void) => void): Promise<unknown> {
	const endable: ByteStream = {
		start(sink) {
			const flow = body.start(sink);
			onClientDisconnect(() => {
				flow.cancel();
				sink.fail(new Rejection('client_closed'));
			});
			return flow;
		},
	};
	return JSON.parse((await readAll(endable, maxResponseBytes)).toString('utf8'));
}

/** @throws causes other than upstream failures and malformed bodies. */
function failureOf(cause: unknown): ModerationFailure {
	if (cause instanceof UpstreamError) return cause.code.endsWith('_timeout') ? 'timeout' : 'unreachable';
	if (cause instanceof Rejection) return cause.code === 'client_closed' ? 'abandoned' : 'malformed';
	if (cause instanceof SyntaxError) return 'malformed';
	throw cause;
}
