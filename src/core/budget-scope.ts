/** Names of budget counters. A name says which requests count, so that a counter can be restored without its budget. */

import type { Attributes } from './attributes.ts';
import type { BudgetScope } from './budget.ts';
import { foldedModel } from './by-model.ts';
import { isInModels, type NamedModel } from './model-scope.ts';

/** Counter of all requests of a team, with or without a budget. */
export const allModels = 'all';

const parts = ['client', 'model', 'provider', 'attribute'] as const;
const everything: BudgetScope = { client: null, model: null, provider: null, attribute: null };

/** Returns the name of the counter of a scope. */
export function counterName(scope: Partial<BudgetScope>): string {
	const { model = null, client = null, provider = null, attribute = null } = scope;
	if (client === null && provider === null && attribute === null) return model === null ? allModels : `model:${model}`;
	const named = Object.entries({ client, model, provider, attribute }).flatMap(([part, value]) =>
		value === null ? [] : [`${part}=${encodeURIComponent(value)}`],
	);
	return `scope:${named.join('&')}`;
}

/** Returns the scope of a counter; undefined for any other name. */
export function scopeOfCounter(name: string): BudgetScope | undefined {
	if (name === allModels) return everything;
	if (name.startsWith('model:')) return { ...everything, model: name.slice('model:'.length) };
	if (!name.startsWith('scope:')) return undefined;
	const scope: { -readonly [Part in keyof BudgetScope]: BudgetScope[Part] } = { ...everything };
	for (const text of name.slice('scope:'.length).split('&')) {
		const [part, value = ''] = text.split('=');
		const known = parts.find((one) => one === part);
		if (known === undefined) return undefined;
		scope[known] = decodeURIComponent(value);
	}
	return scope;
}

/** A request as budgets see it. */
export interface BudgetedRequest extends NamedModel {
	readonly clientId: string;
	readonly attributes?: Attributes | undefined;
}

/**
 * Returns true if a request counts toward a scope.
 * @param isOwnName true if another budget of the team has the model's exact name. A budget of its name in the price list does not count it then.
 */
export function isInScope({ model, client, provider, attribute }: BudgetScope, request: BudgetedRequest, isOwnName: boolean): boolean {
	if (attribute !== null) {
		const { name, value } = attributeOf(attribute);
		if (request.attributes?.[name] !== value) return false;
	}
	if (client !== null && client !== request.clientId) return false;
	if (provider !== null && provider !== request.provider) return false;
	if (model === null) return true;
	if (isOwnName && !model.includes('*')) return isInModels(model, { provider: request.provider, model: request.model });
	return isInModels(model, request);
}

/** Splits `name=value`. A value may contain further equals signs. */
export function attributeOf(text: string): { readonly name: string; readonly value: string } {
	const at = text.indexOf('=');
	return at === -1 ? { name: text, value: '' } : { name: text.slice(0, at), value: text.slice(at + 1) };
}

/** Describes a scope in the reason of a rejection; empty for all requests. */
export function describeScope({ model, client, provider, attribute }: BudgetScope): string {
	const named = [
		...(model === null ? [] : [`the model ${model}`]),
		...(client === null ? [] : [`the client ${client}`]),
		...(provider === null ? [] : [`the provider ${provider}`]),
		...(attribute === null ? [] : [`the attribute ${attribute}`]),
	];
	return named.length === 0 ? '' : ` of ${named.join(' and ')}`;
}

/** Returns true if the team has a budget of exactly this model. */
export function hasOwnName(budgets: readonly BudgetScope[], model: string): boolean {
	const name = foldedModel(model);
	return budgets.some((one) => one.model !== null && foldedModel(one.model) === name);
}
