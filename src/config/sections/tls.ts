import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { z } from 'zod';
import { isRecord } from '../raw.ts';
import { nonEmpty, secret } from '../values.ts';

const pem = nonEmpty.max(65_536).nullable().default(null);

const fields = z.strictObject({
	certificate: pem.meta(secret('Certificate in PEM with its chain; null: plain HTTP.')),
	certificate_file: nonEmpty.optional().describe('File with the certificate; hot-reloaded.'),
	private_key: pem.meta(secret('Private key of the certificate, in PEM.')),
	private_key_file: nonEmpty.optional().describe('File with the private key.'),
});

/** TLS is on when there is a certificate. */
export const tls = fields.superRefine(checkPair, { when: ({ value }) => isRecord(value) });

function checkPair(value: Partial<z.output<typeof fields>>, context: z.RefinementCtx): void {
	const problem = (field: keyof typeof value, message: string): void => context.addIssue({ code: 'custom', path: [field], message });
	const { certificate = null, private_key: privateKey = null } = value;
	if (certificate === null && privateKey === null) return;
	if (certificate === null) problem('certificate', 'is required with the private key');
	if (privateKey === null) problem('private_key', 'is required with the certificate');
	const leaf = certificate === null ? undefined : attempt(() => new X509Certificate(certificate));
	const key = privateKey === null ? undefined : attempt(() => createPrivateKey(privateKey));
	if (certificate !== null && leaf === undefined) problem('certificate', 'is not a certificate in PEM');
	if (privateKey !== null && key === undefined) problem('private_key', 'is not a private key in PEM without a passphrase');
	if (leaf === undefined || key === undefined || certificate === null || privateKey === null) return;
	if (leaf.checkPrivateKey(key)) checkServing(certificate, privateKey, (message) => problem('certificate', message));
	else problem('private_key', 'does not belong to the certificate');
}

/** Finds problems that appear only when both are used together: a chain cut off after the first certificate, a key that is too short. */
function checkServing(certificate: string, privateKey: string, complain: (message: string) => void): void {
	try {
		createSecureContext({ cert: certificate, key: privateKey });
	} catch (cause) {
		const reason = cause instanceof Error && 'reason' in cause ? String(cause.reason) : 'unknown cause';
		complain(`is not usable with its chain and private key: ${reason}`);
	}
}

function attempt<Result>(work: () => Result): Result | undefined {
	try {
		return work();
	} catch {
		return undefined;
	}
}
