import { z } from 'zod';
import { noticeEvents } from '../../core/notice.ts';
import { privateNetworkProblem } from '../base-url.ts';
import { proxySettings } from '../proxy.ts';
import { isRecord } from '../raw.ts';
import { entryName, integer, nonEmpty, secret, secretText, usd, webAddress } from '../values.ts';

const maxWebhooks = 50;
const minSecretLength = 16;

const fields = z.strictObject({
	name: entryName.nullable().default(null).describe('Name in the delivery log and in commands; null: the host of the URL.'),
	url: webAddress.max(2000).describe('URL that receives events by POST. It is shown to administrators.'),
	secret: secretText.min(minSecretLength).max(512).meta(secret('Key of the signature in `x-tollgate-signature`, at least 16 characters.')),
	secret_file: nonEmpty.optional().describe('File with the secret.'),
	events: z
		.array(z.enum(noticeEvents))
		.min(1)
		.default([...noticeEvents])
		.describe('Events that the receiver gets; all by default.'),
	allow_private_network: z.boolean().default(false).describe('Allows plain http and private or loopback addresses.'),
	...proxySettings('receiver'),
	credential_expiry_days: integer(1, 365)
		.default(14)
		.describe('Days before the expiry of a credential at which `credential.expiring` is sent.'),
	spend_anomaly_min_usd: usd.default('1').describe('Minimum cost of an hour, in US dollars, for `spend.anomaly`.'),
});

const webhook = fields.superRefine(checkWebhook, { when: ({ value }) => isRecord(value) });

export const webhooks = z.array(webhook).max(maxWebhooks).default([]);

export function webhookName({ name, url }: { readonly name: string | null; readonly url: string }): string {
	return name ?? new URL(url).hostname;
}

/** Runs even when a field is invalid, so that one run reports all problems. No field can be assumed to be valid. */
function checkWebhook(value: Partial<z.output<typeof fields>>, context: z.RefinementCtx): void {
	if (typeof value.url !== 'string' || value.allow_private_network === true) return;
	const forbidden = privateNetworkProblem(value.url);
	if (forbidden !== undefined) context.addIssue({ code: 'custom', path: ['url'], message: forbidden });
}
