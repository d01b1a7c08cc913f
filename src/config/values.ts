/** Types of setting values. Every number has an upper bound, so that no timer or buffer overflows. */
import { z } from 'zod';
import { maxScopeLength, scopeNameRule, scopePattern } from '../core/scope-names.ts';
import { maxTeamIdLength, teamIdPattern, teamIdRule } from '../core/team.ts';
import { parseIpRange } from '../policy/firewall/ip-address.ts';
import { parseListen } from './listen.ts';

/** Annotates a setting; the annotation is `x-restart` or `x-secret` in the JSON Schema. */
export function restart(description: string): { description: string; 'x-restart': true } {
	return { description, 'x-restart': true };
}

export function secret(description: string): { description: string; 'x-secret': true } {
	return { description, 'x-secret': true };
}

const maxTimerMs = 2_147_483_647;
const tenYearsSeconds = 315_360_000;

export function integer(minimum: number, maximum: number) {
	return z.int().min(minimum).max(maximum);
}

export const milliseconds = integer(1, maxTimerMs);
export const seconds = integer(1, tenYearsSeconds);
export const count = integer(1, 1_000_000_000);

export const nonEmpty = z.string().min(1);

/** Printable characters that HTTP allows in a header field, for a secret or a header value. */
export const secretText = z.string().regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/, 'must be printable ASCII without blanks around it');

export const listen = z
	.string()
	.regex(/^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):\d{1,5}$/, 'must be HOST:PORT, such as 127.0.0.1:8787 or [::1]:8787')
	.refine((text) => parseListen(text) !== undefined, 'must name an IP address or host name and a port from 0 to 65535');

export const teamId = z.string().max(maxTeamIdLength).regex(teamIdPattern, teamIdRule);

/** Scope without the scope base. */
export const scopeName = z.string().max(maxScopeLength).regex(scopePattern, scopeNameRule);

export const clientId = z.string().regex(/^[A-Za-z0-9._~-]{1,128}$/, 'must be 1 to 128 characters of A-Z a-z 0-9 . _ ~ -');

/** Name that the operator gives to a provider or a tier. */
export const entryName = z
	.string()
	.regex(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/, 'must be 1 to 64 characters: letters, digits, `_`, `-`, `.`');

const notUsd = 'must be US dollars such as "100.00", not negative';

/** Decimal US dollars with at most nine fraction digits (one nano-dollar); a number is read as its decimal text. */
export const usd = z
	.union([z.string().regex(/^\d{1,12}(\.\d{1,9})?$/, notUsd), z.number().min(0).max(999_999_999_999)], {
		error: notUsd,
	})
	.transform(String)
	.refine((text) => /^\d{1,12}(\.\d{1,9})?$/.test(text), 'must be US dollars such as "100.00", with at most nine decimals');

const notRate = 'must be US dollars per million tokens such as "2.50", not negative';

export const rate = z
	.union([z.string().regex(/^\d{1,9}(\.\d{1,6})?$/, notRate), z.number().min(0).max(999_999_999)], {
		error: notRate,
	})
	.transform(String)
	.refine((text) => /^\d{1,9}(\.\d{1,6})?$/.test(text), 'must be US dollars per million tokens such as "2.50", with at most six decimals');

export const ipRange = nonEmpty.refine((text) => parseIpRange(text) !== undefined, 'must be an IP address or a range such as 10.0.0.0/8');

/** An http or https address without user-info, query and fragment. */
export const webAddress = nonEmpty.refine(isWebAddress, 'must be an http or https URL without user-info, query and fragment');

export function isWebAddress(text: string): boolean {
	return /^https?:\/\/[^\s@\\?#/][^\s@\\?#]*$/i.test(text) && URL.canParse(text);
}

/** Scheme, host and port only; a trailing slash is accepted and removed. */
export const webOrigin = webAddress
	.refine((text) => !URL.canParse(text) || new URL(text).pathname === '/', 'must be an origin such as http://10.0.0.7:8787, without a path')
	.overwrite((text) => (URL.canParse(text) ? new URL(text).origin : text));
