import { createHmac } from 'node:crypto';

/** Returns the value of `x-tollgate-signature`: the time in unix seconds, and the HMAC-SHA256 of time, a dot and the body in hexadecimal. */
export function signWebhook(body: string, secret: string, nowMs: number): string {
	const seconds = Math.floor(nowMs / 1000);
	return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
}
