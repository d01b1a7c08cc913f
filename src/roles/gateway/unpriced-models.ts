import type { Log } from '../../core/log.ts';
import type { Target } from '../../policy/routing/target.ts';

/** Limit, because clients choose model names. */
const maxCached = 1000;

/** Models that were requested without a price. Each is logged once. */
export class UnpricedModels {
	readonly #observed = new Map<string, { readonly provider: string; readonly model: string }>();

	list(): readonly { readonly provider: string; readonly model: string }[] {
		return [...this.#observed.values()];
	}

	note({ provider, model }: Target, unknownPrice: string, log: Log): void {
		const key = `${provider}/${model}`;
		if (this.#observed.has(key) || this.#observed.size >= maxCached) return;
		this.#observed.set(key, { provider, model });
		log.warn('model without a price: set one with `tollgate price set`; until then budgets.unknown_price applies', {
			provider,
			model,
			unknownPrice,
		});
	}
}
