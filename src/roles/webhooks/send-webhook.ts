/** Sends one signed event to a receiver. */
import { readAll } from '../../core/byte-stream.ts';
import { UpstreamError } from '../../core/upstream-error.ts';
import { signWebhook } from './sign-webhook.ts';
import type { WebhookPorts, WebhookSettings } from './webhook-settings.ts';

/** `redirect`: the receiver responded with 3xx, which is not followed. `status`: with another status that is not 2xx. */
export type SendError = 'timeout' | 'unreachable' | 'address_not_allowed' | 'redirect' | 'status';

export interface SendResult {
	/** Null without a response. */
	readonly status: number | null;
	readonly error: SendError | null;
}

export const maxSendMs = 10_000;

/** Responses are read so far, so that their connection can serve the next event. */
const maxResponseBytes = 4096;

/** @param onAbort registers the function that ends the attempt. Never rejects. */
export async function sendWebhook(
	{ url, secret, canReachPrivateNetwork, proxy }: WebhookSettings,
	body: string,
	{ upstream, clock }: Pick<WebhookPorts, 'upstream' | 'clock'>,
	onAbort: (abort: () => void) => void = () => undefined,
): Promise<SendResult> {
	const { origin, pathname, search } = new URL(url);
	try {
		const response = await upstream({
			origin,
			method: 'POST',
			target: pathname + search,
			headers: {
				'content-type': 'application/json',
				'user-agent': 'tollgate-webhooks',
				'x-tollgate-signature': signWebhook(body, secret, clock.nowMs()),
				'accept-encoding': 'identity',
			},
			body: Buffer.from(body),
			timeouts: { connectMs: maxSendMs, firstByteMs: maxSendMs, idleMs: maxSendMs, totalMs: maxSendMs },
			canReachPrivateNetwork,
			proxy,
			isExpectedToFail: true,
			onClientDisconnect: onAbort,
		});
		await readAll(response.body, maxResponseBytes).catch(() => undefined);
		const { status } = response;
		return { status, error: status >= 200 && status < 300 ? null : status >= 300 && status < 400 ? 'redirect' : 'status' };
	} catch (cause) {
		return { status: null, error: errorOf(cause) };
	}
}

function errorOf(cause: unknown): SendError {
	if (cause instanceof UpstreamError && cause.code.endsWith('_timeout')) return 'timeout';
	return isAddressRejected(cause) ? 'address_not_allowed' : 'unreachable';
}

function isAddressRejected(cause: unknown): boolean {
	if (!(cause instanceof Error)) return false;
	return ('code' in cause && cause.code === 'ADDRESS_REFUSED') || isAddressRejected(cause.cause);
}
