import type { Log } from '../../core/log.ts';
import type { Target } from '../../policy/routing/target.ts';

/** Limit, because clients choose model names. */
const maxCached = 1000;

/** Models that were requested without a price. Each is logged once. */
export class UnpricedModels {
	readonly #seen = new Map<string, { readonly provider: string; readonly model: string }>();

	list(): readonly { readonly provider: string; readonly model: string }[] {
		return [...this.#seen.values()];
	}

	note({ provider, model }: Target, unknownPrice: string, log: Log): void {
		const key = `${provider}/${model}`;
		if (this.#seen.has(key) || this.#seen.size >= maxCached) return;
		this.#seen.set(key, { provider, model });
		log.warn('model without a price: set one with `tollgate price set`; until then budgets.unknown_price applies', {
			provider,
			model,
			unknownPrice,
		});
	}
}
