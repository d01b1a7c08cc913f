/** Value types of the admin API. Amounts of money are decimal texts. */
import { z } from 'zod';
import { formatUsd, formatUsdPerMillionTokens, parseUsd, parseUsdPerMillionTokens } from '../../../core/money.ts';
import { maxTeamIdLength, teamIdPattern, teamIdRule } from '../../../core/team.ts';

/** Schemas with a name in the OpenAPI document. */
export const schemaNames = z.registry<{ id: string }>();

export function named<Schema extends z.ZodType>(id: string, schema: Schema): Schema {
	schemaNames.add(schema, { id });
	return schema;
}

const usdPattern = /^\d{1,9}(\.\d{1,9})?$/;
const notUsd = 'must be US dollars such as "100.00": at most nine digits before and nine after the point, not negative';

/** The largest amount in nano-dollars fits into 63 bits. */
export const usd = z.string().regex(usdPattern, notUsd).describe('US dollars, as a decimal string.');

/** Accepts a number as its decimal text, like the configuration. */
export const givenUsd = z
	.union([z.string().regex(usdPattern, notUsd), z.number().min(0).max(999_999_999)], { error: notUsd })
	.transform(String)
	.refine((text) => usdPattern.test(text), notUsd)
	.describe('US dollars, as a decimal string or a number.');

export const rate = z
	.string()
	.regex(/^\d{1,9}(\.\d{1,6})?$/, 'must be US dollars such as "2.50": at most nine digits before and six after the point, not negative')
	.describe('US dollars per million tokens, as a decimal string.');

/** Sums can exceed the maximum of a single budget. */
export const usdSum = z
	.string()
	.regex(/^-?\d+\.\d{2,9}$/)
	.describe('US dollars, as a decimal string.');

export const slug = z.string().max(maxTeamIdLength).regex(teamIdPattern, teamIdRule);

/** Client ids that access tokens can contain. */
export const clientOfToken = z.string().regex(/^[\x20-\x7e]{1,256}$/, 'must be 1 to 256 printable ASCII characters');

export const text = (max: number) =>
	z
		.string()
		.max(max)
		.regex(/\S/, 'must not be blank')
		.regex(/^[^\p{Cs}]*$/u, 'must not contain a lone surrogate');

export const modelName = text(256);

export const time = z.iso.datetime().describe('UTC, RFC 3339.');

export const timeOrNull = time.nullable().describe('UTC, RFC 3339; null for records with `origin: config`.');

/** Origin of a record. Those of the configuration can only be changed there. */
export const origin = z
	.enum(['config', 'api'])
	.describe('`config`: defined in the configuration file and read-only here. `api`: created through the admin API or CLI.');

/** Accepts a date as the beginning of its UTC day. */
export const moment = z.union([z.iso.datetime({ offset: true }), z.iso.date()]);

export function msOf(given: string | undefined): number | undefined {
	return given === undefined ? undefined : Date.parse(given);
}

export const day = z.iso.date('must be a day such as 2026-11-01');

/** Accepts and ignores a field, so that a record can be sent back as it was read. */
export const readOnly = z.unknown().optional().meta({ readOnly: true, description: 'Read-only; ignored in requests.' });

export function timeOf(ms: number): string {
	return new Date(ms).toISOString();
}

export function timeOrNullOf(ms: number | undefined): string | null {
	return ms === undefined ? null : timeOf(ms);
}

/** @param amount a valid `usd`. */
export function nanoUsdOf(amount: string): bigint {
	return legal(parseUsd(amount), amount);
}

/** @param amount a valid `rate`. */
export function picoUsdOf(amount: string): bigint {
	return legal(parseUsdPerMillionTokens(amount), amount);
}

function legal(parsed: bigint | undefined, amount: string): bigint {
	if (parsed === undefined) throw new Error(`the schema let through \`${amount}\``);
	return parsed;
}

export const usdText = formatUsd;
export const rateText = formatUsdPerMillionTokens;
