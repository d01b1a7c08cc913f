import { z } from 'zod';
import type { AllowLists } from '../../core/allow-lists.ts';
import { policyModes } from '../../core/policy-mode.ts';
import { entryName, nonEmpty } from '../values.ts';

const mode = z.enum(policyModes).default('enforce').describe('`monitor` records and counts decisions without acting on them.');
const patterns = z.array(nonEmpty.max(200)).max(500);

/** Value of a fact, such as `eu` or `none`. */
export const fact = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be 1 to 64 characters: letters, digits, `.`, `_`, `-`');

const providerNames = z.array(entryName).min(1).max(500);

/** Fields of tiers and of registered teams. */
export const allowLists = {
	models: z
		.strictObject({
			allow: patterns.min(1).optional().describe('Patterns of allowed models; absent: all.'),
			deny: patterns.optional().describe('Patterns of denied models, which take precedence.'),
			mode,
		})
		.optional()
		.describe('Models that may be used. `*` stands for any text; both the name in the request and the target must be allowed.'),
	providers: z
		.union([providerNames, z.strictObject({ allow: providerNames.describe('Names of providers.'), mode })], {
			error: 'must be a list of at least one provider, or a mapping of `allow` and `mode`',
		})
		.optional()
		.describe('Providers that may be used: a list, or a mapping of `allow` and `mode`. Absent: all.'),
	require: z
		.strictObject({
			region: fact.optional().describe('Value that `providers.NAME.region` must have.'),
			retention: fact.optional().describe('Value that `providers.NAME.retention` must have.'),
			mode,
		})
		.optional()
		.describe('Facts that a provider must have.'),
};

export interface AllowListSection extends Pick<AllowLists, 'models' | 'require'> {
	readonly providers?: readonly string[] | AllowLists['providers'];
}

/** @returns undefined if the section has no lists. */
export function readAllowLists({ models, providers, require }: AllowListSection): AllowLists | undefined {
	if (models === undefined && providers === undefined && require === undefined) return undefined;
	return { models, providers: providers === undefined || 'allow' in providers ? providers : { allow: providers }, require };
}
