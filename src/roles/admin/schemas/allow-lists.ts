import { z } from 'zod';
import type { AllowLists } from '../../../core/allow-lists.ts';
import { type PolicyMode, policyModes } from '../../../core/policy-mode.ts';
import { text } from './values.ts';

const mode = z.enum(policyModes).describe('`monitor`: decisions are recorded and counted, and not enforced. Default: `enforce`.');
const pattern = z.string().regex(/^\S{1,200}$/, 'must be 1 to 200 characters without blanks');
const patterns = z.array(pattern).max(500);
const providerNames = z.array(text(64)).min(1, 'must have at least one provider').max(500);
const fact = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be 1 to 64 characters: letters, digits, `.`, `_`, `-`');

const described = {
	models:
		'Patterns of models, in which `*` stands for any text. The name in the request and the target must be allowed; `deny` takes precedence. Null: the tier’s.',
	providers: 'Names of providers: a list, or an object with `allow` and `mode`. Null: the tier’s.',
	require: 'Facts that a provider must have. Null: the tier’s.',
};

/** Members of a team's body. */
export const allowLists = {
	models: z.strictObject({ allow: z.array(z.string()).nullable(), deny: z.array(z.string()).nullable(), mode }).nullable(),
	providers: z.union([z.array(z.string()), z.strictObject({ allow: z.array(z.string()), mode })]).nullable(),
	require: z.strictObject({ region: z.string().nullable(), retention: z.string().nullable(), mode }).nullable(),
};

/** Members of a body that creates or changes a team. */
export const allowListsInput = {
	models: z
		.strictObject({
			allow: patterns.min(1, 'must have at least one pattern').nullable().optional().describe('Null: the tier’s.'),
			deny: patterns.nullable().optional().describe('Null: the tier’s.'),
			mode: mode.optional(),
		})
		.nullable()
		.optional()
		.describe(described.models),
	providers: z
		.union([providerNames, z.strictObject({ allow: providerNames, mode: mode.optional() })], {
			error: 'must be a list of at least one provider, or an object with `allow` and `mode`',
		})
		.nullable()
		.optional()
		.describe(described.providers),
	require: z
		.strictObject({
			region: fact.nullable().optional().describe('Value of `providers.NAME.region`; null: the tier’s.'),
			retention: fact.nullable().optional().describe('Value of `providers.NAME.retention`; null: the tier’s.'),
			mode: mode.optional(),
		})
		.nullable()
		.optional()
		.describe(described.require),
};

const input = z.strictObject(allowListsInput);
const body = z.strictObject(allowLists);

const usualMode: PolicyMode = 'enforce';

export function allowListsBody({ models, providers, require }: AllowLists = {}): z.output<typeof body> {
	const withMode = <Value extends object>(value: Value, given: PolicyMode = usualMode): Value & { mode: PolicyMode } => ({
		...value,
		mode: given,
	});
	return {
		models:
			models === undefined
				? null
				: withMode(
						{ allow: models.allow === undefined ? null : [...models.allow], deny: models.deny === undefined ? null : [...models.deny] },
						models.mode,
					),
		providers: providers === undefined ? null : providerBody([...providers.allow], providers.mode),
		require:
			require === undefined ? null : withMode({ region: require.region ?? null, retention: require.retention ?? null }, require.mode),
	};
}

function providerBody(allow: string[], given: PolicyMode = usualMode): z.output<typeof body>['providers'] {
	return given === usualMode ? allow : { allow, mode: given };
}

/**
 * Applies the members of a body; omitted ones stay unchanged. Null becomes absent in the record, which means the tier's list.
 * @param nameProvider returns the provider for a vendor's name.
 * @returns undefined if the team has no lists.
 */
export function allowListsOf(
	{ models, providers, require }: z.output<typeof input>,
	before: AllowLists = {},
	nameProvider: (name: string) => string,
): AllowLists | undefined {
	const lists: AllowLists = {
		models:
			models === undefined
				? before.models
				: unlessEmpty({ allow: models?.allow ?? undefined, deny: models?.deny ?? undefined }, models?.mode),
		providers: providers === undefined ? before.providers : providersOf(providers, nameProvider),
		require:
			require === undefined
				? before.require
				: unlessEmpty({ region: require?.region ?? undefined, retention: require?.retention ?? undefined }, require?.mode),
	};
	return Object.values(lists).some((list) => list !== undefined) ? lists : undefined;
}

function unlessEmpty<Lists extends object>(
	lists: Lists,
	given: PolicyMode | undefined,
): (Lists & { mode?: PolicyMode | undefined }) | undefined {
	return Object.values(lists).some((value) => value !== undefined) ? { ...lists, mode: given } : undefined;
}

function providersOf(given: z.output<typeof input>['providers'], nameProvider: (name: string) => string): AllowLists['providers'] {
	if (given === null || given === undefined) return undefined;
	const { allow, mode: givenMode } = Array.isArray(given) ? { allow: given, mode: undefined } : given;
	return { allow: allow.map(nameProvider), mode: givenMode };
}
