import type { GatewayError } from '../../gateway-error.ts';

/** Codes of OpenAI by the gateway's own. Clients decide by them whether to retry: after `insufficient_quota` they stop. */
const vendorCodes: Readonly<Record<string, string>> = {
	daily_token_limit_exceeded: 'insufficient_quota',
	budget_exceeded: 'insufficient_quota',
	model_budget_exceeded: 'insufficient_quota',
	background_limit_exceeded: 'rate_limit_exceeded',
	budget_reserved: 'rate_limit_exceeded',
	rpm_limit_exceeded: 'rate_limit_exceeded',
	tpm_limit_exceeded: 'rate_limit_exceeded',
	concurrency_limit_exceeded: 'rate_limit_exceeded',
};

/** Some clients sleep for the whole interval, however long it is. */
export const maxRetryAfterSeconds = 60;

/** Returns an error with OpenAI's code; the gateway's own is in `gateway_code`. */
export function withVendorCode(error: GatewayError): GatewayError {
	const code = Object.hasOwn(vendorCodes, error.code) ? vendorCodes[error.code] : undefined;
	return code === undefined ? error : { ...error, code, gatewayCode: error.code };
}
